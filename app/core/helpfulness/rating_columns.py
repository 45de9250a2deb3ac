"""Reads a community's ratings as columns of numbers.

The database concatenates a note's ratings into one value, and arrays are cut from that: a million rows through Python
would hold the interpreter's lock so long that all other threads wait.
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Rating
from app.core.scoring import VALUES

PART = 500
"""Notes whose ratings are fetched at a time."""
LEVELS = {level: round(2 * value) for level, value in VALUES.items()}
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
"""PostgreSQL counts microseconds from here."""

BINARY = np.dtype([("rater", ">u8", 2), ("level", "u1"), ("at", ">i8")])
"""One rating as PostgreSQL writes it: 25 bytes. The level is a digit, as in ``TEXT``."""
TEXT = np.dtype([("rater", "S32"), ("level", "u1"), ("at", "S26")])
"""One rating as SQLite writes it: 59 characters, the rater's id in hex, twice the value, the time (UTC)."""

Numbers = npt.NDArray[np.int32]
Id = npt.NDArray[np.uint64]
"""Ids as two numbers each."""


class Counted(NamedTuple):
    """A note whose ratings are read: those of this ``version`` count, and for their raters until ``prompt_until``."""

    id: uuid.UUID
    version: int
    prompt_until: datetime


@dataclass(frozen=True)
class Columns:
    """The ratings, one entry each: numbers of their notes and raters, values, and whether they were in time.

    ``raters`` are in the order of their numbers.
    """

    note: Numbers
    rater: Numbers
    value: npt.NDArray[np.float32]
    prompt: npt.NDArray[np.bool_]
    raters: list[uuid.UUID]


def read(session: Session, community_id: uuid.UUID, notes: Sequence[Counted]) -> Columns:
    """Every rating of these notes that counts. Raises ValueError for a level of no known value."""
    binary = session.get_bind().dialect.name == "postgresql"
    if binary:
        # All rows will be fetched. Else a cursor is planned for a quick start: along an index, with a random look at
        # the table for each rating.
        session.connection().exec_driver_sql("SET LOCAL cursor_tuple_fraction = 1")
    numbers = {note.id: number for number, note in enumerate(notes)}
    written, until = (_binary(), _microseconds(notes)) if binary else (_text(), _texts(notes))
    rows = session.execute(
        sa.select(Rating.note_id, Rating.note_version, written)
        .where(Rating.community_id == community_id, Rating.exclusion_reason.is_(None))
        .group_by(Rating.note_id, Rating.note_version)
        .execution_options(yield_per=PART)
    )
    note, rater, level, prompt = [], [], [], []
    for part in rows.partitions():
        counting = [
            (numbers[note_id], given if binary else given.encode())
            for note_id, version, given in part
            if note_id in numbers and notes[numbers[note_id]].version == version
        ]
        kind = BINARY if binary else TEXT
        record = np.frombuffer(b"".join(given for _, given in counting), kind)
        sizes = [len(given) // kind.itemsize for _, given in counting]
        of_note = np.repeat(np.array([number for number, _ in counting], np.int32), sizes)
        note.append(of_note)
        rater.append(record["rater"].astype(np.uint64) if binary else _from_hex(record["rater"]))
        level.append(_checked(record["level"]))
        prompt.append(record["at"] < until[of_note])
    if not any(map(len, note)):
        nothing = np.zeros(0, np.int32)
        return Columns(nothing, nothing, np.zeros(0, np.float32), np.zeros(0, np.bool_), [])
    ids = np.concatenate(rater)
    rater.clear()
    raters, place = numbered(ids)
    return Columns(
        np.concatenate(note),
        place,
        np.multiply(np.concatenate(level), 0.5, dtype=np.float32),
        np.concatenate(prompt),
        [uuid.UUID(int=(high << 64) | low) for high, low in raters.tolist()],
    )


def numbered(ids: Id) -> tuple[Id, Numbers]:
    """The distinct ids, ascending, and the number of each entry among them. There is at least one."""
    # The second half of our ids is random, so it nearly always differs; numbers are sorted much faster than pairs.
    order = np.argsort(ids[:, 1])
    # One half at a time: a worker's memory is near its peak here.
    begins = _differ(ids[order, 1])
    if np.any(_differ(ids[order, 0]) & ~begins):
        order = np.lexsort((ids[:, 1], ids[:, 0]))
        begins = _differ(ids[order, 1]) | _differ(ids[order, 0])
    distinct = ids[order[begins]]
    ascending = np.lexsort((distinct[:, 1], distinct[:, 0]))
    rank = np.empty(len(distinct), np.int32)
    rank[ascending] = np.arange(len(distinct), dtype=np.int32)
    place = np.empty(len(ids), np.int32)
    place[order] = rank[np.cumsum(begins, dtype=np.int32) - 1]
    return distinct[ascending], place


def _differ(column: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Whether each entry differs from the one before it; the first one does."""
    differ = np.ones(len(column), np.bool_)
    np.not_equal(column[1:], column[:-1], out=differ[1:])
    return differ


def _binary() -> sa.ColumnElement[Any]:
    """SQL: ratings in the form of ``BINARY``."""
    level = sa.case(
        {level: sa.literal_column(f"'\\x3{number}'::bytea") for level, number in LEVELS.items()},
        value=Rating.helpfulness_level,
        else_=sa.literal_column("'?'::bytea"),
    )
    record: sa.ColumnElement[Any] = sa.func.uuid_send(Rating.rater_id, type_=sa.LargeBinary())
    record = record.op("||")(level).op("||")(sa.func.timestamptz_send(Rating.created_at))
    return sa.func.string_agg(record, sa.literal_column("''::bytea"), type_=sa.LargeBinary())


def _text() -> sa.ColumnElement[Any]:
    """SQL: ratings in the form of ``TEXT``."""
    rater: sa.ColumnElement[str] = sa.cast(Rating.rater_id, sa.Text)
    level = sa.case(
        {level: str(number) for level, number in LEVELS.items()}, value=Rating.helpfulness_level, else_="?"
    )
    at = sa.func.substr(sa.type_coerce(Rating.created_at, sa.Text).concat(".000000"), 1, 26)
    return sa.func.aggregate_strings(rater.concat(level).concat(at), "")


def _microseconds(notes: Sequence[Counted]) -> Any:
    return np.array([(note.prompt_until - EPOCH) // timedelta(microseconds=1) for note in notes], np.int64)


def _texts(notes: Sequence[Counted]) -> Any:
    """Times in the form of ``TEXT``, which sort like the times."""
    moments = (note.prompt_until.astimezone(UTC).replace(tzinfo=None) for note in notes)
    return np.array([at.isoformat(" ", "microseconds").encode() for at in moments] or [b""], "S26")


def _from_hex(written: Any) -> Id:
    return np.frombuffer(bytes.fromhex(written.tobytes().decode()), ">u8").reshape(-1, 2).astype(np.uint64)


def _checked(digits: Any) -> npt.NDArray[np.int8]:
    level: npt.NDArray[np.int8] = digits.astype(np.int8) - np.int8(ord("0"))
    if np.any((level < 0) | (level > 2)):
        raise ValueError("ratings: there is a helpfulness level of no known value")
    return level
