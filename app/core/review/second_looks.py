"""Second looks: actions that a score alone decided, and actions under review again, with the first decision."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions
from app.core.errors import Conflict
from app.core.history.why import Why
from app.core.models import Action, HistoryEntry, HistoryText, Hold, Request
from app.core.models.decisions import SECOND_LOOK
from app.core.notes.blindness import is_for_raters
from app.core.permissions import Actor, Permission, require
from app.core.review import claims
from app.core.states import ACTION
from app.core.unindexed import unindexed
from app.core.vocabulary import HELD_VERBS, ActionState


class Sort(StrEnum):
    """How second looks are ordered. Open ones come first, then those not opened yet, in both of the first orders.

    ``URGENT``: the most urgent first, by the place that each got when its post was scored; ``DUE``: of the open ones
    the soonest to end first, of the others the newest.
    """

    URGENT = "urgent"
    DUE = "due"
    NEWEST = "newest"
    OLDEST = "oldest"
    SCORE = "score"


@dataclass(frozen=True)
class LookFilter:
    """Filters for second looks; an empty filter matches all. ``state`` is *applied* or *retro_review*."""

    state: ActionState | None = None
    category: str = ""
    search: str = ""
    sort: Sort = Sort.URGENT


STATES = (ActionState.RETRO_REVIEW, ActionState.APPLIED)
"""The states of this list: open second looks, and applied Tier 1 actions that nobody has reviewed yet."""
WALKED = 500
"""How many second looks are walked through to find the next one."""
VERBS = tuple(verb for verb in HELD_VERBS if any(row.source in STATES for row in ACTION.by_verb(verb)))
"""The decisions that end a second look."""


def waiting(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: LookFilter,
    *,
    limit: int,
    offset: int = 0,
) -> tuple[Sequence[Action], int]:
    """Return (a page of actions that wait for a second look, how many there are); two queries for any page size."""
    require(actor, Permission.SEE_QUEUE, community_id)
    statement = _filtered(community_id, filters)
    count = session.scalar(sa.select(sa.func.count()).select_from(statement.subquery())) or 0
    page = session.scalars(statement.order_by(*_order(filters.sort)).limit(limit).offset(offset))
    return page.all(), count


def claim_next(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: LookFilter,
    *,
    after: Action | None = None,
) -> Action | None:
    """Claim the next second look that nobody else holds and that has no held decision, as ``claims.claim_next`` does.

    It looks through the first ``WALKED`` of the list and goes round; ``after`` itself is never claimed.
    """
    require(actor, Permission.MODERATE, community_id)
    held = sa.select(Hold.action_id).where(Hold.action_id.is_not(None))
    is_free = sa.and_(claims.open_to(actor, clock.now()), Action.id.not_in(held))
    statement = _filtered(community_id, filters).with_only_columns(Action.id, is_free.label("is_free"))
    rows = list(session.execute(statement.order_by(*_order(filters.sort)).limit(WALKED)))
    place = next((index for index, (id_, _) in enumerate(rows) if after is not None and id_ == after.id), -1)
    for action_id, free in [*rows[place + 1 :], *rows[: max(place, 0)]]:
        if not free:
            continue
        action = session.get_one(Action, action_id)
        try:
            claims.claim(session, actor, action)
        except Conflict:
            continue
        return action
    return None


def neighbours(
    session: Session, actor: Actor, action: Action, filters: LookFilter
) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """The ids of the second looks before and after this one in the list, each None at an end; one query."""
    require(actor, Permission.SEE_QUEUE, action.community_id)
    statement = _filtered(action.community_id, filters).with_only_columns(Action.id)
    ids = [None, *session.scalars(statement.order_by(*_order(filters.sort)).limit(WALKED)), None]
    if action.id not in ids:
        return None, ids[1]
    place = ids.index(action.id)
    return ids[place - 1], ids[place + 1]


def newer_than(
    session: Session | sa.Connection,
    actor: Actor,
    community_id: uuid.UUID,
    moment: datetime,
    filters: LookFilter,
) -> int:
    """How many second looks of the filtered list began to wait after ``moment``."""
    require(actor, Permission.SEE_QUEUE, community_id)
    given = {"community_id": community_id, "moment": moment}
    count: int = session.execute(_newer(filters), given).scalar_one()
    return count


@lru_cache(maxsize=100)
def _newer(filters: LookFilter) -> sa.Select[Any]:
    """The statement of ``newer_than``, kept because building it takes longer than running it."""
    moment = sa.bindparam("moment", type_=Action.applied_at.type)
    community_id = sa.bindparam("community_id", type_=Action.community_id.type)
    found = _filtered(community_id, filters).where(
        sa.or_(Action.applied_at > moment, Action.retro_review_at > moment)
    )
    return sa.select(sa.func.count()).select_from(found.with_only_columns(Action.id).subquery())


def openings(session: Session, second_looks: Sequence[Action]) -> dict[uuid.UUID, str]:
    """The reason or cause of each action's newest second look, by action id; one query."""
    opened = [action.id for action in second_looks if action.retro_review_at is not None]
    if not opened:
        return {}
    rows = session.execute(
        sa.select(HistoryEntry.object_id, HistoryEntry.cause, HistoryText.reason)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.object_type == "action",
            HistoryEntry.object_id.in_(opened),
            HistoryEntry.what == f"action.{ActionState.RETRO_REVIEW}",
        )
        .order_by(HistoryEntry.number)
    )
    return {action_id: reason or cause for action_id, cause, reason in rows}


