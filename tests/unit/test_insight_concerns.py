"""What needs attention: few cases raise nothing, what stands out does, the most serious comes first."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from app.core import clock
from app.core.actions import acknowledgements
from app.core.history.reason import Reason
from app.core.insights import concerns
from app.core.insights.concerns import Concern, Matter
from app.core.insights.trend_figures import Backlog, Delay, Overturned, Totals, Trends
from app.core.models import Action, Webhook
from app.core.periods import Period
from app.core.permissions import SYSTEM, Actor
from app.core.review import verbs
from app.core.upkeep import community_revisions
from app.core.vocabulary import ActionState, Role
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast
from tests.clocks import advance, at

NOTHING = Totals(0, Delay(), 0, 0, 0, (), ())


def trends(
    now: Sequence[Overturned], before: Sequence[Overturned] = (), waiting: int = 0, was: int = 0
) -> Trends:
    """Figures in which only the categories and the backlog count."""
    return Trends(
        period=Period(date(2026, 3, 1), date(2026, 3, 30), ZoneInfo("UTC")),
        volume=(),
        delays=(),
        delay=Delay(),
        backlog=[Backlog(waiting=waiting)],
        activity=(),
        raters=0,
        agreement=(),
        overturned=(),
        categories=now,
        classifiers=(),
        channels=(),
        moderators=None,
        target=None,
        before=replace(NOTHING, categories=before, waiting=was),
    )


@pytest.mark.parametrize(
    ("rate", "compared", "stands_out"),
    [
        ((9, 9), (0, 500), False),  # fewer than ten actions, whatever they came to
        ((10, 2), (500, 0), False),  # fewer than three overturned
        ((20, 12), (200, 6), True),
        ((20, 12), (9, 0), False),  # nothing to compare with
        ((20, 4), (200, 20), False),  # twice the rate, by twenty cases: chance explains it
        ((400, 80), (2_000, 200), True),  # the same rates, by many
        ((50, 5), (200, 40), False),  # less than the others
    ],
)
def test_a_rate_stands_out_only_beyond_chance(
    rate: tuple[int, int], compared: tuple[int, int], stands_out: bool
) -> None:
    assert concerns.stands_out(Overturned("spam", *rate), Overturned("", *compared)) is stands_out


def test_categories_are_compared_with_the_others_and_else_with_themselves_before() -> None:
    others = [Overturned("toxicity", 200, 4), Overturned("threat", 5, 5)]
    assert concerns.from_trends(trends([Overturned("spam", 30, 1), *others])) == []
    (found,) = concerns.from_trends(trends([Overturned("spam", 30, 15), *others]))
    assert (found.concern, found.name, found.is_before) == (Concern.CATEGORY, "spam", False)
    assert found.compared == Overturned("", 205, 9)
    alone, calm = [Overturned("spam", 30, 15)], [Overturned("spam", 60, 1)]
    (found,) = concerns.from_trends(trends(alone, calm))
    assert (found.name, found.is_before, found.compared) == ("spam", True, calm[0])


@pytest.mark.parametrize(
    ("waiting", "before", "has_grown"),
    [(9, 0, False), (10, 0, True), (110, 100, False), (125, 100, True), (20, 30, False)],
)
def test_a_backlog_grew_by_ten_and_by_a_quarter(waiting: int, before: int, has_grown: bool) -> None:
    found = concerns.from_trends(trends((), waiting=waiting, was=before))
    assert [(one.count, one.before) for one in found] == ([(waiting, before)] if has_grown else [])


def test_the_most_serious_comes_first() -> None:
    found = concerns.in_order([Matter(concern) for concern in reversed(Concern)])
    assert [one.concern for one in found] == list(Concern)


def read(wiring: Wiring, cast: Cast, actor: Actor = SYSTEM) -> list[Matter]:
    with wiring.database.reading() as session:
        return concerns.read(session, actor, cast.community_id)


@pytest.mark.both_databases
def test_late_reviews_unconfirmed_decisions_and_a_pause_need_somebody(wiring: Wiring, cast: Cast) -> None:
    at(datetime(2026, 3, 1, 12, tzinfo=UTC))
    late, sent, quick = (
        factories.scored_action(wiring, cast, request_id=f"post-{number}") for number in range(3)
    )
    assert read(wiring, cast) == []
    with wiring.database.writing() as session:
        for action_id in (sent, quick):
            action = session.get_one(Action, action_id)
            verbs.change_action(
                session, factories.integration(cast), action, ActionState.PROPOSED, reason=Reason("Yes")
            )
        acknowledgements.acknowledge(
            session, factories.integration(cast), session.get_one(Action, quick), "platform-1"
        )
    decided = clock.now()
    advance(minutes=59)
    assert read(wiring, cast) == []
    advance(minutes=2)
    (found,) = read(wiring, cast)
    assert (found.concern, found.count, found.since) == (Concern.UNCONFIRMED, 1, decided)
    advance(days=3)
    with wiring.database.writing() as session:
        due = session.get_one(Action, late).due_at
        community_revisions.pause(session, SYSTEM, cast.community_id, "A rule went wild")
    overdue, unconfirmed, paused = read(wiring, cast)
    assert (overdue.concern, overdue.count, overdue.since) == (Concern.OVERDUE, 1, due)
    assert unconfirmed.concern is Concern.UNCONFIRMED
    assert (paused.concern, paused.since) == (Concern.PAUSED, clock.now())
    with wiring.database.writing() as session:
        session.get_one(Action, late).snoozed_until = clock.now() + timedelta(hours=1)
    assert Concern.OVERDUE not in [one.concern for one in read(wiring, cast)], "the queue leaves it out too"


def test_webhooks_that_fail_need_operators_and_nobody_else_hears_of_them(wiring: Wiring, cast: Cast) -> None:
    now = clock.now()
    with wiring.database.writing() as session:
        for host, values in {
            "fine": {},
            "once": {"failures": 1, "failing_since": now - timedelta(hours=1)},
            "just-now": {"failures": 5, "failing_since": now - timedelta(minutes=5)},
            "often": {"failures": 4, "failing_since": now - timedelta(hours=1)},
            "failing": {"failures": 5, "failing_since": now - timedelta(hours=1)},
            "by-hand": {"is_active": False, "disabled_reason": "Disabled by hand"},
            "gone": {"is_active": False, "disabled_reason": "The receiver answered 3 times in a row"},
            "removed": {"is_active": False, "deleted_at": now},
        }.items():
            url = f"https://{host}.example/hook?token=secret"
            session.add(Webhook(community_id=cast.community_id, url=url, secret=b"sealed", **values))
    assert [(one.concern, one.name) for one in read(wiring, cast)] == [
        (Concern.WEBHOOK_DISABLED, "https://gone.example/hook"),
        (Concern.WEBHOOK_FAILING, "https://failing.example/hook"),
    ]
    moderator = Actor(
        kind="account",
        name="Moderator",
        account_id=uuid.uuid4(),
        roles={cast.community_id: Role.MODERATOR},
        communities=frozenset({cast.community_id}),
    )
    assert read(wiring, cast, moderator) == []
