"""The item page offers other actions, escalation and the note about the author, to moderators alone."""

import re

import pytest
import sqlalchemy as sa

from app.core.models import Action, AuthorNote, Hold, Request
from app.core.vocabulary import ActionState, ActionType, ActionVerb, ReviewGroup
from app.wiring import Wiring
from tests.cast import Cast
from tests.web.conftest import HTMX, Stage, Visit, Visitor
from tests.web.test_second_looks import applied


def test_a_moderator_warns_instead_of_hiding_and_the_page_says_what_will_happen(
    moderator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    page = moderator.get(f"/review/{action_id}").text
    names = re.findall(r'aria-label="((?:Warn|Silence|Delete|Hide) [^"]+)"', page)
    assert names == [
        "Warn author: post stays",
        "Silence author: post stays, author cannot write",
        "Delete post: cannot be brought back",
    ]
    unexplained = moderator.post(
        f"/review/{action_id}/decide", HTMX, verb="force_publish.warn", author_text="Be kind", version="1"
    )
    assert unexplained.status_code == 422
    assert "Enter: <strong>Warn author</strong>" in unexplained.text
    assert "Be kind" in unexplained.text
    answer = moderator.post(
        f"/review/{action_id}/decide",
        HTMX,
        verb="force_publish.warn",
        author_text="Be kind",
        reason="A first slip",
        version="1",
    )
    assert "This post will get a warning." in answer.text
    with wiring.database.reading() as session:
        held = session.scalars(sa.select(Hold)).one()
    assert (held.verb, held.act_as, held.author_text) == (
        ActionVerb.FORCE_PUBLISH,
        ActionType.WARN,
        "Be kind",
    )


TEXT, WHY = "Please stay kind.", "Over the line"


def held(wiring: Wiring) -> list[tuple[ActionVerb, ActionType | None, str | None]]:
    with wiring.database.reading() as session:
        return [(one.verb, one.act_as, one.author_text) for one in session.scalars(sa.select(Hold))]


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
@pytest.mark.parametrize(
    ("verb", "name", "decided"),
    [
        ("dismiss", "Dismiss", (ActionVerb.DISMISS, None, None)),
        ("force_publish", "Hide post", (ActionVerb.FORCE_PUBLISH, None, None)),
        ("force_publish.delete", "Delete post", (ActionVerb.FORCE_PUBLISH, ActionType.DELETE, None)),
    ],
)
def test_a_decision_that_carries_no_text_asks_before_it_goes_without_the_one_that_was_typed(
    moderator: Visitor,
    wiring: Wiring,
    stage: Stage,
    headers: dict[str, str],
    verb: str,
    name: str,
    decided: tuple[ActionVerb, ActionType | None, str | None],
) -> None:
    path = f"/review/{stage.post()}/decide"
    typed = {"reason": WHY, "author_text": TEXT, "version": "1"}
    asked = moderator.post(path, headers, verb=verb, **typed)
    assert asked.status_code == 422
    assert "Only a warning or a silence carries your text." in asked.text
    assert f"{name} without the text" in asked.text
    back = moderator.post(path, headers, back="1", **typed)
    assert back.status_code == 200
    assert "Only a warning or a silence carries your text." not in back.text
    for page in (asked.text, back.text):
        assert f"{TEXT}</textarea>" in page
        assert f"{WHY}</textarea>" in page
    assert held(wiring) == []
    (sent_to,) = set(re.findall(r'formaction="([^"]*without_text=1)"', asked.text))
    moderator.post(sent_to.replace("&amp;", "&"), headers, verb=verb, **typed)
    assert held(wiring) == [decided]


@pytest.mark.parametrize("verb", ["force_publish.warn", "force_publish.silence"])
def test_a_warning_and_a_silence_carry_the_text_and_are_not_asked_about(
    moderator: Visitor, wiring: Wiring, stage: Stage, verb: str
) -> None:
    typed = {"reason": WHY, "author_text": TEXT, "version": "1"}
    moderator.post(f"/review/{stage.post()}/decide", verb=verb, **typed)
    ((_, act_as, text),) = held(wiring)
    assert (f"force_publish.{act_as}", text) == (verb, TEXT)


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
def test_escalating_asks_about_the_text_to_the_author_too(
    moderator: Visitor, wiring: Wiring, stage: Stage, headers: dict[str, str]
) -> None:
    action_id = stage.post()
    typed = {"reason": WHY, "author_text": TEXT, "version": "1"}
    asked = moderator.post(f"/review/{action_id}/escalate", headers, **typed)
    assert asked.status_code == 422
    assert "Escalate without the text" in asked.text
    assert f"{TEXT}</textarea>" in asked.text
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).review_group is not ReviewGroup.STAFF
    moderator.post(f"/review/{action_id}/escalate?without_text=1", headers, **typed)
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).review_group is ReviewGroup.STAFF


