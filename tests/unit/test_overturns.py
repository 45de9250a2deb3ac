"""Overturning all that a rule or a category did: what is found, each once, named failures, stopped, taken up again."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.actions import acknowledgements, actions
from app.core.errors import Forbidden, Invalid, NotFound
from app.core.history.reason import Reason
from app.core.models import Account, Action, Community, Event, HistoryEntry, Overturn, OverturnItem
from app.core.review import overturn_search, overturns
from app.core.review.overturn_search import Criteria
from app.core.vocabulary import ActionState, EventName, OverturnItemState, OverturnState
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.factories import actor_of

pytestmark = pytest.mark.both_databases

LONG_AGO = timedelta(days=30)


def applied(wiring: Wiring, cast: Cast, number: int) -> uuid.UUID:
    action_id = factories.scored_action(wiring, cast, factories.SPAM, f"post-{number}")
    with wiring.database.writing() as session:
        acknowledgements.acknowledge(session, factories.integration(cast), session.get_one(Action, action_id))
    return action_id


def overturned(wiring: Wiring) -> tuple[int, int]:
    """How many overturnings history and events tell of."""
    with wiring.database.reading() as session:
        told = sa.select(sa.func.count()).select_from(HistoryEntry)
        sent = sa.select(sa.func.count()).select_from(Event)
        return (
            session.scalar(told.where(HistoryEntry.what == "action.overturned")) or 0,
            session.scalar(sent.where(Event.name == EventName.ACTION_OVERTURNED)) or 0,
        )


def test_what_a_rule_did_is_found_by_its_id_and_overturned_each_once_however_often_a_job_runs(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overturns, "BATCH", 2)
    done = [applied(wiring, cast, number) for number in range(5)]
    proposed = factories.scored_action(wiring, cast, factories.SPAM, "post-9")
    operator = actor_of(wiring, cast.operator)
    with wiring.database.reading() as session:
        evidence = session.get_one(Action, done[0]).evidence or {}
        rule = evidence["details"]["matches"][0]["rule"]
    since = clock.now() - LONG_AGO
    named, other = Criteria(since, rule=rule), Criteria(since, rule=f"{rule}%")
    with wiring.database.reading() as session:
        found = overturn_search.preview(session, operator, cast.community_id, named)
        assert found.affected == {ActionState.PROPOSED: 1, ActionState.APPLIED: 5}
        assert len(found.samples) == 6
        assert overturn_search.preview(session, operator, cast.community_id, other).total == 0
        later = Criteria(clock.now(), category="spam")
        assert overturn_search.preview(session, operator, cast.community_id, later).total == 0
        with pytest.raises(Forbidden):
            overturn_search.preview(session, actor_of(wiring, cast.moderator), cast.community_id, named)
        with pytest.raises(NotFound):
            overturn_search.preview(session, actor_of(wiring, cast.outsider), cast.community_id, named)
        with pytest.raises(Invalid, match="not both"):
            overturn_search.preview(session, operator, cast.community_id, Criteria(since))
    own_id = uuid.uuid4()
    for _ in range(2):
        with wiring.database.writing() as session:
            begun = overturns.begin(
                session, operator, cast.community_id, named, "Wrong rule", overturn_id=own_id
            )
    # One is decided by somebody else meanwhile, and cannot be overturned any more.
    with wiring.database.writing() as session:
        action = session.get_one(Action, done[3])
        moderator = actor_of(wiring, cast.moderator)
        actions.open_second_look(session, moderator, action, reason=Reason("Let me see"))
        actions.confirm(session, moderator, action, reason=Reason("It is spam"))
    for settled in (0, 0, 2, 0):  # a batch whose job is told twice
        with wiring.database.writing() as session:
            overturns.carry_on(session, begun.id, settled)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        ended = session.get_one(Overturn, begun.id)
        assert (ended.state, ended.total, ended.done, ended.failed) == (OverturnState.FINISHED, 6, 5, 1)
        assert [one for one, _ in overturns.failures(session, ended)] == [done[3]]
        assert session.get_one(Action, proposed).action_state is ActionState.DISMISSED
        told = session.scalars(
            sa.select(HistoryEntry.what)
            .where(HistoryEntry.object_type == "overturn")
            .order_by(HistoryEntry.number)
        ).all()
        assert told == ["overturn.begun", "overturn.finished"]
    assert overturned(wiring) == (4, 4)


def test_one_that_is_stopped_goes_no_further_and_one_that_stalled_is_taken_up_again(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overturns, "BATCH", 1)
    for number in range(3):
        applied(wiring, cast, number)
    operator = actor_of(wiring, cast.operator)
    criteria = Criteria(clock.now() - LONG_AGO, category="spam")
    with wiring.database.writing() as session:
        begun = overturns.begin(session, operator, cast.community_id, criteria, "All wrong")
        overturns.carry_on(session, begun.id, 0)
        begun.moved_at = clock.now() - overturns.STALLED * 2
    with wiring.database.writing() as session:
        # The job of the next batch is lost: the sweep notes another.
        session.execute(sa.text("UPDATE inline_jobs SET done = :yes"), {"yes": True})
        overturns.enqueue_stalled(session)
    (job,) = (one for one in wiring.jobs.jobs() if one.name == overturns.OVERTURN_JOB)  # type: ignore[union-attr]
    assert job.args["settled"] == 1
    with wiring.database.writing() as session:
        overturns.stop(session, operator, begun.id)
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        ended = session.get_one(Overturn, begun.id)
        assert (ended.state, ended.done) == (OverturnState.STOPPED, 1)
        waiting = sa.select(sa.func.count()).select_from(OverturnItem)
        assert session.scalar(waiting.where(OverturnItem.state == OverturnItemState.WAITING)) == 2
    assert overturned(wiring) == (1, 1)
    with wiring.database.writing() as session:
        begun = overturns.begin(session, operator, cast.community_id, criteria, "All wrong")
        session.get_one(Community, cast.community_id).archived_at = clock.now()
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        assert session.get_one(Overturn, begun.id).state is OverturnState.STOPPED, "nothing in it changes"
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).archived_at = None
        begun = overturns.begin(session, operator, cast.community_id, criteria, "All wrong")
        session.get_one(Account, cast.operator.account_id).disabled_at = clock.now()
    wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double
    with wiring.database.reading() as session:
        assert session.get_one(Overturn, begun.id).state is OverturnState.STOPPED, "nobody is there to do it"
    assert overturned(wiring) == (1, 1)
