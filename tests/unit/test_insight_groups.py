"""Figures by channel and by moderator: counted by the job, read from the rows, and made by the migration alike."""

import re
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import sqlalchemy as sa

from app.core.history.reason import Reason
from app.core.insights import trends
from app.core.insights.trend_figures import Decisions, Overturned, Trends
from app.core.models import (
    Account,
    Action,
    Community,
    InsightGroup,
    InsightOutcome,
    InsightSlot,
    Request,
    Rollup,
)
from app.core.periods import Period
from app.core.permissions import SYSTEM, Actor
from app.core.review import reopening, verbs
from app.core.vocabulary import ActionState, ReopenTo, Role
from app.jobs.communities import roll_up
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast, Person
from tests.clocks import advance, at

pytestmark = pytest.mark.both_databases

PERIOD = Period(date(2026, 3, 1), date(2026, 3, 3), ZoneInfo("UTC"))


def acting(cast: Cast, person: Person, role: Role) -> Actor:
    return Actor(
        kind="account",
        name=person.email,
        account_id=person.account_id,
        roles={cast.community_id: role},
        communities=frozenset({cast.community_id}),
    )


def decided(wiring: Wiring, cast: Cast) -> None:
    """Four reviews in two channels: three that the moderator decides, two of them reversed, and one of the operator."""
    at(datetime(2026, 3, 1, 12, tzinfo=UTC))
    moderator, operator = (
        acting(cast, cast.moderator, Role.MODERATOR),
        acting(cast, cast.operator, Role.OPERATOR),
    )
    actions = [factories.scored_action(wiring, cast, request_id=f"post-{number}") for number in range(4)]
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"moderator_figures": True}
        for number, action_id in enumerate(actions):
            request_id = session.get_one(Action, action_id).request_id
            session.get_one(Request, request_id).platform_channel_id = f"channel-{number // 3}"
    for number, (actor, state) in enumerate(
        [
            (moderator, ActionState.PROPOSED),
            (moderator, ActionState.DISMISSED),
            (moderator, ActionState.PROPOSED),
            (operator, ActionState.PROPOSED),
        ]
    ):
        advance(minutes=20)
        with wiring.database.writing() as session:
            action = session.get_one(Action, actions[number])
            verbs.change_action(session, actor, action, state, reason=Reason("Because"))


def reverse(wiring: Wiring, cast: Cast) -> None:
    """A day later the moderator's first decision is overturned, and the dismissal reopened."""
    advance(days=1)
    operator = acting(cast, cast.operator, Role.OPERATOR)
    with wiring.database.writing() as session:
        action = session.scalars(
            sa.select(Action)
            .join(Request, Request.id == Action.request_id)
            .where(Request.request_id == "post-0")
        ).one()
        verbs.change_action(session, factories.integration(cast), action, ActionState.APPLIED)
        verbs.change_action(session, operator, action, ActionState.OVERTURNED, reason=Reason("Wrong"))
        dismissed = session.scalars(
            sa.select(Action).where(Action.action_state == ActionState.DISMISSED)
        ).one()
        reopening.reopen(session, operator, dismissed, ReopenTo.COMMUNITY, reason=Reason("Look again"))


def take_back(wiring: Wiring, cast: Cast) -> None:
    """The operator takes back the moderator's two decisions to act, before the platform has acted."""
    operator = acting(cast, cast.operator, Role.OPERATOR)
    with wiring.database.writing() as session:
        proposed = session.scalars(
            sa.select(Action)
            .join(Request, Request.id == Action.request_id)
            .where(Request.request_id.in_(("post-0", "post-2")))
            .order_by(Request.request_id)
        ).all()
        for action, state in zip(proposed, (ActionState.DISMISSED, ActionState.UNDER_REVIEW), strict=True):
            verbs.change_action(session, operator, action, state, reason=Reason("Wrong"))


def figures(wiring: Wiring, cast: Cast) -> Trends:
    with wiring.database.reading() as session:
        return trends.for_community(session, SYSTEM, cast.community_id, PERIOD)


def groups(wiring: Wiring) -> list[tuple[Any, ...]]:
    """All rows, without the order of the waits."""
    with wiring.database.reading() as session:
        rows = session.scalars(sa.select(InsightGroup)).all()
        return sorted(
            (
                row.kind,
                row.slot,
                row.name,
                row.total,
                row.of_which,
                sorted(re.findall(r"\d+", row.waits or "")),
            )
            for row in rows
        )


def test_channels_and_moderators_are_counted_with_what_was_reversed_since(wiring: Wiring, cast: Cast) -> None:
    decided(wiring, cast)
    of_rows = figures(wiring, cast)
    assert of_rows.channels == [Overturned("channel-0", 2, 0), Overturned("channel-1", 1, 0)]
    assert of_rows.moderators == [
        Decisions("Moderator", 3, 40 * 60, 0),
        Decisions("Operator", 1, 80 * 60, 0),
    ]
    advance(minutes=20)
    roll_up(wiring.database)
    assert groups(wiring)
    assert figures(wiring, cast) == of_rows
    reverse(wiring, cast)
    advance(hours=1)
    roll_up(wiring.database)
    reversed_since = figures(wiring, cast)
    assert reversed_since.channels[0] == Overturned("channel-0", 2, 1)
    assert reversed_since.moderators is not None
    assert reversed_since.moderators[0] == Decisions("Moderator", 3, 40 * 60, 2)
    with wiring.database.writing() as session:
        for model in (InsightSlot, InsightOutcome, InsightGroup, Rollup):
            session.execute(sa.delete(model))
    assert figures(wiring, cast) == reversed_since


def test_a_decision_that_is_taken_back_before_the_platform_acts_is_reversed(
    wiring: Wiring, cast: Cast
) -> None:
    decided(wiring, cast)
    advance(hours=2)
    roll_up(wiring.database)
    assert [row.reversed for row in figures(wiring, cast).moderators or ()] == [0, 0]
    take_back(wiring, cast)
    advance(hours=2)
    roll_up(wiring.database)
    counted = figures(wiring, cast).moderators
    assert counted is not None
    assert {row.name: (row.decided, row.reversed) for row in counted} == {
        "Moderator": (3, 2),
        "Operator": (2, 0),
    }
    with wiring.database.writing() as session:
        for model in (InsightSlot, InsightOutcome, InsightGroup, Rollup):
            session.execute(sa.delete(model))
    assert figures(wiring, cast).moderators == counted


def test_nobodys_figures_are_given_unless_the_community_wants_them(wiring: Wiring, cast: Cast) -> None:
    decided(wiring, cast)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {}
        account = session.get_one(Account, cast.operator.account_id)
        account.email = f"{account.id}@erased.invalid"
    assert figures(wiring, cast).moderators is None
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"moderator_figures": True}
    found = figures(wiring, cast).moderators
    assert found is not None
    assert [row.name for row in found] == ["Moderator", ""], "an erased account has no name"
