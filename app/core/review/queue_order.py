"""The orders of the review queue, and what comes before or after a row in each.

Pages of the queue go on from a row, so no row is counted off to be skipped: every order ends with the id.
"""

from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from app.core.models import Action, Note


class Sort(StrEnum):
    """How the queue is ordered."""

    OLDEST = "oldest"
    NEWEST = "newest"
    SCORE = "score"
    RATINGS = "ratings"


def _figure(sort: Sort) -> Any:
    """What an order goes by before age: a score or a number of ratings, 0 while there is none; None: age alone."""
    if sort is Sort.SCORE:
        return sa.func.coalesce(Action.score, 0.0)
    if sort is Sort.RATINGS:
        rated = sa.select(Note.ratings_count).where(Note.id == Action.note_id).scalar_subquery()
        return sa.func.coalesce(rated, 0)
    return None


def clauses(sort: Sort, *, backwards: bool = False) -> tuple[Any, ...]:
    """What the rows are ordered by; ``backwards``: from the last of them to the first."""
    figure, falls = _figure(sort), sort is Sort.NEWEST
    keys = [(Action.created_at, falls), (Action.id, falls)]
    if figure is not None:
        keys = [(figure, True), *keys]
    return tuple(key.desc() if down != backwards else key.asc() for key, down in keys)


def follows(sort: Sort, action: Action, *, backwards: bool = False) -> Any:
    """Whether a row comes after ``action`` in this order; ``backwards``: before it."""
    here = sa.tuple_(Action.created_at, Action.id)
    place = sa.tuple_(
        sa.literal(action.created_at, Action.created_at.type), sa.literal(action.id, Action.id.type)
    )
    beyond = here < place if (sort is Sort.NEWEST) != backwards else here > place
    figure = _figure(sort)
    if figure is None:
        return beyond
    if sort is Sort.SCORE:
        own: Any = action.score or 0.0
    else:
        rated = sa.select(Note.ratings_count).where(Note.id == action.note_id).scalar_subquery()
        own = sa.func.coalesce(rated, 0)
    past = figure > own if backwards else figure < own
    return sa.or_(past, sa.and_(figure == own, beyond))
