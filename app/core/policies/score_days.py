"""The scores of each day that previews of thresholds route, packed, with the outcomes of their requests.

A packed day has a row for each score that could route its request under any thresholds. Requests with scores on more
than one day are named and left out: they are read from their rows.
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

from app.core import number_columns
from app.core.history import packed_days
from app.core.listed import is_one_of
from app.core.models import Action, Score
from app.core.models.packed_days import DayKind
from app.core.number_columns import Column
from app.core.periods import begin_of, day_of
from app.core.policies import outcomes

DAYS = 90
"""So far back previews look."""
IS_HIGHEST, IS_ACTING, IS_CAPABLE = 1, 2, 4
"""Flags of a score."""
PARTS = 10_000
"""Scores are stored with four decimals, so that nearly always whole numbers stand for them."""
ID_BYTES = 16
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

# A literal, not a bound parameter: SQLite uses a partial index only if the statement contains its condition.
ZERO: sa.ColumnElement[float] = sa.literal_column("0")
PREVIEWED = sa.or_(sa.and_(Score.is_highest, Score.score > ZERO), Score.is_acting)
"""SQL condition: previews read this score. The index ``ix_scores_previewed`` has these alone."""


@dataclass(frozen=True)
class ScoreDay:
    """One packed day. A request is its place in ``at`` and ``outcome``.

    ``categories``: their names; ``ends``: where the scores of each end, as they stand one category after the other.
    Of each score: ``request``, ``score``, ``flags``, and ``delay``, the microseconds from its request's first score.
    Of each request: ``at``, when it got its first score, in microseconds since 1970; ``outcome``, the number of its
    outcome, 0 without an action. ``apart``: requests that are left out.
    """

    categories: Sequence[str]
    ends: Column
    request: Column
    score: Column
    flags: Column
    delay: Column
    at: Column
    outcome: Column
    apart: Sequence[uuid.UUID]
    is_in_parts: bool
    """Whether the scores were stored as whole ``PARTS``."""


def first_day(now: datetime) -> int:
    """The first day that previews read."""
    return day_of(now - timedelta(days=DAYS))


def microseconds(moment: datetime) -> int:
    """The microseconds from 1970 to this moment."""
    return (moment - _EPOCH) // _MICROSECOND


def moment_of(number: int) -> datetime:
    """The moment so many microseconds after the beginning of 1970."""
    return _EPOCH + timedelta(microseconds=number)


def pack(session: Session, community_id: uuid.UUID, day: int) -> int:
    """Pack the scores of this day, and return how many rows were read."""
    packed_days.begin(session, community_id, DayKind.SCORES, day)
    begin, end = begin_of(day), begin_of(day + 1)
    rows = session.execute(
        sa.select(
            Score.request_id,
            Score.category,
            Score.score,
            Score.is_highest,
            Score.is_acting,
            Score.tier1_capable,
            Score.created_at,
        )
        .where(
            Score.community_id == community_id, PREVIEWED, Score.created_at >= begin, Score.created_at < end
        )
        .order_by(Score.created_at, Score.request_id)
    ).all()
    if not rows:
        packed_days.store(session, community_id, DayKind.SCORES, day, b"")
        return 0
    requests = list({row.request_id: None for row in rows})
    on_other_days = set(
        session.scalars(
            sa.select(Score.request_id)
            .where(
                is_one_of(session, Score.request_id, requests),
                PREVIEWED,
                sa.or_(Score.created_at < begin, Score.created_at >= end),
            )
            .distinct()
        )
    )
    known = _outcomes(session, requests)
    places = {
        request_id: place
        for place, request_id in enumerate(one for one in requests if one not in on_other_days)
    }
    data = _columns([row for row in rows if row.request_id in places], places, known, on_other_days)
    ids = b"".join(request_id.bytes for request_id in places)
    packed_days.store(session, community_id, DayKind.SCORES, day, number_columns.to_bytes(data), ids)
    return len(rows)


def pack_empty(session: Session, community_id: uuid.UUID, days: Sequence[int]) -> Sequence[int]:
    """Pack those of these days that came before the first score, all at once; return the others. The days are sorted.

    A new community has ninety of them.
    """
    early = _before_first_score(session, community_id, days)
    if not early:
        return days
    packed_days.begin(session, community_id, DayKind.SCORES, *early)
    # Read again: a score that was noted meanwhile has lost its note.
    empty = _before_first_score(session, community_id, early)
    if empty:
        packed_days.store_empty(session, community_id, DayKind.SCORES, empty)
    for day in early[len(empty) :]:
        pack(session, community_id, day)
    return days[len(early) :]


def _before_first_score(session: Session, community_id: uuid.UUID, days: Sequence[int]) -> Sequence[int]:
    first = session.scalar(
        sa.select(sa.func.min(Score.created_at)).where(Score.community_id == community_id, PREVIEWED)
    )
    return days if first is None else [day for day in days if day < day_of(first)]


def _outcomes(session: Session, requests: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, int]:
    rows = session.execute(
        sa.select(Action.request_id, sa.func.min(outcomes.code()))
        .where(is_one_of(session, Action.request_id, requests), outcomes.opened_by_service())
        .group_by(Action.request_id)
    )
    return {request_id: code for request_id, code in rows}


def _columns(
    rows: Sequence[Any],
    places: Mapping[uuid.UUID, int],
    known: Mapping[uuid.UUID, int],
    apart: set[uuid.UUID],
) -> list[Column]:
    by_category: defaultdict[str, list[Any]] = defaultdict(list)
    firsts: dict[uuid.UUID, int] = {}
    for row in rows:
        by_category[row.category].append(row)
        # Rows come in the order of time.
        firsts.setdefault(row.request_id, microseconds(row.created_at))
    ordered = [row for category in sorted(by_category) for row in by_category[category]]
    flags = [
        IS_HIGHEST * row.is_highest + IS_ACTING * row.is_acting + IS_CAPABLE * row.tier1_capable
        for row in ordered
    ]
    delays = [microseconds(row.created_at) - firsts[row.request_id] for row in ordered]
    names = "\n".join(sorted(by_category)).encode()
    return [
        np.frombuffer(names, np.uint8),
        np.cumsum([len(by_category[category]) for category in sorted(by_category)]).astype("<u4"),
        number_columns.narrowed(np.array([places[row.request_id] for row in ordered], np.int64)),
        _narrowed_scores(np.array([row.score for row in ordered], "<f8")),
        np.array(flags, np.uint8),
        number_columns.narrowed(np.array(delays if any(delays) else [], np.int64)),
        np.array([firsts[request_id] for request_id in places], "<i8"),
        np.array([known.get(request_id, 0) for request_id in places], np.uint8),
        np.frombuffer(b"".join(sorted(request_id.bytes for request_id in apart)), np.uint8),
    ]


def _narrowed_scores(scores: Column) -> Column:
    """Scores as whole parts of ``PARTS``, if every one of them is given back exactly."""
    parts = np.rint(scores * PARTS)
    is_exact = bool(np.all((parts >= 0) & (parts <= PARTS) & (parts / PARTS == scores)))
    return parts.astype("<u2") if is_exact else scores


def unpacked(data: bytes) -> ScoreDay | None:
    """The packed day; None of a day without scores."""
    if not data:
        return None
    names, ends, request, score, flags, delay, at, outcome, apart = number_columns.from_bytes(data)
    is_in_parts = score.dtype.kind == "u"
    if is_in_parts:
        score = score / PARTS
    if not len(delay):
        delay = np.zeros(len(score), np.uint8)
    return ScoreDay(
        names.tobytes().decode().split("\n") if len(names) else [],
        ends,
        request,
        score,
        flags,
        delay,
        at,
        outcome,
        [
            uuid.UUID(bytes=apart[place : place + ID_BYTES].tobytes())
            for place in range(0, len(apart), ID_BYTES)
        ],
        is_in_parts,
    )
