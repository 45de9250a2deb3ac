"""Finished days packed into one row each: which are due, how they are written, and what has changed since.

A figure reads a packed day in place of its rows. It stays right by the changes of the day that triggers note
(``DayChange``): the packer takes away those that it sees and reads the rows afterwards, so a change that it cannot see
yet keeps its note, and who reads the packed day sees the note and reads the rows (decision 0064).
"""

import uuid
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.core.models import Community, DayChange, PackedDay
from app.core.models.packed_days import DayKind
from app.core.periods import day_of

_SILENT = {"synchronize_session": False}


def due(session: Session, now: datetime) -> Sequence[uuid.UUID]:
    """The communities with a finished day that is not packed, or has changed since."""
    today = day_of(now)
    packed = (
        sa.select(sa.func.count())
        .where(
            PackedDay.community_id == Community.id,
            PackedDay.kind.in_([kind.value for kind in DayKind]),
            PackedDay.day == today - 1,
        )
        .scalar_subquery()
    )
    changed = sa.exists().where(DayChange.community_id == Community.id, DayChange.day < today)
    return session.scalars(
        sa.select(Community.id).where(sa.or_(packed < len(DayKind), changed)).order_by(Community.id)
    ).all()


def days_due(
    session: Session, community_id: uuid.UUID, kind: DayKind, first: int, now: datetime
) -> Sequence[int]:
    """The finished days from ``first`` on that are not packed or have changed since, yesterday last.

    Changes of days before are forgotten: nobody reads those.
    """
    today = day_of(now)
    own = (PackedDay.community_id == community_id, PackedDay.kind == kind.value)
    packed = session.scalars(sa.select(PackedDay.day).where(*own, PackedDay.day >= first)).all()
    changes = (DayChange.community_id == community_id, DayChange.kind == kind.value)
    changed = session.scalars(sa.select(DayChange.day).where(*changes, DayChange.day >= first).distinct())
    found = (set(range(first, today)) - set(packed)) | {day for day in changed if day < today}
    return sorted(found)


def forget_before(session: Session, community_id: uuid.UUID, kind: DayKind, first: int) -> None:
    """Remove the packed days before ``first``, and what was noted of them."""
    for model in (PackedDay, DayChange):
        session.execute(
            sa.delete(model)
            .where(model.community_id == community_id, model.kind == kind.value, model.day < first)
            .execution_options(**_SILENT)
        )


def begin(session: Session, community_id: uuid.UUID, kind: DayKind, *days: int) -> None:
    """Take away what was noted of these days. Their rows are to be read by later statements, and not before."""
    session.execute(
        sa.delete(DayChange)
        .where(DayChange.community_id == community_id, DayChange.kind == kind.value, DayChange.day.in_(days))
        .execution_options(**_SILENT)
    )


def store(
    session: Session, community_id: uuid.UUID, kind: DayKind, day: int, data: bytes, ids: bytes | None = None
) -> None:
    """Write the packed day, in place of the one before."""
    _store(session, community_id, kind, [day], data, ids)


def store_empty(session: Session, community_id: uuid.UUID, kind: DayKind, days: Iterable[int]) -> None:
    """Write that these days, one or more, have nothing to pack."""
    _store(session, community_id, kind, days, b"", None)


def _store(
    session: Session,
    community_id: uuid.UUID,
    kind: DayKind,
    days: Iterable[int],
    data: bytes,
    ids: bytes | None,
) -> None:
    insert: Any = postgresql.insert if session.get_bind().dialect.name == "postgresql" else sqlite.insert
    adding = insert(PackedDay.__table__)
    session.connection().execute(
        adding.on_conflict_do_update(
            index_elements=["community_id", "kind", "day"],
            set_={
                "version": PackedDay.version + 1,
                "data": adding.excluded.data,
                "ids": adding.excluded.ids,
            },
        ),
        [
            {
                "community_id": community_id,
                "kind": kind.value,
                "day": day,
                "version": 1,
                "data": data,
                "ids": ids,
            }
            for day in days
        ],
    )


def changes_of(
    community_id: uuid.UUID, kind: DayKind, stretches: Sequence[tuple[int, int]]
) -> sa.Select[tuple[uuid.UUID]]:
    """Select the ids of what has changed on the days of these stretches, each up to the day after its last one."""
    of_days = (sa.and_(DayChange.day >= first, DayChange.day < end) for first, end in stretches)
    return sa.select(DayChange.request_id).where(  # type: ignore[return-value]  # none of them is missing
        DayChange.community_id == community_id,
        DayChange.kind == kind.value,
        DayChange.request_id.is_not(None),
        sa.or_(sa.false(), *of_days),
    )


def runs(days: Collection[int]) -> Sequence[tuple[int, int]]:
    """The days as stretches of neighbours, each from its first day up to the day after its last one."""
    found: list[tuple[int, int]] = []
    for day in sorted(days):
        if found and found[-1][1] == day:
            found[-1] = found[-1][0], day + 1
        else:
            found.append((day, day + 1))
    return found
