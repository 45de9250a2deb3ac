"""Finds the actions that a category or a rule caused, and counts and shows them before any is overturned."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import clock, limits
from app.core.errors import Invalid
from app.core.models import Action, Request
from app.core.permissions import Actor, Permission, require
from app.core.states import ACTION
from app.core.texts import gettext as _
from app.core.vocabulary import ActionState, ActionTier, ActionVerb

SAMPLES = 20
RULE_MAX = 255
UNDONE_BY: Mapping[ActionState, ActionVerb] = {
    ActionState(row.source): row.verb
    for row in ACTION.moves
    if row.undoes and row.source is not None and row.verb is not None
}
"""The verb that undoes an action, by its state: a proposal that the platform has not carried out is withdrawn.
Actions in other states stay as they are: they were undone already, upheld by people, or wait for review."""


@dataclass(frozen=True)
class Criteria:
    """Selects actions since a time by category or by matched rule; only Tier 1 unless ``with_reviewed``."""

    since: datetime
    category: str | None = None
    rule: str | None = None
    with_reviewed: bool = False


@dataclass(frozen=True)
class Preview:
    """Counts by state: ``affected`` would be overturned, ``left`` stay; ``samples`` of the former, newest first."""

    affected: Mapping[ActionState, int]
    left: Mapping[ActionState, int]
    samples: Sequence[Action]

    @property
    def total(self) -> int:
        return sum(self.affected.values())


def preview(session: Session, actor: Actor, community_id: uuid.UUID, criteria: Criteria) -> Preview:
    """Count the matching actions and load samples; changes nothing.

    Raises:
        Invalid: not exactly one of category and rule is set, or ``since`` is in the future.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    check(criteria)
    conditions = matching(session, community_id, criteria)
    counts: dict[ActionState, int] = {
        state: count
        for state, count in session.execute(
            sa.select(Action.action_state, sa.func.count()).where(*conditions).group_by(Action.action_state)
        )
    }
    samples = session.scalars(
        sa.select(Action)
        .where(*conditions, Action.action_state.in_(UNDONE_BY))
        .order_by(Action.created_at.desc(), Action.id.desc())
        .limit(SAMPLES)
        .options(selectinload(Action.request).selectinload(Request.decision))
    ).all()
    in_order = [state for state in ActionState if counts.get(state)]
    return Preview(
        affected={state: counts[state] for state in in_order if state in UNDONE_BY},
        left={state: counts[state] for state in in_order if state not in UNDONE_BY},
        samples=samples,
    )


def check(criteria: Criteria) -> None:
    """Refuse criteria without exactly one of category and rule, or with ``since`` in the future."""
    if (criteria.category is None) == (criteria.rule is None):
        raise Invalid.field("category", _("or a rule must be named, and not both"))
    if criteria.category is not None:
        limits.category_name(criteria.category, "category")
    if criteria.rule is not None:
        limits.text(criteria.rule, "rule", RULE_MAX)
    if criteria.since > clock.now():
        raise Invalid.field("since", _("must not lie ahead"))


def matching(
    session: Session, community_id: uuid.UUID, criteria: Criteria
) -> tuple[sa.ColumnElement[bool], ...]:
    """SQL conditions for the community's actions that match the criteria, in any state."""
    conditions: list[sa.ColumnElement[bool]] = [
        Action.community_id == community_id,
        Action.created_at >= criteria.since,
        Action.restores_id.is_(None),
    ]
    if criteria.with_reviewed:
        conditions.append(Action.action_tier.is_not(None))
    else:
        conditions.append(Action.action_tier == ActionTier.IMMEDIATE)
    if criteria.category is not None:
        conditions.append(Action.category == criteria.category)
    if criteria.rule is not None:
        conditions.append(_matched(session, criteria.rule))
    return tuple(conditions)


def _matched(session: Session, rule: str) -> sa.ColumnElement[bool]:
    """Whether the evidence names this rule among its matches; SQLite and PostgreSQL need different JSON functions."""
    if session.get_bind().dialect.name == "sqlite":
        match: Any = sa.func.json_each(Action.evidence, "$.details.matches").table_valued("value")
        named: Any = sa.func.json_extract(match.c.value, "$.rule")
    else:
        matches = Action.evidence["details"]["matches"]
        match = sa.func.json_array_elements(matches).table_valued(sa.column("value", sa.JSON()))
        named = match.c.value["rule"].as_string()
    return sa.exists(sa.select(sa.literal(1)).select_from(match).where(named == rule))
