"""Operators are told once when a backlog, a failing webhook or a paused switch wants somebody."""

import threading
import uuid
from collections.abc import Sequence
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Action, Attention, Community, Event, HistoryEntry, Notice, Webhook
from app.core.permissions import SYSTEM
from app.core.upkeep import attention, community_revisions
from app.core.vocabulary import ActionState, AttentionReason, EventName
from app.core.webhooks import registrations as webhooks
from app.jobs.communities import find_attention as sweep
from app.wiring import Wiring
from tests.cast import Cast
from tests.inline_engine import InlineEngine
from tests.web.conftest import Stage

pytestmark = pytest.mark.both_databases
BACKLOG, OVERDUE = AttentionReason.BACKLOG, AttentionReason.OVERDUE
FAILING, PAUSED = AttentionReason.WEBHOOK_FAILING, AttentionReason.PAUSED


@pytest.fixture
def stage(wiring: Wiring, jobs: InlineEngine, cast: Cast) -> Stage:
    return Stage(wiring, jobs, cast)


def set_to(wiring: Wiring, cast: Cast, **values: object) -> None:
    """Set the community's limits; those that are not given are off."""
    off = {"backlog_alert": None, "overdue_alert": None, "pause_alert_hours": None}
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = off | values


def register(wiring: Wiring, cast: Cast, names: list[str] | None = None) -> uuid.UUID:
    with wiring.database.writing() as session:
        community = session.get_one(Community, cast.community_id)
        url, secret = "https://forum.example.org/hook?token=x", "a secret of two machines"
        return webhooks.register(session, SYSTEM, wiring.sealer, wiring.allow, community, url, secret, names)[
            0
        ].id


def told(wiring: Wiring) -> list[str]:
    """Everything that was told, oldest first."""
    with wiring.database.reading() as session:
        entries = session.scalars(
            sa.select(HistoryEntry)
            .where(HistoryEntry.what.in_((attention.BEGAN, attention.WEBHOOK_FAILS)))
            .order_by(HistoryEntry.number)
        )
        return [entry.after["attention"] for entry in entries]


def causes(wiring: Wiring) -> list[str]:
    with wiring.database.reading() as session:
        which = HistoryEntry.what.in_((attention.BEGAN, attention.WEBHOOK_FAILS))
        return list(session.scalars(sa.select(HistoryEntry.cause).where(which).order_by(HistoryEntry.number)))


def change(wiring: Wiring, webhook_id: uuid.UUID, **values: object) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(Webhook).where(Webhook.id == webhook_id).values(**values))


def change_actions(wiring: Wiring, ids: Sequence[uuid.UUID], **values: object) -> None:
    with wiring.database.writing() as session:
        session.execute(sa.update(Action).where(Action.id.in_(ids)).values(**values))


def test_a_backlog_is_told_once_and_again_only_after_half_of_it_is_gone(
    wiring: Wiring, cast: Cast, stage: Stage
) -> None:
    set_to(wiring, cast, backlog_alert=2)
    items = [stage.post(f"Post {number}") for number in range(2)]
    sweep(wiring.database)
    assert told(wiring) == []
    items.append(stage.post("One more"))
    sweep(wiring.database)
    sweep(wiring.database)
    assert told(wiring) == [BACKLOG]
    assert causes(wiring) == ["3 reviews wait; the limit is 2"]

    change_actions(wiring, items[:1], action_state=ActionState.DISMISSED)
    sweep(wiring.database)
    change_actions(wiring, items[:1], action_state=ActionState.UNDER_REVIEW)
    sweep(wiring.database)
    assert told(wiring) == [BACKLOG], "two are more than half of the limit: it has not ended"
    change_actions(wiring, items[:2], action_state=ActionState.DISMISSED)
    sweep(wiring.database)
    change_actions(wiring, items[:2], action_state=ActionState.UNDER_REVIEW)
    sweep(wiring.database)
    assert told(wiring) == [BACKLOG, BACKLOG]


def test_items_that_were_put_aside_are_no_backlog_and_are_not_late(
    wiring: Wiring, cast: Cast, stage: Stage
) -> None:
    set_to(wiring, cast, backlog_alert=1, overdue_alert=2)
    items = [stage.post(f"Post {number}") for number in range(3)]
    now = clock.now()
    change_actions(
        wiring,
        items,
        created_at=now - timedelta(days=10),
        due_at=now - timedelta(days=9),
        snoozed_until=now + timedelta(days=1),
    )
    sweep(wiring.database)
    assert told(wiring) == []


def test_a_review_is_told_when_it_has_waited_several_times_its_target_time(
    wiring: Wiring, cast: Cast, stage: Stage
) -> None:
    set_to(wiring, cast, overdue_alert=3)
    item, now = stage.post(), clock.now()
    change_actions(wiring, [item], created_at=now - timedelta(hours=2.9), due_at=now - timedelta(hours=1.9))
    sweep(wiring.database)
    assert told(wiring) == []
    change_actions(wiring, [item], created_at=now - timedelta(hours=3.1), due_at=now - timedelta(hours=2.1))
    sweep(wiring.database)
    sweep(wiring.database)
    assert told(wiring) == [OVERDUE]
    assert causes(wiring) == ["1 review has waited more than 3 times the target time"]
    set_to(wiring, cast)
    sweep(wiring.database)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Attention)).all() == [], "switched off, it has ended"


