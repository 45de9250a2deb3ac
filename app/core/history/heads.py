"""The heads of the chains, exported once a day, so that the history is compared with something outside the database.

A person with access to the database could re-link a whole chain after an edit, or remove its end with all that is
noted of it: then it verifies, but its exported heads are missing (docs/run/reliability.md).
"""

import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.errors import Invalid
from app.core.history import chain
from app.core.models import Community, HistoryEntry, RetentionMark


@dataclass(frozen=True)
class Head:
    """The last entry of a community's history on a day (UTC): its number, its hash and when it was written."""

    day: date
    community_id: uuid.UUID
    number: int
    hash: str
    at: datetime


def on_day(session: Session, day: date) -> list[Head]:
    """The heads of all chains as they are now; one bounded query for each community."""
    communities = session.scalars(sa.select(Community.id).order_by(Community.id)).all()
    return [
        Head(day, community_id, last.number, last.hash, last.at)
        for community_id in communities
        if (last := chain.last(session, community_id)) is not None
    ]


def as_line(day: date, heads: Sequence[Head]) -> bytes:
    """The heads of one day as one line of JSON: what is appended to the file, and sent to the webhook."""
    rows = [
        {
            "community_id": str(head.community_id),
            "number": head.number,
            "hash": head.hash,
            "at": clock.iso(head.at),
        }
        for head in heads
    ]
    return json.dumps({"day": day.isoformat(), "heads": rows}, separators=(",", ":")).encode() + b"\n"


def parse(lines: Iterable[bytes]) -> Iterator[Head]:
    """Read lines that ``as_line`` wrote. Empty lines are skipped.

    Raises:
        Invalid: a line is something else; ``file`` names its number.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            exported: Mapping[str, Any] = json.loads(line)
            day = date.fromisoformat(exported["day"])
            rows = [
                Head(
                    day,
                    uuid.UUID(head["community_id"]),
                    int(head["number"]),
                    str(head["hash"]),
                    datetime.fromisoformat(head["at"]).astimezone(UTC),
                )
                for head in exported["heads"]
            ]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
            raise Invalid.field("file", f"has no exported heads in line {number}") from None
        yield from rows


def missing(
    session: Session, community_id: uuid.UUID, heads: Iterable[Head], kept_since: datetime
) -> str | None:
    """What a chain lacks of its exported heads, the earliest first, or None.

    ``kept_since``: the upkeep may have removed entries that are older.
    """
    for head in sorted(heads, key=lambda head: (head.number, head.day)):
        where = f"entry {head.number}, exported on {head.day}"
        found = session.scalar(
            sa.select(HistoryEntry.hash).where(
                HistoryEntry.community_id == community_id, HistoryEntry.number == head.number
            )
        )
        if found is None:
            # Read after the entry, which the upkeep may have removed a moment ago.
            mark = session.get(RetentionMark, community_id, populate_existing=True)
            if mark is None or head.number > mark.history_number:
                return f"{where}, is missing"
            if head.at >= kept_since:
                return f"{where}, was removed before its time"
            if head.number < mark.history_number:
                continue
            found = mark.history_hash
        if found != head.hash:
            return f"{where}, is another one now"
    return None
