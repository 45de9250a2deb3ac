"""Reopen, from the page of a dismissed item and from the action history."""

import uuid
from collections.abc import Callable
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.models import Account, Action
from app.core.people import accounts
from app.core.review import reopening, verbs
from app.core.vocabulary import ActionState, EventName, HelpfulnessLevel, ReopenTo
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.web.conftest import HTMX, Stage, Visit, Visitor, events_of, only_hold

pytestmark = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
"""Its SQL is tested in ``tests/unit/test_reopening.py``, on both databases."""


def dismissed(wiring: Wiring, cast: Cast, stage: Stage, text: str = "What somebody wrote") -> uuid.UUID:
    action_id = stage.post(text)
    with wiring.database.writing() as session:
        who = accounts.actor_for(accounts.get(session, cast.operator.account_id), cast.operator.profile_id)
        action = session.get_one(Action, action_id)
        verbs.change_action(
            session, who, action, ActionState.DISMISSED, reason=Reason("Banter between friends")
        )
    return action_id


def reopen(wiring: Wiring, cast: Cast, action_id: uuid.UUID, to: ReopenTo) -> uuid.UUID:
    with wiring.database.writing() as session:
        who = accounts.actor_for(accounts.get(session, cast.moderator.account_id), cast.moderator.profile_id)
        return reopening.reopen(
            session, who, session.get_one(Action, action_id), to, reason=Reason("A threat")
        ).id


def pages(visitor: Visitor, action_id: uuid.UUID) -> list[str]:
    return [visitor.get(path).text for path in (f"/review/{action_id}", "/history")]


@pytest.mark.parametrize("headers", [HTMX, {}], ids=["with script", "without"])
def test_acting_at_once_is_held_then_sent_as_a_new_action(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage, jobs: InlineEngine, headers: dict[str, str]
) -> None:
    action_id = dismissed(wiring, cast, stage)
    before = len(events_of(wiring))
    assert "Act at once: the post will be hidden" in moderator.get(f"/review/{action_id}").text
    answer = moderator.post(
        f"/review/{action_id}/reopen", headers, to="act", reason="It was a threat", version="2"
    )
    assert answer.status_code == (200 if headers else 303)
    page = moderator.get(f"/review/{action_id}").text
    assert page.count("This post will be hidden.") == 1, "the undo bar says it, and nothing else"
    assert "It was a threat" in page
    assert len(events_of(wiring)) == before
    advance(11)
    jobs.run_all()
    jobs.run_all(delayed=True)
    assert sorted(events_of(wiring)[before:]) == [EventName.ACTION_CREATED, EventName.NOTE_STATUS]
    with wiring.database.reading() as session:
        made = session.scalars(sa.select(Action).where(Action.reopens_id == action_id)).one()
    first, second = (moderator.get(f"/review/{one}").text for one in (action_id, made.id))
    assert "Open what came of it" in first
    assert f"/review/{made.id}" in first
    assert "Act at once" not in first
    assert "Reopened, and sent to the platform to act" in second
    assert "Banter between friends" in second
    assert "It was a threat" in second


def test_what_is_missing_is_asked_for_and_nothing_typed_is_lost(
    moderator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = dismissed(wiring, cast, stage)
    answer = moderator.post(f"/review/{action_id}/reopen", HTMX, reason="It was a threat", version="2")
    assert answer.status_code == 422
    assert "Choose where it goes." in answer.text
    assert "It was a threat" in answer.text
    answer = moderator.post(f"/review/{action_id}/reopen", HTMX, to="staff", version="2")
    assert answer.status_code == 422
    assert "Enter a reason." in answer.text
    assert only_hold(wiring) is None


def test_a_page_that_a_colleague_overtook_is_refused_with_the_text_kept(
    admin: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = dismissed(wiring, cast, stage)
    reopen(wiring, cast, action_id, ReopenTo.STAFF)
    answer = admin.post(
        f"/review/{action_id}/reopen", HTMX, to="act", reason="Three careful sentences", version="2"
    )
    assert answer.status_code == 409
    assert "This was reopened already. Your text is kept below." in answer.text
    assert "Three careful sentences" in answer.text


def test_it_is_offered_in_the_history_too_for_as_long_as_it_can_be_done(
    visit: Visit, cast: Cast, wiring: Wiring, stage: Stage, pass_time: Callable[[timedelta], None]
) -> None:
    action_id = dismissed(wiring, cast, stage)
    moderator = visit(cast.moderator)
    item, history = pages(moderator, action_id)
    assert "Members review it again" in item
    assert "Reopen: What somebody wrote" in history
    pass_time(timedelta(days=31))
    item, history = pages(visit(cast.moderator), action_id)
    assert "Members review it again" not in item
    assert "Reopen: What somebody wrote" not in history


def test_members_who_are_asked_again_do_not_see_how_the_first_review_came_out(
    rater: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = stage.post()
    stage.rate(action_id, *[HelpfulnessLevel.NOT_HELPFUL] * 5)
    assert "5 said No" in rater.get(f"/review/{action_id}").text
    second = reopen(wiring, cast, action_id, ReopenTo.COMMUNITY)
    answer = rater.get(f"/review/{action_id}")
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/review/{second}")
    page = rater.get(f"/review/{second}").text
    assert 'name="answer" value="yes"' in page
    assert "said No" not in page
    stage.rate(second, *[HelpfulnessLevel.HELPFUL] * 5)
    assert "5 said Yes" in rater.get(f"/review/{second}").text
    assert "5 said No" in rater.get(f"/review/{action_id}").text


def test_whoever_dismissed_it_reads_that_it_was_reopened(
    operator: Visitor, cast: Cast, wiring: Wiring, stage: Stage
) -> None:
    action_id = dismissed(wiring, cast, stage)
    with wiring.database.reading() as session:
        name = session.get_one(Account, cast.moderator.account_id).display_name
    reopen(wiring, cast, action_id, ReopenTo.STAFF)
    page = operator.get("/notices").text
    assert "was reopened by" in page
    assert name in page
    assert "A threat" in page