def test_asking_for_a_second_look_asks_about_the_text_to_the_author_too(
    moderator: Visitor, cast: Cast, wiring: Wiring
) -> None:
    action_id = applied(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        action.action_state = ActionState.APPLIED
        action.retro_review_at = None
    typed = {"reason": WHY, "author_text": TEXT}
    asked = moderator.post(f"/review/{action_id}/second-look", **typed)
    assert asked.status_code == 422
    assert "Ask for a second look without the text" in asked.text


@pytest.mark.parametrize("headers", [{}, HTMX], ids=["page", "part"])
def test_a_text_to_the_author_stays_when_the_item_is_claimed_and_is_shown_when_a_colleague_was_first(
    visit: Visit, cast: Cast, stage: Stage, headers: dict[str, str]
) -> None:
    action_id = stage.post()
    moderator = visit(cast.moderator)
    claimed = moderator.post(f"/review/{action_id}/claim", headers, author_text=TEXT, version="1")
    assert f"{TEXT}</textarea>" in claimed.text
    visit(cast.moderator).post(f"/review/{action_id}/decide", verb="dismiss", reason="First", version="1")
    typed = {"verb": "force_publish.warn", "reason": WHY, "author_text": TEXT, "version": "1"}
    late = moderator.post(f"/review/{action_id}/decide", headers, **typed)
    assert late.status_code == 409
    assert "Your text was not used." in late.text
    assert TEXT in late.text


def test_an_escalated_item_leaves_the_members_and_offers_it_no_more(
    moderator: Visitor, operator: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    assert moderator.post(f"/review/{action_id}/escalate", HTMX, reason="").status_code == 422
    answer = moderator.post(f"/review/{action_id}/escalate", HTMX, reason="Is this legal here?")
    assert "Sent to staff. Operators have been notified." in answer.text
    assert "/escalate" not in answer.text
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).review_group is ReviewGroup.STAFF
    notices = operator.get("/notices").text
    assert "<bdi>Moderator</bdi> sent" in notices
    assert "Is this legal here?" in notices


def test_the_note_about_an_author_is_for_moderators(
    moderator: Visitor, rater: Visitor, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        action.platform_author_id = "mallory"
        session.get_one(Request, action.request_id).platform_author_id = "mallory"
    path = f"/review/{action_id}/author-note"
    answer = moderator.post(path, HTMX, about_author="Quotes abuse to report it")
    assert "The note about the author is saved." in answer.text
    assert "Quotes abuse to report it" in moderator.get(f"/review/{action_id}").text
    assert "Quotes abuse" not in rater.get(f"/review/{action_id}").text
    assert rater.post(path, about_author="Hello").status_code == 403
    too_long = moderator.post(path, about_author="x" * 5_000)
    assert too_long.status_code == 422
    assert "Note about the author must be at most" in too_long.text
    assert moderator.post(path, about_author="").status_code == 303
    assert "Moderators&#39; note" not in moderator.get(f"/review/{action_id}").text
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count()).select_from(AuthorNote)) == 2
