"""Second looks: actions that a score alone decided, and actions under review again, with the first decision."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import clock
from app.core.actions import actions
from app.core.errors import Conflict
from app.core.history.reason import Reason
from app.core.models import Action, HistoryEntry, HistoryText, Hold, Request
from app.core.notes.blindness import is_for_raters
from app.core.paging import up_to
from app.core.permissions import Actor, Permission, require
from app.core.review import claims, conditions
from app.core.texts import gettext as _
from app.core.vocabulary import ActionState


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
class SecondLookFilter:
    """Filters for second looks; an empty filter matches all. ``state`` is *applied* or *retro_review*."""

    state: ActionState | None = None
    category: str = ""
    search: str = ""
    sort: Sort = Sort.URGENT


@dataclass(frozen=True)
class SecondLookPage:
    """A page of the list, as ids of actions, of ``count`` in all.

    ``is_more``: these are more than ``count``, the most that is counted. ``may_lack``: a text was looked for in the
    first ``WALKED`` only, and more than these wait.
    """

    ids: Sequence[uuid.UUID]
    count: int
    is_more: bool = False
    may_lack: bool = False


STATES = (ActionState.RETRO_REVIEW, ActionState.APPLIED)
"""The states of this list: open second looks, and applied Tier 1 actions that are not reviewed yet."""
WALKED = 500
"""How many second looks are walked through to find the next one, or a text in their posts."""
MOST_COUNTED = 1_000
"""The largest number of second looks that a page counts; above it the page only says that there are more."""
OFFERED_OF = 10_000
"""In how many second looks, the first ones, the filter looks for categories to offer."""


def waiting(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: SecondLookFilter,
    *,
    limit: int,
    offset: int = 0,
) -> SecondLookPage:
    """A page of the actions that wait for a second look; two queries for any page size."""
    require(actor, Permission.SEE_QUEUE, community_id)
    ids = _listed(community_id, filters)
    if filters.search:
        found = session.scalars(ids).all()
        of_all = _count(session, community_id, replace(filters, search=""))
        return SecondLookPage(found[offset : offset + limit], len(found), may_lack=of_all > WALKED)
    count = _count(session, community_id, filters)
    page = session.scalars(ids.limit(limit).offset(offset)).all()
    return SecondLookPage(page, min(count, MOST_COUNTED), count > MOST_COUNTED)


def _count(session: Session, community_id: uuid.UUID, filters: SecondLookFilter) -> int:
    """How many match, up to one more than ``MOST_COUNTED``; in the order of the index that tells it alone."""
    ids = _listed(community_id, replace(filters, sort=Sort.URGENT))
    return session.scalar(sa.select(up_to(ids, MOST_COUNTED))) or 0


def claim_next(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    filters: SecondLookFilter,
    *,
    after: Action | None = None,
) -> Action | None:
    """Claim the next second look that no colleague holds and that has no held decision, as ``claims.claim_next`` does.

    It looks through the first ``WALKED`` of the list and goes round; ``after`` itself is never claimed.
    """
    require(actor, Permission.MODERATE, community_id)
    held = sa.select(Hold.action_id).where(Hold.action_id.is_not(None))
    is_free = sa.and_(claims.open_to(actor, clock.now()), Action.id.not_in(held))
    ids = session.scalars(_listed(community_id, filters).limit(WALKED)).all()
    free = set(session.scalars(sa.select(Action.id).where(Action.id.in_(ids), is_free)))
    place = ids.index(after.id) if after is not None and after.id in ids else -1
    following = [*ids[place + 1 :], *ids[: max(place, 0)]]
    return claims.claim_first(
        session, actor, (session.get_one(Action, action_id) for action_id in following if action_id in free)
    )


def neighbours(
    session: Session, actor: Actor, action: Action, filters: SecondLookFilter
) -> tuple[uuid.UUID | None, uuid.UUID | None]:
    """The ids of the second looks before and after this one in the list, each None at an end; one query."""
    require(actor, Permission.SEE_QUEUE, action.community_id)
    ids = [None, *session.scalars(_listed(action.community_id, filters).limit(WALKED)), None]
    if action.id not in ids:
        return None, ids[1]
    place = ids.index(action.id)
    return ids[place - 1], ids[place + 1]


def newer_than(
    session: Session, actor: Actor, community_id: uuid.UUID, moment: datetime, filters: SecondLookFilter
) -> int:
    """How many second looks of the filtered list began to wait after ``moment``."""
    require(actor, Permission.SEE_QUEUE, community_id)
    found = _filtered(community_id, filters).where(
        sa.or_(Action.applied_at > moment, Action.retro_review_at > moment)
    )
    if filters.search:
        found = found.join(Request, Request.id == Action.request_id).where(_has(filters.search))
    ids = found.with_only_columns(Action.id).subquery()
    return session.scalar(sa.select(sa.func.count()).select_from(ids)) or 0


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


def ask_members(session: Session, actor: Actor, action: Action, *, reason: Reason) -> None:
    """Open a second look by members at a moderator's request; the action stays applied meanwhile.

    Raises:
        Conflict: no member could rate the action.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    request = session.get_one(Request, action.request_id)
    if action.action_state is ActionState.APPLIED and not is_answerable(action, request):
        raise Conflict(
            _("A second look was not opened: no member could answer it. Decide it yourself"), action.id
        )
    actions.open_second_look(session, actor, action, reason=reason)


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
    """The categories of the first ``OFFERED_OF`` actions that wait for a second look, for the filter."""
    first = _listed(community_id, SecondLookFilter()).with_only_columns(Action.category).limit(OFFERED_OF)
    found = first.subquery().c.category
    return [name for name in session.scalars(sa.select(found).distinct().order_by(found)) if name]


def _listed(community_id: uuid.UUID, filters: SecondLookFilter) -> sa.Select[Any]:
    """Select the ids of the filtered list, in its order. A text is looked for in the first ``WALKED`` only."""
    statement = _filtered(community_id, filters).order_by(*_order(filters.sort))
    if not filters.search:
        return statement.with_only_columns(Action.id)
    read = aliased(Action, statement.limit(WALKED).subquery("walked"))
    found = sa.select(read.id).join(Request, Request.id == read.request_id).where(_has(filters.search))
    return found.order_by(*_order(filters.sort, read))


def _has(text: str) -> sa.ColumnElement[bool]:
    return Request.content.icontains(text, autoescape=True)


def _filtered(community_id: uuid.UUID, filters: SecondLookFilter) -> sa.Select[Any]:
    statement = conditions.second_looks(community_id)
    if filters.state is not None:
        statement = statement.where(Action.action_state == filters.state)
    if filters.category:
        statement = statement.where(Action.category == filters.category)
    return statement


def _order(sort: Sort, row: Any = Action) -> tuple[Any, ...]:
    # Open ones first: "retro_review" is after "applied", and there are no other states in this list.
    open_first = row.action_state.desc()
    if sort is Sort.URGENT:
        return (open_first, sa.func.coalesce(row.urgent_at, row.created_at), row.id)
    if sort is Sort.NEWEST:
        return (row.created_at.desc(), row.id.desc())
    if sort is Sort.OLDEST:
        return (row.created_at, row.id)
    if sort is Sort.SCORE:
        return (sa.func.coalesce(row.score, 0.0).desc(), row.created_at, row.id)
    return (open_first, row.retro_review_at, row.created_at.desc(), row.id.desc())
