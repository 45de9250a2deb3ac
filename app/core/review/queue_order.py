"""The orders of the review queue, and conditions for the rows before or after a row in each order.

Pages of the queue continue from a row instead of an OFFSET, so every order ends with the unique id.
"""

from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.core.models import Action, Note


class Sort(StrEnum):
    """How the queue is ordered."""

    URGENT = "urgent"
    OLDEST = "oldest"
    NEWEST = "newest"
    SCORE = "score"
    RATINGS = "ratings"


def _figure(sort: Sort) -> Any:
    """The first sort key, before age: the score or the number of ratings (0 without any); None: age only."""
    if sort is Sort.SCORE:
        # Written out, not a parameter: only so is the index in this order used.
        return sa.func.coalesce(Action.score, sa.literal_column("0.0"))
    if sort is Sort.RATINGS:
        rated = sa.select(Note.ratings_count).where(Note.id == Action.note_id).scalar_subquery()
        return sa.func.coalesce(rated, 0)
    return None


def _place(column: Any, moment: datetime, action: Action) -> tuple[Any, Any]:
    """The place of any row by this column and the id, and the place of ``action``, to compare with each other."""
    own = sa.tuple_(sa.literal(moment, column.type), sa.literal(action.id, Action.id.type))
    return sa.tuple_(column, Action.id), own


def clauses(sort: Sort, *, backwards: bool = False) -> tuple[Any, ...]:
    """The ORDER BY clauses; ``backwards`` reverses them."""
    if sort is Sort.URGENT:
        places = (Action.urgent_at, Action.id)
        return tuple(place.desc() if backwards else place.asc() for place in places)
    figure, is_descending = _figure(sort), sort is Sort.NEWEST
    keys = [(Action.created_at, is_descending), (Action.id, is_descending)]
    if figure is not None:
        keys = [(figure, True), *keys]
    return tuple(key.desc() if down != backwards else key.asc() for key, down in keys)


def follows(sort: Sort, action: Action, *, backwards: bool = False) -> Any:
    """A condition: the row comes after ``action`` in this order, or before it if ``backwards``."""
    if sort is Sort.URGENT:
        here, place = _place(Action.urgent_at, action.urgent_at or action.created_at, action)
        return here < place if backwards else here > place
    here, place = _place(Action.created_at, action.created_at, action)
    beyond = here < place if (sort is Sort.NEWEST) != backwards else here > place
    figure = _figure(sort)
    if figure is None:
        return beyond
    if sort is Sort.SCORE:
        own: Any = action.score or 0.0
    else:
        rated = sa.select(Note.ratings_count).where(Note.id == action.note_id).scalar_subquery()
        own = sa.func.coalesce(rated, 0)
    if backwards:
        return sa.and_(figure >= own, sa.or_(figure > own, beyond))
    return sa.and_(figure <= own, sa.or_(figure < own, beyond))
