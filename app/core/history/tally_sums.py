"""Figures of kinds of tallies that have thousands of names: their sums, and the largest of them.

Each is read by one statement, of the tallies and of the changes that they do not hold yet, so it is exact at every
moment as any other tally. Only names with such changes are looked up one by one.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Tally, TallyChange, TallySum
from app.core.models.insights import MOST_RATINGS, SUMMED, TallyKind


@dataclass(frozen=True)
class Sum:
    """``total`` of all names of a kind, and how many ``names`` count anything at all."""

    total: int = 0
    names: int = 0


def of_community(session: Session, community_id: uuid.UUID) -> Mapping[TallyKind, Sum]:
    """The sums of each kind that has any (``SUMMED``)."""
    pending = _pending(community_id, SUMMED)
    now, before = sa.func.coalesce(Tally.total, 0) + pending.c.change, sa.func.coalesce(Tally.total, 0)
    more = sa.case((now != 0, 1), else_=0) - sa.case((before != 0, 1), else_=0)
    parts = sa.union_all(
        sa.select(TallySum.kind, TallySum.total.label("total"), TallySum.names.label("names")).where(
            TallySum.kind.in_(SUMMED), TallySum.community_id == community_id
        ),
        sa.select(pending.c.kind, pending.c.change, more).outerjoin_from(
            pending, Tally, _is_tally_of(pending, community_id)
        ),
    ).subquery("parts")
    rows = session.execute(
        sa.select(parts.c.kind, sa.func.sum(parts.c.total), sa.func.sum(parts.c.names)).group_by(parts.c.kind)
    )
    found = dict.fromkeys(SUMMED, Sum())
    found.update({TallyKind(kind): Sum(int(total), int(names)) for kind, total, names in rows})
    return found


def most_ratings(session: Session, community_id: uuid.UUID, limit: int) -> list[tuple[str, int]]:
    """The raters with most ratings, at most ``limit``, as (name, ratings), the most first and else by name."""
    pending = _pending(community_id, (TallyKind.RATING,))
    still = (
        sa.select(Tally.name, Tally.total.label("total"))
        .where(
            sa.text(MOST_RATINGS),
            Tally.community_id == community_id,
            Tally.total != 0,
            ~sa.exists().where(pending.c.name == Tally.name),
        )
        .order_by(-Tally.total, Tally.name)
        .limit(limit)
        .subquery("still")
    )
    total = (sa.func.coalesce(Tally.total, 0) + pending.c.change).label("total")
    moving = (
        sa.select(pending.c.name, total)
        .outerjoin_from(pending, Tally, _is_tally_of(pending, community_id))
        .where(total != 0)
        .order_by(total.desc(), pending.c.name)
        .limit(limit)
        .subquery("moving")
    )
    rows = session.execute(sa.union_all(sa.select(still), sa.select(moving)))
    return sorted(((name, int(total)) for name, total in rows), key=lambda row: (-row[1], row[0]))[:limit]


def _pending(community_id: uuid.UUID, kinds: Collection[TallyKind]) -> sa.CTE:
    """What the tallies do not hold yet, by kind and name."""
    return (
        sa.select(
            TallyChange.kind,
            TallyChange.name,
            sa.cast(sa.func.sum(TallyChange.change), sa.BigInteger).label("change"),
        )
        .where(TallyChange.kind.in_(kinds), TallyChange.community_id == community_id)
        .group_by(TallyChange.kind, TallyChange.name)
        .cte("pending")
    )


def _is_tally_of(pending: sa.CTE, community_id: uuid.UUID) -> Any:
    return sa.and_(
        Tally.kind == pending.c.kind,
        Tally.community_id == community_id,
        Tally.day == 0,
        Tally.name == pending.c.name,
    )
