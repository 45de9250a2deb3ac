"""What tells rows apart: their names from each other, and digests from what an open page shows of them.

Names are unique for screen reader users, who hear the buttons and links of similar rows.
"""

import base64
import binascii
import hashlib
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.permissions import Actor
from app.core.review import row_marks
from app.core.review.row_marks import RowMark
from app.web.filters import ago, span

ID_SHOWN = 6
"""How many characters of an id a name shows when nothing else differs."""


@dataclass(frozen=True)
class RowName:
    """A row's name, and facts that distinguish it from rows with the same name; the most useful fact comes first.

    An empty fact is left out. ``id`` is used when all facts are equal.
    """

    name: str
    facts: tuple[str, ...]
    id: uuid.UUID

    @property
    def whole(self) -> str:
        """All facts as text, for a row that is rendered without the other rows of its page."""
        return "".join(f", {fact}" for fact in self.facts if fact) + f", {_short(self.id)}"


def told_apart(rows: Sequence[RowName]) -> list[str]:
    """Return the text to add to each name so that all names of the page differ; an empty string for most.

    A fact that all rows with the same name share is left out, because it does not distinguish them.
    """
    added = [""] * len(rows)
    most = max((len(row.facts) for row in rows), default=0)
    for place in range(most + 1):
        names = [f"{row.name}{more}".casefold() for row, more in zip(rows, added, strict=True)]
        known = Counter(names)
        facts = [_fact(row, place, most) for row in rows]
        differing = {
            name
            for name in known
            if len({fact for fact, own in zip(facts, names, strict=True) if own == name}) > 1
        }
        for index, (name, fact) in enumerate(zip(names, facts, strict=True)):
            if name in differing and fact:
                added[index] += f", {fact}"
    return added


def _fact(row: RowName, place: int, most: int) -> str:
    if place == most:
        return _short(row.id)
    return row.facts[place] if place < len(row.facts) else ""


def _short(identity: uuid.UUID) -> str:
    """The end of an id. Our ids begin with a timestamp, which rows of the same moment share."""
    return f"id …{str(identity)[-ID_SHOWN:]}"


def changed(
    session: Session, actor: Actor, community_id: uuid.UUID, shown: Mapping[uuid.UUID, str]
) -> list[uuid.UUID]:
    """Return the ids of rows that differ from what the page shows (``shown_rows``)."""
    if not shown:
        return []
    marks = row_marks.row_marks(session, actor, community_id, list(shown))
    now = clock.now()
    return [row_id for row_id, mark in marks.items() if _digest(mark, now) != shown[row_id]]


def live_marks(
    session: Session, actor: Actor, community_id: uuid.UUID, ids: Sequence[uuid.UUID]
) -> Mapping[uuid.UUID, str]:
    """Return ``QueueRow.live`` of these actions, by id."""
    marks = row_marks.row_marks(session, actor, community_id, ids)
    now = clock.now()
    return {row_id: f"{_encode(row_id.bytes)}.{_digest(mark, now)}" for row_id, mark in marks.items()}


def _digest(mark: RowMark, now: datetime) -> str:
    times = (
        span(now - mark.due_at) if mark.due_at is not None else "",
        ago(mark.decided_at) if mark.decided_at is not None else "",
        ago(mark.again_at) if mark.again_at is not None else "",
    )
    return _encode(hashlib.blake2b(repr((mark.seen, times)).encode(), digest_size=3).digest())


def shown_rows(text: str) -> dict[uuid.UUID, str]:
    """Parse the poll's parameter: ``QueueRow.live`` of each row on the page, separated by "~". Others are ignored.

    Return the digests by the rows' ids.
    """
    shown = {}
    for live in text.split("~")[: limits.BULK_MAX]:
        encoded_id, _, digest = live.partition(".")
        try:
            shown[uuid.UUID(bytes=base64.urlsafe_b64decode(encoded_id + "=="))] = digest
        except (ValueError, binascii.Error):
            continue
    return shown


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
