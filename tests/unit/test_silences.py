"""Silences end once, at their time, or earlier when staff lift them; an overturned one never does."""

import uuid
from datetime import datetime, timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements, actions, silences
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.history.reason import Reason
from app.core.models import Action, Event, HistoryEntry, Webhook
from app.core.vocabulary import ActionState, ActionType, ActionVerb, EventName
from app.jobs import upkeep
from app.wiring import Wiring
from tests import clocks, factories
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.unit.test_other_verbs import decide

pytestmark = pytest.mark.both_databases
WEEK = timedelta(days=7)


@pytest.fixture(autouse=True)
def webhook(wiring: Wiring, cast: Cast) -> None:
    """A webhook that names the event: without one it is not written."""
    names = [EventName.ACTION_ENDED.value, EventName.ACTION_CREATED.value]
    with wiring.database.writing() as session:
        hook = {"url": "https://forum.example.org/", "secret": b"sealed", "events": names}
        session.add(Webhook(community_id=cast.community_id, **hook))


def silence(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, until: datetime | None, request_id: str = "post-1"
) -> uuid.UUID:
    """Let a moderator silence the author of a post, and the platform carry it out."""
    action_id = factories.scored_action(wiring, cast, request_id=request_id)
    end = {"until": until} if until is not None else {"without_end": True}
    decide(
        wiring,
        cast,
        jobs,
        action_id,
        ActionVerb.FORCE_PUBLISH,
        act_as=ActionType.SILENCE,
        author_text="Calm",
        **end,
    )
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    return action_id


def ended(wiring: Wiring) -> list[dict[str, str]]:
    """What webhooks are told of silences that ended."""
    with wiring.database.reading() as session:
        found = session.scalars(
            sa.select(Event).where(Event.name == EventName.ACTION_ENDED).order_by(Event.id)
        )
        return [event.payload["data"] for event in found]


def entries(wiring: Wiring, what: str) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).where(HistoryEntry.what == what)) or 0


def read(wiring: Wiring, action_id: uuid.UUID) -> Action:
    with wiring.database.reading() as session:
        return session.get_one(Action, action_id)


def test_a_silence_ends_once_at_its_time_and_its_state_stays(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    until = clock.now() + WEEK
    action_id = silence(wiring, cast, jobs, until)
    with wiring.database.reading() as session:
        created = session.scalars(sa.select(Event).where(Event.name == EventName.ACTION_CREATED)).one()
    assert created.payload["data"]["until"] == clock.iso(until)
    assert created.payload["data"]["author_text"] == "Calm"
    upkeep.sweep(wiring)
    assert ended(wiring) == []
    clocks.at(until + timedelta(seconds=1))
    for _again in range(3):
        upkeep.sweep(wiring)
    (told,) = ended(wiring)
    assert (told["id"], told["action_state"], told["until"]) == (str(action_id), "applied", clock.iso(until))
    assert told["ended_at"] == clock.iso(clock.now())
    assert read(wiring, action_id).action_state is ActionState.APPLIED
    assert entries(wiring, silences.ENDED) == 1


def test_a_clock_that_was_set_back_ends_nothing_twice(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> None:
    until = clock.now() + WEEK
    silence(wiring, cast, jobs, until)
    clocks.at(until)
    upkeep.sweep(wiring)
    clocks.advance(days=-3)
    upkeep.sweep(wiring)
    clocks.advance(days=6)
    upkeep.sweep(wiring)
    assert len(ended(wiring)) == 1


def test_one_that_is_overturned_meanwhile_does_not_end(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    action_id = silence(wiring, cast, jobs, clock.now() + WEEK)
    clocks.advance(days=8)
    with wiring.database.reading() as session:
        assert silences.due(session) == [action_id]
    with wiring.database.writing() as session:
        moderator = factories.moderator(cast)
        actions.overturn(session, moderator, session.get_one(Action, action_id), reason=Reason("A quotation"))
    with wiring.database.writing() as session:
        silences.end(session, action_id)
    upkeep.sweep(wiring)
    assert ended(wiring) == []
    assert read(wiring, action_id).ended_at is None


def test_one_that_the_platform_carries_out_after_its_end_is_ended_then(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    action_id = factories.scored_action(wiring, cast)
    until = clock.now() + WEEK
    decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, act_as=ActionType.SILENCE, until=until)
    clocks.advance(days=8)
    upkeep.sweep(wiring)
    assert ended(wiring) == []
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    upkeep.sweep(wiring)
    assert len(ended(wiring)) == 1


def test_staff_lift_it_with_a_reason_and_it_ends_at_once(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    action_id, moderator = silence(wiring, cast, jobs, None), factories.moderator(cast)
    with pytest.raises(Invalid), wiring.database.writing() as session:
        silences.lift(session, moderator, session.get_one(Action, action_id), reason=Reason(""))
    integration = factories.integration(cast, staff=False)
    with pytest.raises(Forbidden), wiring.database.writing() as session:
        silences.lift(session, integration, session.get_one(Action, action_id), reason=Reason("They asked"))
    with wiring.database.writing() as session:
        silences.lift(session, moderator, session.get_one(Action, action_id), reason=Reason("They asked"))
    assert len(ended(wiring)) == 1
    with pytest.raises(Conflict, match="has ended"), wiring.database.writing() as session:
        silences.lift(session, moderator, session.get_one(Action, action_id), reason=Reason("Again"))
    clocks.advance(days=8)
    upkeep.sweep(wiring)
    assert len(ended(wiring)) == 1


def test_another_end_is_set_and_the_old_one_no_longer_counts(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    begin = clock.now()
    action_id, moderator = silence(wiring, cast, jobs, begin + WEEK), factories.moderator(cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        silences.set_until(session, moderator, action, begin + 2 * WEEK, reason=Reason("It went on"))
    clocks.at(begin + WEEK)
    upkeep.sweep(wiring)
    assert ended(wiring) == []
    clocks.at(begin + 2 * WEEK)
    upkeep.sweep(wiring)
    assert len(ended(wiring)) == 1
    assert entries(wiring, silences.UNTIL_CHANGED) == 1


@pytest.mark.parametrize("act_as", [ActionType.WARN, ActionType.DELETE, None])
def test_nothing_but_a_silence_has_an_end(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, act_as: ActionType | None
) -> None:
    action_id = factories.scored_action(wiring, cast)
    end = clock.now() + WEEK
    with pytest.raises(Invalid, match="silence only"):
        decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, act_as=act_as, until=end)
    with pytest.raises(Invalid, match="silence only"):
        decide(wiring, cast, jobs, action_id, ActionVerb.DISMISS, until=end)


def test_a_silence_cannot_end_in_the_past(wiring: Wiring, cast: Cast, jobs: InlineEngine) -> None:
    action_id = factories.scored_action(wiring, cast)
    past = clock.now() - timedelta(minutes=1)
    with pytest.raises(Invalid, match="past"):
        decide(wiring, cast, jobs, action_id, ActionVerb.FORCE_PUBLISH, act_as=ActionType.SILENCE, until=past)
