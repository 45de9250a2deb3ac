"""PostgreSQL's tables in parts: made before their time, and dropped with all that is older than it is kept."""

import secrets
import uuid
from datetime import timedelta
from functools import partial

import pytest
import sqlalchemy as sa

from app.commands.doctor import database as doctor
from app.core import clock, ids
from app.core.history import chain
from app.core.history.marks import Broken
from app.core.models import (
    Action,
    Attempt,
    Delivery,
    Event,
    HistoryEntry,
    Notice,
    PostScores,
    RetentionMark,
    Score,
    Webhook,
)
from app.core.review import verbs
from app.core.upkeep import months
from app.core.upkeep.months import PARTED
from app.core.vocabulary import ActionState, DeliveryState, EventName
from app.jobs.upkeep import prune
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import at

pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.parametrize("database_url", ["postgresql"], indirect=True),
]


@pytest.fixture(autouse=True)
def ids_of_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids are of the service's clock, which tests move; in life both are the machine's."""

    def made() -> uuid.UUID:
        bits = int(clock.now().timestamp() * 1000) << 80 | 7 << 76 | secrets.randbits(76)
        return uuid.UUID(int=bits & ~(3 << 62) | 2 << 62)

    monkeypatch.setattr(ids, "uuid7", made)


def names(wiring: Wiring, table: str) -> list[str]:
    with wiring.database.reading() as session:
        return [part.name for part in months.parts(session.connection(), table)]


def count(wiring: Wiring, table: str) -> int:
    with wiring.database.reading() as session:
        return session.scalar(sa.text(f"SELECT count(*) FROM {table}")) or 0  # noqa: S608


def let_months_pass(wiring: Wiring, number: int) -> None:
    """The daily upkeep runs on the first day of each of the next months."""
    for _ in range(number):
        at(months.period(clock.now(), 1, 1))
        prune(wiring)


def faults(wiring: Wiring) -> list[str]:
    with wiring.database.reading() as session:
        return list(months.faults(session.connection()))


def test_the_upkeep_makes_the_next_parts_once(wiring: Wiring) -> None:
    before = {table: names(wiring, table) for table in PARTED}
    assert faults(wiring) == []
    prune(wiring)
    assert {table: names(wiring, table) for table in PARTED} == before, "two periods ahead are there already"
    at(months.period(clock.now(), 1, 4))
    assert f"events has no part for {months.period(clock.now(), 1, 1):%Y-%m}" in faults(wiring)
    prune(wiring)
    assert faults(wiring) == []
    begin = clock.now()
    ahead = [f"events_{months.period(begin, 1, later):%Y_%m}" for later in range(months.AHEAD + 1)]
    assert names(wiring, "events")[-3:] == ahead
    with wiring.database.reading() as session:
        newest = months.parts(session.connection(), "history")[-1]
        assert ids.made_at(newest.upper) == months.period(begin, 3, months.AHEAD + 1)


def test_a_row_of_a_month_without_a_part_is_kept_and_moved_when_there_is_one(
    wiring: Wiring, cast: Cast
) -> None:
    at(months.period(clock.now(), 1, 30))
    with wiring.database.writing() as session:
        event = Event(community_id=cast.community_id, name=EventName.DECISION, payload={})
        session.add(event)
    assert count(wiring, "events_default") == 1
    assert "rows of events are in its default part" in faults(wiring)
    said = [result.detail for result in doctor.reachable(wiring)]
    assert any("rows of events are in its default part" in text for text in said)
    prune(wiring)
    assert (count(wiring, "events_default"), count(wiring, f"events_{clock.now():%Y_%m}")) == (0, 1)
    assert faults(wiring) == []


def test_past_months_of_events_deliveries_and_attempts_are_dropped(wiring: Wiring, cast: Cast) -> None:
    let_months_pass(wiring, 3)
    with wiring.database.writing() as session:
        hook = Webhook(community_id=cast.community_id, url="https://forum.example.org/", secret=b"sealed")
        session.add(hook)
        session.flush()
        hook_id = hook.id

    def send(state: DeliveryState) -> uuid.UUID:
        with wiring.database.writing() as session:
            event = Event(community_id=cast.community_id, name=EventName.DECISION, payload={})
            session.add(event)
            session.flush()
            delivery = Delivery(
                event_id=event.id,
                webhook_id=hook_id,
                community_id=cast.community_id,
                state=state,
                due_at=None,
            )
            session.add(delivery)
            session.flush()
            session.add(Attempt(delivery_id=delivery.id, at=clock.now(), status=500, milliseconds=3))
            return delivery.id

    send(DeliveryState.DEAD)
    ended = f"{clock.now():%Y_%m}"
    let_months_pass(wiring, 1)
    send(DeliveryState.DELIVERED)
    parked, with_parked = send(DeliveryState.PARKED), f"{clock.now():%Y_%m}"
    wiring.settings.keep_deliveries_days = 70
    let_months_pass(wiring, 2)
    assert f"deliveries_{ended}" in names(wiring, "deliveries"), "its last day is not 70 days ago"
    assert f"delivery_attempts_{ended}" not in names(wiring, "delivery_attempts")
    let_months_pass(wiring, 2)
    assert f"deliveries_{ended}" not in names(wiring, "deliveries")
    assert f"events_{ended}" not in names(wiring, "events")
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Delivery.id)).all() == [parked]
        assert session.scalars(sa.select(Event.id)).all() == [session.get_one(Delivery, parked).event_id]
    assert f"deliveries_{with_parked}" in names(wiring, "deliveries"), "what is parked keeps its month"
    with wiring.database.writing() as session:
        session.get_one(Delivery, parked).state = DeliveryState.CANCELLED
    prune(wiring)
    assert f"deliveries_{with_parked}" not in names(wiring, "deliveries")
    assert f"events_{with_parked}" not in names(wiring, "events")


def test_past_months_of_scores_are_dropped_when_no_review_needs_them(wiring: Wiring, cast: Cast) -> None:
    wiring.settings.review_days = 3650
    let_months_pass(wiring, 3)
    decided = factories.scored_action(wiring, cast, request_id="decided")
    early = f"{clock.now():%Y_%m}"
    let_months_pass(wiring, 1)
    waiting = factories.scored_action(wiring, cast, request_id="waits")
    late = f"{clock.now():%Y_%m}"
    settle = partial(_dismiss, wiring, cast)
    settle(decided)
    wiring.settings.keep_scores_days = 100
    let_months_pass(wiring, 5)
    assert f"scores_{early}" not in names(wiring, "scores")
    assert f"post_scores_{early}" not in names(wiring, "post_scores")
    with wiring.database.reading() as session:
        request_id = session.get_one(Action, waiting).request_id
        assert set(session.scalars(sa.select(Score.request_id))) == {request_id}
        assert session.scalars(sa.select(PostScores.request_id)).all() == [request_id]
    settle(waiting)
    prune(wiring)
    assert f"scores_{late}" not in names(wiring, "scores")
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Score.id)).all() == []
        until = session.get_one(RetentionMark, cast.community_id).scores_until
        assert until == months.period(clock.now() - timedelta(days=100), 1)


def _dismiss(wiring: Wiring, cast: Cast, action_id: uuid.UUID) -> None:
    with wiring.database.writing() as session:
        action = session.get_one(Action, action_id)
        verbs.change_action(session, factories.integration(cast), action, ActionState.DISMISSED)


def _verified(wiring: Wiring, cast: Cast) -> Broken | None:
    with wiring.database.reading() as session:
        found = {chain.verify(session, cast.community_id, only_new=only_new)[1] for only_new in (False, True)}
    assert len(found) == 1
    return found.pop()


def test_a_past_part_of_the_history_is_dropped_and_what_stays_verifies(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a community that has been quiet since, whose newest entry may not go, and with notices of what goes."""
    monkeypatch.setattr(chain, "STRETCH", 2)
    let_months_pass(wiring, 7)
    factories.rate(wiring, cast, factories.scored_action(wiring, cast, request_id="old"), "HHHHH")
    with wiring.database.writing() as session:
        last = chain.last(session, cast.community_id)
        assert last is not None
        entry = session.scalars(
            sa.select(HistoryEntry).where(
                HistoryEntry.community_id == cast.community_id, HistoryEntry.number == last.number
            )
        ).one()
        session.add(
            Notice(community_id=cast.community_id, account_id=cast.moderator.account_id, entry_id=entry.id)
        )
        old = f"history_{months.period(clock.now(), 3):%Y_%m}"
    wiring.settings.keep_history_days = 100
    let_months_pass(wiring, 4)
    factories.scored_action(wiring, cast, request_id="new")
    let_months_pass(wiring, 4)
    assert old not in names(wiring, "history")
    assert old.replace("history", "history_texts") not in names(wiring, "history_texts")
    assert count(wiring, "notices") == 0
    assert _verified(wiring, cast) is None
    with wiring.database.reading() as session:
        mark = session.get_one(RetentionMark, cast.community_id)
        assert (mark.history_number, mark.history_hash) == (last.number, last.hash)
        first = session.scalars(
            sa.select(sa.func.min(HistoryEntry.number)).group_by(HistoryEntry.community_id)
        )
        assert last.number + 1 in first.all()
    assert count(wiring, "history") == count(wiring, "history_texts")
    let_months_pass(wiring, 6)
    with wiring.database.reading() as session:
        whats = session.scalars(
            sa.select(HistoryEntry.what).where(HistoryEntry.community_id == cast.community_id)
        )
        assert set(whats) == {"history.removed"}, "a quiet history goes on with the removal of all before it"
    factories.scored_action(wiring, cast, request_id="newest")
    assert _verified(wiring, cast) is None


