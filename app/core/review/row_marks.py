"""What may change about a row on screen, read with a few narrow queries: an open tab asks for it every 15 s.

To draw rows needs posts, notes and people. To find out that nothing changed needs only these columns.
"""

import math
import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from app.core import clock, scoring
from app.core.models import Action, Attachment, Hold, Note, Request
from app.core.models.decisions import HIDDEN
from app.core.permissions import Actor, Permission, require
from app.core.types import UtcDateTime
from app.core.unindexed import unindexed
from app.core.vocabulary import ActionState


class RowMark(NamedTuple):
    """``seen`` are values that differ if the row would look different. The moments show as times that pass:
    ``due_at`` when people should have decided, if that is past, ``decided_at`` when they did, ``again_at`` when a
    second look began."""

    seen: tuple[Any, ...]
    due_at: datetime | None
    decided_at: datetime | None
    again_at: datetime | None


_action, _request, _note, _hold = (model.__table__.c for model in (Action, Request, Note, Hold))
_others = sa.alias(Action.__table__, "others")
_HIDDEN_POSTS = (
    sa.select(sa.func.count())
    .select_from(_others)
    .where(
        _others.c.community_id == _action.community_id,
        _others.c.platform_author_id == _action.platform_author_id,
        # Written out for the index of hidden posts; the names are unique to it.
        sa.text(" AND ".join(f"others.{condition}" for condition in HIDDEN.split(" AND "))),
    )
    .correlate(Action.__table__)
    .scalar_subquery()
)
OPEN = (ActionState.UNDER_REVIEW, ActionState.RETRO_REVIEW, ActionState.APPLIED)
"""States whose rows say nothing of when they were decided."""


def _raw(column: Any) -> Any:
    """The column as the driver gives it: nobody reads the value, and to convert hundreds of them takes its time."""
    return sa.type_coerce(column, sa.types.NullType())


_NOW = sa.bindparam("now", type_=UtcDateTime())
_IS_LATE = sa.and_(_action.action_state == ActionState.UNDER_REVIEW, _action.due_at <= _NOW)
# Built once, from table columns: to build it, or to make rows into objects, takes longer than the query itself.
_ROWS = (
    sa.select(
        _action.id,
        sa.case((_request.has_attachments, _action.request_id)).label("request_id"),
        sa.case((_IS_LATE, _action.due_at)).label("due_at"),
        sa.case((_action.action_state.not_in(OPEN), _action.updated_at)).label("decided_at"),
        sa.case((_action.action_state == ActionState.RETRO_REVIEW, _action.retro_review_at)).label(
            "again_at"
        ),
        _action.version,
        _raw(sa.case((_action.claimed_until > _NOW, _action.claimed_by_id))).label("claimed_by"),
        _raw(_action.assigned_to_id).label("assigned_to"),
        _raw(_request.updated_at).label("post_updated_at"),
        _note.ratings_count,
        _note.status_rule,
        _raw(_hold.id).label("hold_id"),
        _HIDDEN_POSTS.label("hidden_posts"),
    )
    .select_from(Action.__table__)
    .join(Request.__table__, _request.id == _action.request_id)
    .outerjoin(Note.__table__, _note.id == _action.note_id)
    .outerjoin(Hold.__table__, _hold.action_id == _action.id)
    .where(
        unindexed(_action.community_id) == sa.bindparam("community_id"),
        _action.id.in_(sa.bindparam("ids", expanding=True)),
    )
)


class ItemMark(NamedTuple):
    """What an open page of an item depends on. ``decision`` differs once somebody decides or changes the item,
    ``claimant`` once somebody else holds it, ``minutes`` with every minute that a colleague's claim has left."""

    decision: tuple[Any, ...]
    claimant: Any
    minutes: int


def item_mark(
    session: Session, actor: Actor, community_id: uuid.UUID, action_id: uuid.UUID
) -> ItemMark | None:
    """The mark of one item of the community, in any state; None if it is not there. One query."""
    require(actor, Permission.SEE_QUEUE, community_id)
    which = (unindexed(Action.community_id) == community_id, Action.id == action_id)
    action = session.scalars(sa.select(Action).where(*which).options(joinedload(Action.held))).first()
    return mark_of(actor, action) if action is not None else None


def mark_of(actor: Actor, action: Action) -> ItemMark:
    """The mark of an item whose hold is loaded."""
    now, until, claimant = clock.now(), action.claimed_until, action.claimed_by_id
    if until is None or until <= now:
        claimant = None
    is_colleagues = claimant is not None and claimant != actor.account_id
    minutes = math.ceil((until - now).total_seconds() / 60) if until is not None and is_colleagues else 0
    return ItemMark((action.version, action.held.id if action.held is not None else None), claimant, minutes)


def row_marks(
    session: Session, actor: Actor, community_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> Mapping[uuid.UUID, RowMark]:
    """The marks of these items of the community, in any state; at most two queries. Unknown ids are left out."""
    require(actor, Permission.SEE_QUEUE, community_id)
    rows = session.execute(_ROWS, {"community_id": community_id, "ids": ids, "now": clock.now()}).all()
    media = _media(session, [row.request_id for row in rows if row.request_id is not None])
    return {
        action_id: RowMark((*seen, media.get(request_id)), due_at, decided_at, again_at)
        for action_id, request_id, due_at, decided_at, again_at, *seen in rows
    }


def _media(
    session: Session, request_ids: Sequence[uuid.UUID]
) -> Mapping[uuid.UUID, tuple[tuple[Any, ...], ...]]:
    if not request_ids:
        return {}
    found: dict[uuid.UUID, tuple[tuple[Any, ...], ...]] = {}
    for request_id, *state in session.execute(
        sa.select(Attachment.request_id, Attachment.position, Attachment.state, Attachment.media_type)
        .where(Attachment.request_id.in_(request_ids))
        .order_by(Attachment.request_id, Attachment.position)
    ):
        found[request_id] = (*found.get(request_id, ()), tuple(state))
    return found


_DISAGREEMENTS: Mapping[str, str] = {
    "divisive": "split",
    "one-sided": "split",
    "unbalanced": "one side only",
    "undecided": "undecided",
}
"""Why enough ratings did not decide, by the slug of the rule (docs/develop/consensus.md)."""


def hidden_posts(session: Session, community_id: uuid.UUID, authors: Collection[str]) -> dict[str, int]:
    """How many posts of these authors are hidden now, by author; one query on an index of hidden posts."""
    if not authors:
        return {}
    rows = session.execute(
        sa.select(Action.platform_author_id, sa.func.count())
        .where(
            Action.community_id == community_id,
            Action.platform_author_id.in_(authors),
            sa.text(HIDDEN),
        )
        .group_by(Action.platform_author_id)
    )
    return {author: count for author, count in rows if author}


def disagreement(note: Note | None, needed: int) -> str:
    """Why ratings have not decided: "split", "one side only" or "undecided"; empty while there are too few of them."""
    if note is None or note.ratings_count < needed or note.status_rule is None:
        return ""
    return _DISAGREEMENTS.get(scoring.slug_of(note.status_rule), "")