def test_the_latest_review_is_told_however_many_were_due_before_it(
    wiring: Wiring, cast: Cast, stage: Stage
) -> None:
    set_to(wiring, cast, overdue_alert=3)
    items, now = [stage.post(f"Post {number}") for number in range(attention.MOST_LATE + 1)], clock.now()
    long, short = timedelta(days=3), timedelta(hours=1)
    change_actions(wiring, items[1:], created_at=now - 1.5 * long, due_at=now - 0.5 * long)
    sweep(wiring.database)
    assert told(wiring) == []
    change_actions(wiring, items[:1], created_at=now - 4 * short, due_at=now - 3 * short)
    sweep(wiring.database)
    assert causes(wiring) == ["1 review has waited more than 3 times the target time"]


def test_a_review_that_came_back_is_late_from_then_on(wiring: Wiring, cast: Cast, stage: Stage) -> None:
    set_to(wiring, cast, overdue_alert=3)
    item, now, target = stage.post(), clock.now(), timedelta(hours=1)
    back = now - 3.1 * target
    change_actions(
        wiring, [item], created_at=now - timedelta(days=10), review_opened_at=back, due_at=back + target
    )
    sweep(wiring.database)
    assert causes(wiring) == ["1 review has waited more than 3 times the target time"]


def test_a_webhook_fails_after_an_hour_and_five_failures_and_ends_with_a_success(
    wiring: Wiring, cast: Cast
) -> None:
    set_to(wiring, cast)
    webhook_id, now = register(wiring, cast), clock.now()
    for failures, minutes in ((4, 90), (9, 50)):
        change(wiring, webhook_id, failures=failures, failing_since=now - timedelta(minutes=minutes))
        sweep(wiring.database)
    assert told(wiring) == []
    change(wiring, webhook_id, failures=5, failing_since=now - timedelta(minutes=61))
    sweep(wiring.database)
    sweep(wiring.database)
    assert told(wiring) == [FAILING]
    assert "5 failed attempts: forum.example.org/hook" in causes(wiring)[0]
    assert "token" not in causes(wiring)[0]
    change(wiring, webhook_id, failures=0, failing_since=None)
    sweep(wiring.database)
    change(wiring, webhook_id, failures=5, failing_since=now - timedelta(minutes=61), is_active=False)
    sweep(wiring.database)
    assert told(wiring) == [FAILING], "a disabled one is told of by what disabled it"


def test_a_pause_is_told_after_its_hours_and_ends_when_actions_are_resumed(
    wiring: Wiring, cast: Cast
) -> None:
    set_to(wiring, cast, pause_alert_hours=24)
    with wiring.database.writing() as session:
        community_revisions.pause(session, SYSTEM, cast.community_id, "An attack")
    sweep(wiring.database)
    assert told(wiring) == []
    later = clock.now() + timedelta(hours=25)
    clock.set_source(lambda: later)
    sweep(wiring.database)
    assert told(wiring) == [PAUSED]
    with wiring.database.writing() as session:
        community_revisions.resume(session, SYSTEM, cast.community_id, "Over")
    sweep(wiring.database)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Attention)).all() == []


def test_a_second_pause_is_told_though_nobody_looked_between_the_two(wiring: Wiring, cast: Cast) -> None:
    set_to(wiring, cast, pause_alert_hours=24)
    begin = clock.now()
    with wiring.database.writing() as session:
        community_revisions.pause(session, SYSTEM, cast.community_id, "An attack")
    clock.set_source(lambda: begin + timedelta(hours=25))
    sweep(wiring.database)
    with wiring.database.writing() as session:
        community_revisions.resume(session, SYSTEM, cast.community_id, "Over")
        community_revisions.pause(session, SYSTEM, cast.community_id, "Another")
    sweep(wiring.database)
    assert told(wiring) == [PAUSED]
    clock.set_source(lambda: begin + timedelta(hours=50))
    sweep(wiring.database)
    assert told(wiring) == [PAUSED, PAUSED]


def test_an_archived_community_wants_nobody(wiring: Wiring, cast: Cast, stage: Stage) -> None:
    set_to(wiring, cast, backlog_alert=1)
    stage.post("One")
    stage.post("Another")
    sweep(wiring.database)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).archived_at = clock.now()
    sweep(wiring.database)
    with wiring.database.reading() as session:
        assert session.scalars(sa.select(Attention)).all() == []
    assert told(wiring) == [BACKLOG]


def test_of_several_processes_one_tells(wiring: Wiring, cast: Cast, stage: Stage) -> None:
    set_to(wiring, cast, backlog_alert=1)
    stage.post("One")
    stage.post("Another")
    threads = [threading.Thread(target=sweep, args=(wiring.database,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert told(wiring) == [BACKLOG]


def test_operators_and_service_admins_get_a_notice_and_an_event_goes_to_whoever_names_it(
    wiring: Wiring, cast: Cast, stage: Stage
) -> None:
    set_to(wiring, cast, backlog_alert=1)
    stage.post("One")
    stage.post("Another")
    everything = register(wiring, cast)
    sweep(wiring.database)
    with wiring.database.reading() as session:
        people = set(session.scalars(sa.select(Notice.account_id)))
        assert cast.operator.account_id in people
        assert cast.moderator.account_id not in people
        assert cast.rater.account_id not in people
        sent = sa.select(Event).where(Event.name == EventName.ATTENTION)
        assert session.scalars(sent).all() == [], "no webhook names it"
        session.expunge_all()
    with wiring.database.writing() as session:
        session.execute(sa.delete(Attention))
        session.get_one(Webhook, everything).events = ["community.attention"]
    sweep(wiring.database)
    with wiring.database.reading() as session:
        payload = session.scalars(sent).one().payload
    assert payload["data"]["reason"] == "backlog"
    assert payload["data"]["count"] == 2
    assert set(payload) == {"event", "event_id", "community_server_id", "data"}
