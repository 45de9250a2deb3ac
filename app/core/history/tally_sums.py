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
    found = dict.fromkeys(SUMMED, Sum())
    for kind, total, names in session.execute(_SUMS, {"community": community_id}):
        found[TallyKind(kind)] = Sum(int(total), int(names))
    return found


def most_ratings(session: Session, community_id: uuid.UUID, limit: int) -> list[tuple[str, int]]:
    """The raters with most ratings, at most ``limit``, as (name, ratings), the most first and else by name."""
    rows = session.execute(_MOST, {"community": community_id, "most": limit})
    return sorted(((name, int(total)) for name, total in rows), key=lambda row: (-row[1], row[0]))[:limit]


_COMMUNITY: sa.BindParameter[uuid.UUID] = sa.bindparam("community", type_=sa.Uuid())
_MOST_ROWS = sa.bindparam("most", type_=sa.Integer())


def _pending(kinds: Collection[TallyKind]) -> sa.CTE:
    """What the tallies do not hold yet, by kind and name."""
    change = sa.cast(sa.func.sum(TallyChange.change), sa.BigInteger)
    return (
        sa.select(TallyChange.kind, TallyChange.name, change.label("change"))
        .where(TallyChange.kind.in_(kinds), TallyChange.community_id == _COMMUNITY)
        .group_by(TallyChange.kind, TallyChange.name)
        .cte("pending")
    )


def _with_tallies(pending: sa.CTE, *columns: Any) -> sa.Select[Any]:
    """Select of the pending changes and of their tallies, which a new name has not."""
    is_its = sa.and_(
        Tally.kind == pending.c.kind,
        Tally.community_id == _COMMUNITY,
        Tally.day == 0,
        Tally.name == pending.c.name,
    )
    return sa.select(*columns).outerjoin_from(pending, Tally, is_its)


def _sums() -> sa.Select[Any]:
    pending = _pending(SUMMED)
    before = sa.func.coalesce(Tally.total, 0)
    names = sa.case((before + pending.c.change != 0, 1), else_=0) - sa.case((before != 0, 1), else_=0)
    parts = sa.union_all(
        sa.select(TallySum.kind, TallySum.total.label("total"), TallySum.names.label("names")).where(
            TallySum.kind.in_(SUMMED), TallySum.community_id == _COMMUNITY
        ),
        _with_tallies(pending, pending.c.kind, pending.c.change, names),
    ).subquery("parts")
    return sa.select(parts.c.kind, sa.func.sum(parts.c.total), sa.func.sum(parts.c.names)).group_by(
        parts.c.kind
    )


def _most() -> sa.CompoundSelect[Any]:
    """The first of those whose tally is all there is, from the index in their order, and the first of all others."""
    pending = _pending((TallyKind.RATING,))
    still = (
        sa.select(Tally.name, Tally.total.label("total"))
        .where(
            sa.text(MOST_RATINGS),
            Tally.community_id == _COMMUNITY,
            Tally.total != 0,
            # Not EXISTS: PostgreSQL looks these up in a hash, however few it expects.
            Tally.name.not_in(sa.select(pending.c.name)),
        )
        .order_by(-Tally.total, Tally.name)
        .limit(_MOST_ROWS)
        .subquery("still")
    )
    total = (sa.func.coalesce(Tally.total, 0) + pending.c.change).label("total")
    moving = (
        _with_tallies(pending, pending.c.name, total)
        .where(total != 0)
        .order_by(total.desc(), pending.c.name)
        .limit(_MOST_ROWS)
        .subquery("moving")
    )
    return sa.union_all(sa.select(still), sa.select(moving))


# Made once: to put them together would take as long as to run them.
_SUMS, _MOST = _sums(), _most()
