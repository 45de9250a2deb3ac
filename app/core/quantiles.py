"""Medians and other quantiles as SQL that SQLite and PostgreSQL both run; SQLite has no function for them."""

from typing import Any

import sqlalchemy as sa


def by_part(rows: sa.Select[*tuple[Any, ...]], *shares: float) -> sa.Select[*tuple[Any, ...]]:
    """Of ``rows``, which have the columns ``part`` and ``value``: (part, count, one quantile per share) each.

    Nearest rank: the smallest value with at least that share of the rows at or below it. ``shares``: 0.0–1.0.
    """
    given = rows.subquery()
    ranked = sa.select(
        given.c.part,
        given.c.value,
        sa.func.row_number().over(partition_by=given.c.part, order_by=given.c.value).label("place"),
        sa.func.count().over(partition_by=given.c.part).label("of"),
    ).subquery()
    # The margin keeps a rounded product, such as 0.7 × 10, from skipping a rank.
    reached = [
        sa.func.min(ranked.c.value).filter(ranked.c.place >= share * ranked.c.of - 1e-6) for share in shares
    ]
    return sa.select(ranked.c.part, sa.func.max(ranked.c.of), *reached).group_by(ranked.c.part)
