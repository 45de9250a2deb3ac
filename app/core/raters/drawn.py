"""What a member was drawn for and can be asked about (docs/moderate/panels.md)."""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Action, Note
from app.core.notes import rating_locks
from app.core.panels import seats
from app.core.raters import help_needed


def items_for(session: Session, community_id: uuid.UUID, profile_id: uuid.UUID) -> Sequence[uuid.UUID]:
    """The items for which this rater has an open seat, first the one that ends first.

    Without those that take no ratings now, and those of a category that the rater prefers not to see: they may have
    chosen it after the draw.
    """
    drawn = [seat.action_id for seat in seats.open_for(session, profile_id, community_id)]
    if not drawn:
        return []
    avoided = help_needed.reader(session, profile_id).avoided
    open_to_them = session.scalars(
        sa.select(Action.id)
        .join(Note, Note.id == Action.note_id)
        .where(
            Action.id.in_(drawn),
            rating_locks.open_clause(),
            sa.or_(Action.category.is_(None), Action.category.not_in(avoided)),
        )
    ).all()
    return [action_id for action_id in drawn if action_id in open_to_them]