def is_answerable(action: Action, request: Request) -> bool:
    """Whether members can take a second look: the action was applied, visible to them, and has a rationale to rate."""
    return (
        action.action_state is ActionState.APPLIED
        and action.restores_id is None
        and action.note_id is not None
        and is_for_raters(action)
        and request.withdrawn_at is None
        and request.content_removed_at is None
    )


def ask_members(session: Session, actor: Actor, action: Action, *, why: Why) -> None:
    """Open a second look by members at a moderator's request; the action stays applied meanwhile.

    Raises:
        Conflict: no member could rate the action.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    request = session.get_one(Request, action.request_id)
    if action.action_state is ActionState.APPLIED and not is_answerable(action, request):
        raise Conflict(
            "A second look was not opened: no member could answer it. Decide it yourself", action.id
        )
    actions.open_second_look(session, actor, action, why=why)


def deciding(
    session: Session, second_looks: Sequence[Action]
) -> dict[uuid.UUID, tuple[HistoryEntry, HistoryText]]:
    """The history entry that says who decided each action and why, with its text, by action id; one query.

    It is the entry of the proposal; for an action that the platform took by itself, that of its report.
    """
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(
            HistoryEntry.object_type == "action",
            HistoryEntry.object_id.in_([action.id for action in second_looks]),
            HistoryEntry.what.in_((f"action.{ActionState.PROPOSED}", f"action.{ActionState.APPLIED}")),
        )
        .order_by(HistoryEntry.number)
    )
    decided: dict[uuid.UUID, tuple[HistoryEntry, HistoryText]] = {}
    for entry, text in rows:
        is_proposal = entry.what == f"action.{ActionState.PROPOSED}"
        if is_proposal or entry.object_id not in decided:
            decided[entry.object_id] = (entry, text)
    return decided


def categories(session: Session, community_id: uuid.UUID) -> Sequence[str]:
    """The categories of the actions that wait for a second look, for the filter."""
    names = session.scalars(
        _filtered(community_id, LookFilter())
        .with_only_columns(Action.category)
        .distinct()
        .order_by(Action.category)
    )
    return [name for name in names if name]


def _filtered(community_id: Any, filters: LookFilter) -> sa.Select[Any]:
    statement = sa.select(Action).where(
        unindexed(Action.community_id) == community_id,
        # Written out, not parameters: only so is the index of these few actions used for certain.
        sa.text(SECOND_LOOK),
    )
    if filters.state is not None:
        statement = statement.where(Action.action_state == filters.state)
    if filters.category:
        statement = statement.where(Action.category == filters.category)
    if filters.search:
        statement = statement.join(Request, Request.id == Action.request_id).where(
            Request.content.icontains(filters.search, autoescape=True)
        )
    return statement


def _order(sort: Sort) -> tuple[Any, ...]:
    is_open = sa.case((Action.action_state == ActionState.RETRO_REVIEW, 0), else_=1)
    if sort is Sort.URGENT:
        return (is_open, sa.func.coalesce(Action.urgent_at, Action.created_at), Action.id)
    if sort is Sort.NEWEST:
        return (Action.created_at.desc(), Action.id.desc())
    if sort is Sort.OLDEST:
        return (Action.created_at, Action.id)
    if sort is Sort.SCORE:
        return (sa.func.coalesce(Action.score, 0.0).desc(), Action.created_at, Action.id)
    return (is_open, Action.retro_review_at, Action.created_at.desc(), Action.id.desc())
