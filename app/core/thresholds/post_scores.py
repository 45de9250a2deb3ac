"""The scores that routed each post, packed into one row a post (``PostScores``): written as a post is scored, and read
as arrays of numbers by previews of thresholds.
"""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import PostScores
from app.core.thresholds.routing import Numbers, ScoreColumn, Scored

PARTS = 10_000
"""Scores are stored with four decimals, so they are whole numbers of these parts."""
_ENTRY = np.dtype([("score", "<u2"), ("acting", "<u2")])
"""What is stored of each category: its highest score, and the highest that may lead to Tier 1, 0 for none."""
_ID = np.dtype("V16")
_NO_BYTES: sa.ColumnElement[bytes] = sa.literal_column("''::bytea")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_BEGIN_ON_POSTGRESQL = (datetime(2000, 1, 1, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)


@dataclass(frozen=True)
class Posts:
    """Scored posts of one community, in no order.

    ``ids``: of each, 16 bytes. ``at``: when each was scored, in microseconds since 1970. ``columns``: by category.
    """

    ids: Numbers
    at: Numbers
    columns: Mapping[str, ScoreColumn]

    def ids_at(self, places: Numbers) -> Sequence[uuid.UUID]:
        """The ids of the posts at these places."""
        return [uuid.UUID(bytes=self.ids[place].tobytes()) for place in places.tolist()]


def packed(best: Mapping[str, Scored]) -> dict[str, Any]:
    """The columns ``categories`` and ``scores`` of a post for what routing used; empty if no score is above 0."""
    parts = {
        name: (round(scored.score * PARTS), round((scored.acting or 0.0) * PARTS))
        for name, scored in best.items()
    }
    names = sorted(name for name, (score, _) in parts.items() if score > 0)
    if not names:
        return {}
    return {
        "categories": " ".join(names),
        "scores": np.array([parts[name] for name in names], _ENTRY).tobytes(),
    }


def unpacked(row: PostScores) -> dict[str, Scored]:
    """What ``packed`` was given, without scores of 0."""
    entries = np.frombuffer(row.scores, _ENTRY).tolist()
    return {
        name: Scored(score / PARTS, acting == score, acting / PARTS if 0 < acting < score else None)
        for name, (score, acting) in zip(row.categories.split(" "), entries, strict=True)
    }


def read(session: Session, community_id: uuid.UUID, since: datetime) -> Posts:
    """The posts of the community that were scored since this moment.

    The database joins the rows of all posts with the same categories, so only a few rows reach Python.
    """
    moment = PostScores.scored_at
    joined: tuple[sa.ColumnElement[Any], ...] = (
        (
            sa.func.string_agg(PostScores.scores, _NO_BYTES),
            sa.func.string_agg(sa.func.timestamptz_send(moment), _NO_BYTES),
        )
        if _is_postgresql(session)
        else (sa.func.group_concat(sa.func.hex(PostScores.scores), ""), sa.func.group_concat(moment, ","))
    )
    rows = session.execute(
        sa.select(PostScores.categories, *joined, joined_ids(session, PostScores.request_id))
        .where(PostScores.community_id == community_id, PostScores.scored_at >= since)
        .group_by(PostScores.categories)
    ).all()
    return Posts(
        np.concatenate([np.zeros(0, _ID), *(ids_of(row[3]) for row in rows)]),
        np.concatenate([np.zeros(0, np.int64), *(_moments_of(row[2]) for row in rows)]),
        _columns(rows),
    )


def _columns(rows: Sequence[Any]) -> dict[str, ScoreColumn]:
    parts: defaultdict[str, list[tuple[Numbers, Numbers, Numbers]]] = defaultdict(list)
    count = 0
    for categories, joined, *_ in rows:
        names = categories.split(" ")
        entries = np.frombuffer(_as_bytes(joined), _ENTRY).reshape(-1, len(names))
        places = np.arange(count, count + len(entries))
        count += len(entries)
        for name, column in zip(names, entries.T, strict=True):
            parts[name].append((places, column["score"], column["acting"]))
    columns = {}
    for name, given in parts.items():
        posts, scored, acting = (np.concatenate(column) for column in zip(*given, strict=True))
        columns[name] = ScoreColumn(posts, scored / PARTS, acting / PARTS)
    return columns


def _moments_of(joined: bytes | str) -> Numbers:
    if isinstance(joined, str):
        return np.array(joined.split(","), "datetime64[us]").astype(np.int64)
    return np.frombuffer(joined, ">i8") + _BEGIN_ON_POSTGRESQL


def _as_bytes(joined: bytes | str) -> bytes:
    """SQLite joins hexadecimal digits."""
    return bytes.fromhex(joined) if isinstance(joined, str) else joined


def joined_ids(session: Session, column: Any) -> sa.ColumnElement[Any]:
    """SQL aggregate: the ids of a group as one value, for ``ids_of``."""
    if _is_postgresql(session):
        return sa.func.string_agg(sa.func.uuid_send(column), _NO_BYTES)
    return sa.func.group_concat(column, "")


def ids_of(joined: bytes | str) -> Numbers:
    """The ids that ``joined_ids`` joined, 16 bytes each. SQLite stores an id as its hexadecimal digits."""
    return np.frombuffer(_as_bytes(joined), _ID)


def _is_postgresql(session: Session) -> bool:
    return session.get_bind().dialect.name == "postgresql"


def histogram(column: ScoreColumn, bins: int) -> list[int]:
    """How many scores lie in each of ``bins`` bars over 0.0 to 1.0: above the lower end, up to the upper end."""
    parts = np.rint(column.scores * PARTS).astype(np.int64)
    return [int(count) for count in np.bincount((parts - 1) * bins // PARTS, minlength=bins)]


def microseconds(moment: datetime) -> int:
    """The microseconds from 1970 to this moment, as in ``Posts.at``."""
    return (moment - _EPOCH) // timedelta(microseconds=1)