def test_a_part_of_the_history_with_an_altered_entry_stays(wiring: Wiring, cast: Cast) -> None:
    let_months_pass(wiring, 7)
    factories.scored_action(wiring, cast, request_id="old")
    old = f"history_{months.period(clock.now(), 3):%Y_%m}"
    with wiring.database.writing() as session:
        last = chain.last(session, cast.community_id)
        assert last is not None
        altered = sa.and_(
            HistoryEntry.community_id == cast.community_id, HistoryEntry.number == last.number - 1
        )
        session.execute(sa.update(HistoryEntry).where(altered).values(what="nothing.at_all"))
    wiring.settings.keep_history_days = 100
    let_months_pass(wiring, 8)
    assert old in names(wiring, "history")
    broken = _verified(wiring, cast)
    assert broken is not None
    assert broken.number == last.number - 1


def test_entries_that_two_clocks_put_into_the_wrong_part_go_along(wiring: Wiring, cast: Cast) -> None:
    let_months_pass(wiring, 7)
    end = months.period(clock.now(), 3, 1)
    at(end)
    factories.scored_action(wiring, cast, request_id="by the clock that is fast")
    at(end - timedelta(milliseconds=1))
    factories.scored_action(wiring, cast, request_id="by the one that is slow")
    at(end)
    wiring.settings.keep_history_days = 100
    let_months_pass(wiring, 5)
    factories.scored_action(wiring, cast, request_id="new")
    prune(wiring)
    assert _verified(wiring, cast) is None
    assert f"history_{months.period(end - timedelta(days=1), 3):%Y_%m}" not in names(wiring, "history")
    assert count(wiring, "history") == count(wiring, "history_texts")


def test_a_part_that_is_read_for_long_is_dropped_another_day(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(months, "LOCK_TIMEOUT", "SET LOCAL lock_timeout = '50ms'")
    let_months_pass(wiring, 3)
    with wiring.database.writing() as session:
        session.add(Event(community_id=cast.community_id, name=EventName.DECISION, payload={}))
    month = f"events_{clock.now():%Y_%m}"
    let_months_pass(wiring, 1)
    wiring.settings.keep_deliveries_days = 30
    at(months.period(clock.now(), 1, 2))
    with wiring.database.reading() as session:
        session.execute(sa.select(Event.id)).all()
        prune(wiring)
        assert session.scalars(sa.select(sa.func.count()).select_from(Event)).one() == 1
    assert month in names(wiring, "events")
    prune(wiring)
    assert month not in names(wiring, "events")
