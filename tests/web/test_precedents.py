"""Posts like an item's that were decided earlier, with outcome and reason: moderators see them, raters never do."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from app.core.models import Action
from app.core.vocabulary import ActionState
from app.wiring import Wiring
from tests.inline_engine import InlineEngine
from tests.web.conftest import Stage, Visitor
from tests.web.test_moderation_context import carry_out

TEXT = "Cheap watches for everybody, send me a message and tell your friends, {} left today"
SHORT = "You fool"


def _decided(moderator: Visitor, jobs: InlineEngine, action_id: uuid.UUID, verb: str, reason: str) -> None:
    moderator.post(f"/review/{action_id}/decide", verb=verb, reason=reason, version="1")
    carry_out(jobs)


@pytest.mark.both_databases
@pytest.mark.parametrize("text", [TEXT, SHORT], ids=["long", "short"])
def test_near_equal_posts_show_how_they_were_decided_and_why(
    moderator: Visitor, rater: Visitor, stage: Stage, jobs: InlineEngine, text: str
) -> None:
    hidden, kept = stage.post(text.format("two")), stage.post(text.format("few"))
    foreign, other = stage.post(text.format("one"), away=True), stage.post("Something else entirely")
    _decided(moderator, jobs, hidden, "force_publish", "Plain advertising")
    _decided(moderator, jobs, kept, "dismiss", "A parody")
    _decided(moderator, jobs, other, "dismiss", "Not about this")
    here = stage.post(text.format("none"))

    page = moderator.get(f"/review/{here}").text
    assert "2 alike, 1 hidden, 1 kept" in page
    assert "“Plain advertising”" in page
    assert "“A parody”" in page
    assert "Not about this" not in page
    for url in (f"/review/{hidden}", f"/review/{kept}"):
        assert f'href="{url}"' in page
    assert f'href="/review/{foreign}"' not in page
    assert "Like this before" not in moderator.get(f"/review/{other}").text
    assert "alike" not in rater.get(f"/review/{here}").text

    # Without script the link brings the page with the reason in its field.
    chosen = moderator.get(f"/review/{here}?reason_of={kept}").text
    assert "A parody</textarea>" in chosen
    assert "A parody</textarea>" not in moderator.get(f"/review/{here}?reason_of={other}").text


def test_what_a_score_did_alone_is_no_precedent(
    moderator: Visitor, wiring: Wiring, stage: Stage, jobs: InlineEngine
) -> None:
    done, here = stage.post(TEXT.format("two")), stage.post(TEXT.format("few"))
    with wiring.database.writing() as session:
        action = session.get_one(Action, done)
        action.action_tier = action.action_tier.IMMEDIATE if action.action_tier else None
        action.action_state = ActionState.APPLIED
    assert "Like this before" not in moderator.get(f"/review/{here}").text


def test_the_page_takes_as_many_statements_for_many_as_for_one(
    moderator: Visitor, stage: Stage, jobs: InlineEngine, statements: Callable[[], Any]
) -> None:
    ids = [stage.post(TEXT.format(number)) for number in ("two", "few", "six", "ten", "no", "all")]
    _decided(moderator, jobs, ids[0], "dismiss", "Reason 0")
    with statements() as few:
        moderator.get(f"/review/{ids[-1]}")
    for number, action_id in enumerate(ids[1:-1]):
        _decided(moderator, jobs, action_id, "dismiss", f"Reason {number}")
    with statements() as many:
        assert "alike, 5 kept" in moderator.get(f"/review/{ids[-1]}").text
    assert len(many) <= len(few)
