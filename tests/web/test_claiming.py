"""A claim holds others off: refused with the claimant's name, nothing typed is lost, and taking over is told."""

import html
import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.actions import acknowledgements
from app.core.models import Action, Hold
from app.core.review import claims
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visitor, only_hold, the_hold

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Its SQL is tested in ``tests/unit/test_claims.py``, on both databases."""

TYPED = {"verb": "dismiss", "reason": "Three careful sentences", "comment": "For the others", "version": "1"}


def claimant(wiring: Wiring, action_id: uuid.UUID) -> uuid.UUID | None:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id).claimed_by_id


@pytest.mark.parametrize("headers", [HTMX, {}], ids=["with script", "without"])
def test_a_decision_on_a_claimed_item_is_refused_and_taking_over_keeps_what_was_typed(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, headers: dict[str, str]
) -> None:
    action_id = stage.post()
    operator.post(f"/review/{action_id}/claim")
    refused = moderator.post(f"/review/{action_id}/decide", headers, **TYPED)
    assert refused.status_code == 409
    assert "Claimed by Operator, for 10 min at most. Your text is kept below." in refused.text
    assert only_hold(wiring) is None
    taken = moderator.post(f"/review/{action_id}/take-over", headers, **TYPED)
    assert taken.status_code == 200
    assert claimant(wiring, action_id) == cast.moderator.account_id
    for page in (refused.text, taken.text):
        assert "Three careful sentences" in page
        assert "For the others" in page
    assert "Take over" in refused.text
    assert "Taken over. Operator is notified." in taken.text
    assert "Yours for 10 minutes" in taken.text
    assert moderator.post(f"/review/{action_id}/decide", headers, **TYPED).status_code in {200, 303}
    assert only_hold(wiring) is not None


def test_whoever_lost_it_is_told_on_the_page_and_by_a_notice(
    moderator: Visitor, operator: Visitor, admin: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post("A long read")
    operator.post(f"/review/{action_id}/claim")
    poll = poll_of(operator.get(f"/review/{action_id}").text)
    assert operator.get(poll, **HTMX).status_code == 204, "while it is theirs there is nothing to say"
    moderator.post(f"/review/{action_id}/take-over")
    told = operator.get(poll, **HTMX)
    assert told.status_code == 200
    assert "Moderator took this over from you. What you typed is still here." in told.text
    assert "Take over" in told.text
    assert "took this over from you" in operator.get(f"/review/{action_id}").text
    assert "took this over from you" not in admin.get(f"/review/{action_id}").text
    assert 'aria-label="Notices, 1 unread"' in operator.get("/review").text
    notices = operator.get("/notices").text
    assert "took over your claim of" in notices
    assert "“A long read”" in notices
    assert operator.post(f"/review/{action_id}/decide", HTMX, **TYPED).status_code == 409
    assert "Taken over from a colleague" in moderator.get(f"/review/{action_id}").text


def poll_of(page: str) -> str:
    """What the open page of an item asks for what changed."""
    found = re.search(r'hx-get="([^"]*/claim\?[^"]*)"', page)
    assert found is not None
    return html.unescape(found[1])


def test_an_open_item_hears_of_a_colleagues_claim_and_decision_and_asks_cheaply(
    moderator: Visitor, operator: Visitor, wiring: Wiring, stage: Stage, statements: Callable[[], Any]
) -> None:
    action_id = stage.post("A long read")
    poll = poll_of(moderator.get(f"/review/{action_id}").text)
    moderator.get(poll, **HTMX)
    with statements() as sent:
        assert moderator.get(poll, **HTMX).status_code == 204
    assert len(sent) == 7, "who asks, in four, the item with its attachments, and who looks at it"
    operator.post(f"/review/{action_id}/claim")
    claimed = moderator.get(poll, **HTMX)
    assert "Claimed by <bdi>Operator</bdi>" in claimed.text
    assert "HX-Retarget" not in claimed.headers
    poll = poll_of(claimed.text)
    assert moderator.get(poll, **HTMX).status_code == 204
    operator.post(f"/review/{action_id}/decide", verb="dismiss", reason="Banter", version="1")
    decided = moderator.get(poll, **HTMX)
    assert decided.headers["HX-Retarget"] == "#moderator-panel"
    assert "Operator is deciding this right now." in decided.text
    writing = moderator.get(f"{poll}&typed=1", **HTMX)
    assert "HX-Retarget" not in writing.headers
    assert "What you typed stays here" in writing.text
    assert moderator.get(poll_of(writing.text), **HTMX).status_code == 204


def test_of_several_those_that_a_colleague_claimed_are_named(
    moderator: Visitor, operator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    free, taken = stage.post("A free one"), stage.post("A claimed one")
    operator.post(f"/review/{taken}/claim")
    chosen = [f"{free}.1", f"{taken}.1"]
    answer = moderator.post("/review/dismiss", item=chosen, reason="Old quarrels")
    assert answer.status_code == 409
    assert "“A claimed one” was not decided: Claimed by Operator" in answer.text
    assert "Old quarrels" in answer.text
    held = the_hold(wiring)
    assert held.action_id == free


def test_a_second_look_that_a_colleague_claimed_is_refused_in_its_list_too(
    moderator: Visitor, operator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = factories.scored_action(wiring, cast, factories.SPAM)
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    factories.rate(wiring, cast, action_id, "N")
    operator.post(f"/review/{action_id}/claim")
    answer = moderator.post("/second-look/decide", item=f"{action_id}.3", verb="confirm", reason="Seen it")
    assert answer.status_code == 409
    assert "Claimed by Operator" in answer.text
    assert "Seen it" in answer.text
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Hold)).all() == []


def test_a_claim_that_runs_out_is_nobodys(
    moderator: Visitor, operator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    operator.post(f"/review/{action_id}/claim")
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        assert action.claimed_until is not None
        action.claimed_until -= claims.LEASE
    assert "Take over" not in moderator.get(f"/review/{action_id}").text
    assert moderator.post(f"/review/{action_id}/decide", HTMX, **TYPED).status_code == 200
