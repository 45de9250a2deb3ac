"""Medians and other quantiles, by nearest rank: of numbers, and in SQL, for which SQLite has no function."""

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import sqlalchemy as sa

Number = TypeVar("Number", int, float)


def nearest(values: Sequence[Number], share: float) -> Number | None:
    """The smallest of the sorted values with at least that share of them at or below it; None without values."""
    return values[math.ceil(share * len(values) - 1e-6) - 1] if values else None


def by_part(rows: sa.Select[*tuple[Any, ...]], *shares: float) -> sa.Select[*tuple[Any, ...]]:
    """SELECT of (part, count, one quantile per share) per ``part``; ``rows`` has columns ``part`` and ``value``.

    Nearest rank: the smallest value with at least that share of the rows at or below it. ``shares``: 0.0–1.0.
    """
    source = rows.subquery()
    ranked = sa.select(
        source.c.part,
        source.c.value,
        sa.func.row_number().over(partition_by=source.c.part, order_by=source.c.value).label("place"),
        sa.func.count().over(partition_by=source.c.part).label("of"),
    ).subquery()
    # The small margin keeps a rounded product, such as 0.7 × 10, from skipping a rank.
    quantiles = [
        sa.func.min(ranked.c.value).filter(ranked.c.place >= share * ranked.c.of - 1e-6) for share in shares
    ]
    return sa.select(ranked.c.part, sa.func.max(ranked.c.of), *quantiles).group_by(ranked.c.part)
