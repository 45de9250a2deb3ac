"""Counts that triggers of the database keep with every change, so that no figure needs a scan.

Each change of a counted row writes what it adds in a row of its own; the sweep adds these up every 30 seconds. What is
read is the sum of both, so it is exact at every moment, also within the transaction of the change.
"""

import uuid
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, cast

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.models import Tally, TallyChange
from app.core.models.insights import TallyKind

BATCH = 20_000
"""Changes that are added up in one transaction."""
DAYS_KEPT = 100
"""Tallies by day are for previews of thresholds, which look 90 days back."""
_DAY_SECONDS = 86_400
_EPOCH = date(1970, 1, 1)


def day_of(moment: datetime) -> int:
    """The day of a moment, since 1970 in UTC."""
    return int(moment.timestamp()) // _DAY_SECONDS


def begin_of(day: int) -> datetime:
    """The first moment of a day."""
    return datetime.combine(_EPOCH + timedelta(days=day), datetime.min.time(), UTC)


def read(
    session: Session,
    kinds: Collection[TallyKind],
    communities: Collection[uuid.UUID] | None,
    names: Collection[str] | None = None,
) -> dict[TallyKind, dict[str, int]]:
    """The totals by kind and name, of these communities; None: of all.

    ``names``: only of these, of kinds that are not counted by day; so no other is read. ``tally_sums`` has the sums of
    kinds with thousands of names.
    """
    rows = counted(kinds, communities, names=names)
    found: dict[TallyKind, dict[str, int]] = {kind: {} for kind in kinds}
    for kind, name, total in session.execute(
        sa.select(rows.c.kind, rows.c.name, sa.func.sum(rows.c.total)).group_by(rows.c.kind, rows.c.name)
    ):
        found[TallyKind(kind)][name] = int(total)
    return found


def total(
    kind: TallyKind, communities: Collection[uuid.UUID] | None, names: Collection[str] | None = None
) -> sa.Select[Any]:
    """Select the total of a kind, of these communities and names; None: of all. Lists say with it how long they are."""
    rows = counted((kind,), communities)
    found = sa.select(sa.cast(sa.func.coalesce(sa.func.sum(rows.c.total), 0), sa.BigInteger))
    return found if names is None else found.where(rows.c.name.in_(names))


def by_day(
    session: Session,
    kind: TallyKind,
    community_id: uuid.UUID,
    first: int,
    days: Collection[int] | None = None,
) -> Mapping[int, Mapping[str, int]]:
    """The totals of a kind that is counted by day, by day and name, from this day on; or of these days alone."""
    rows = counted((kind,), (community_id,), first, days=days)
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for day, name, total in session.execute(
        sa.select(rows.c.day, rows.c.name, sa.func.sum(rows.c.total)).group_by(rows.c.day, rows.c.name)
    ):
        found[day][name] = int(total)
    return found


def by_name(
    session: Session,
    kind: TallyKind,
    community_id: uuid.UUID,
    first: int,
    days: Collection[int] | None = None,
) -> Mapping[str, int]:
    """The totals of a kind that is counted by day, by name, over all days from this one on; or of these days alone."""
    rows = counted((kind,), (community_id,), first, days=days)
    return {
        name: int(total)
        for name, total in session.execute(
            sa.select(rows.c.name, sa.func.sum(rows.c.total)).group_by(rows.c.name)
        )
    }


def counted(
    kinds: Collection[TallyKind],
    communities: Collection[uuid.UUID] | None,
    first: int = 0,
    days: Collection[int] | None = None,
    names: Collection[str] | None = None,
) -> sa.Subquery:
    """The tallies and the changes that they do not hold yet, as rows of kind, day, name and total."""

    def part(model: type[Tally | TallyChange], total: Any) -> sa.Select[Any]:
        rows = sa.select(model.kind, model.day, model.name, total.label("total")).where(
            model.kind.in_(kinds), model.day >= first
        )
        if days is not None:
            rows = rows.where(model.day.in_(days))
        if names is not None:
            # With the day the primary key leads to each name.
            rows = rows.where(model.day == 0, model.name.in_(names))
        return rows if communities is None else rows.where(model.community_id.in_(communities))

    return sa.union_all(part(Tally, Tally.total), part(TallyChange, TallyChange.change)).subquery("counted")


def has_changes(session: Session) -> bool:
    """Whether there is anything to add up."""
    return session.scalar(sa.select(TallyChange.id).limit(1)) is not None


def add_up(session: Session) -> bool:
    """Put the next batch of changes into the tallies. Return whether it was a full one."""
    batch = sa.select(TallyChange.id).order_by(TallyChange.id).limit(BATCH)
    # The rows that this statement removed are the ones to add: others may be committed meanwhile.
    gone = session.execute(
        sa.delete(TallyChange)
        .where(TallyChange.id.in_(batch))
        .returning(
            TallyChange.kind, TallyChange.community_id, TallyChange.day, TallyChange.name, TallyChange.change
        )
        .execution_options(synchronize_session=False)
    ).all()
    sums: Counter[tuple[str, uuid.UUID, int, str]] = Counter()
    for kind, community_id, day, name, change in gone:
        sums[kind, community_id, day, name] += change
    rows = [
        {"kind": kind, "community_id": community_id, "day": day, "name": name, "total": total}
        for (kind, community_id, day, name), total in sorted(sums.items())
        if total
    ]
    # One statement on PostgreSQL: its trigger locks the sums of the tallies after all tallies, so two
    # transactions that add up at the same time lock in the same order.
    bulk.insert(session.connection(), cast(sa.Table, Tally.__table__), rows, adds_to="total")
    return len(gone) == BATCH


def prune(session: Session, now: datetime) -> None:
    """Forget the tallies by day that no preview reads any more."""
    session.execute(
        sa.delete(Tally)
        .where(Tally.kind.in_((TallyKind.SCORED, TallyKind.BAR)), Tally.day < day_of(now) - DAYS_KEPT)
        .execution_options(synchronize_session=False)
    )
