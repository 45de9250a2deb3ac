"""Reads a community's ratings as arrays at one moment, with the other facts that scoring needs."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.helpfulness import eligibility
from app.core.models import Action, Note, Panel, Rating, Request
from app.core.scoring import GRAVE_MARGIN, VALUES, Camps, Facts, FloatArray, IntArray, Regime
from app.core.vocabulary import IN_REVIEW, ActionState, Classification, NoteStatus, PanelOutcome

PROMPT = timedelta(hours=48)
"""A rating counts for its rater's helpfulness if made within this time after the note (docs/consensus.md)."""
PART = 500
"""Notes whose ratings are fetched at a time."""


class ReadNote(NamedTuple):
    """A note with ratings, as the snapshot read it."""

    id: uuid.UUID
    version: int
    rating_changes: int
    author_id: uuid.UUID
    classification: Classification
    status: NoteStatus
    created_at: datetime
    status_since: datetime | None
    status_locked_at: datetime | None
    locked: bool
    rationale: bool
    intercept: float | None
    helpfulness_score: int
    status_rule: str | None


@dataclass(frozen=True)
class Snapshot:
    """Notes and raters by number, and the ratings over those numbers, one entry per rating.

    ``under_review`` are the numbers of rationales whose action is under review, ``panels`` of those that a drawn panel
    decides or has decided.
    """

    notes: Sequence[ReadNote]
    raters: Sequence[uuid.UUID]
    note_numbers: IntArray
    rater_numbers: IntArray
    values: FloatArray
    facts: Facts
    under_review: frozenset[int]
    panels: frozenset[int]
    settings: CommunitySettings


def take(session: Session, community_id: uuid.UUID, regime: Regime, camps: Camps) -> Snapshot:
    """Read a community's ratings. ``regime`` is that of the previous fit, ``camps`` what previous fits found.

    The session must be new.
    """
    if session.get_bind().dialect.name == "postgresql":
        # Several statements must see one moment. A transaction of SQLite always does.
        session.connection().exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    settings = community_settings.read(session, community_id)
    notes = _notes(session, community_id)
    columns = _ratings(session, community_id, notes)
    raters, rater_numbers = np.unique(columns["rater"], return_inverse=True)
    numbers = {rater: number for number, rater in enumerate(raters.tolist())}
    authors = {
        number: numbers[_key(note.author_id)]
        for number, note in enumerate(notes)
        if _key(note.author_id) in numbers
    }
    numbered = {note.id: number for number, note in enumerate(notes)}
    raised, under_review = _reviews(session, community_id, numbered)
    return Snapshot(
        notes=notes,
        raters=[uuid.UUID(bytes=rater.ljust(16, b"\0")) for rater in numbers],
        note_numbers=columns["note"],
        rater_numbers=rater_numbers.astype(np.int64),
        values=columns["level"] * 0.5,
        facts=Facts(
            not_misleading=_where(notes, lambda note: note.classification is Classification.NOT_MISLEADING),
            helpful=_where(notes, lambda note: note.status is NoteStatus.CURRENTLY_RATED_HELPFUL),
            raised=raised,
            acting=_where(notes, lambda note: note.rationale),
            authors=authors,
            valid=columns["at"] < columns["until"],
            regime=regime,
            camps=camps,
            min_ratings=settings.min_ratings,
            helpful_at=settings.helpful_at,
        ),
        under_review=under_review,
        panels=_panels(session, community_id, numbered),
        settings=settings,
    )


RECORD = np.dtype([("rater", "S32"), ("level", "S1"), ("at", "S26")])
"""One rating in the form of ``_written``: 59 characters."""
LEVELS = {level: str(round(2 * value)) for level, value in VALUES.items()}


def _ratings(session: Session, community_id: uuid.UUID, notes: Sequence[ReadNote]) -> dict[str, Any]:
    """Every rating that counts, as columns.

    ``note`` (its number), ``rater`` (16 bytes), ``level`` (0, 1, 2), ``at`` and ``until`` (see ``_prompt_until``).
    The database concatenates a note's ratings into one text, and arrays are cut from that: a million rows through
    Python would hold the interpreter's lock so long that all other threads wait.
    """
    numbers = {note.id: number for number, note in enumerate(notes)}
    until = np.array([_as_text(_prompt_until(note)).encode() for note in notes] or [b""], "S26")
    rows = session.execute(
        sa.select(
            Rating.note_id,
            Rating.note_version,
            sa.func.aggregate_strings(_written(session.get_bind().dialect.name), ""),
        )
        .where(Rating.community_id == community_id, Rating.exclusion_reason.is_(None))
        .group_by(Rating.note_id, Rating.note_version)
        .execution_options(yield_per=PART)
    )
    columns: dict[str, list[Any]] = {"note": [], "rater": [], "level": [], "at": [], "until": []}
    for part in rows.partitions():
        counting = [
            (numbers[note_id], text.encode())
            for note_id, version, text in part
            if note_id in numbers and notes[numbers[note_id]].version == version
        ]
        record = np.frombuffer(b"".join(text for _, text in counting), RECORD)
        note = np.repeat(
            np.array([number for number, _ in counting], np.int64),
            [len(text) // RECORD.itemsize for _, text in counting],
        )
        columns["note"].append(note)
        columns["rater"].append(np.frombuffer(bytes.fromhex(record["rater"].tobytes().decode()), "S16"))
        columns["level"].append(_levels(record["level"]))
        columns["at"].append(record["at"])
        columns["until"].append(until[note])
    return {name: np.concatenate(parts) if parts else _EMPTY[name] for name, parts in columns.items()}


_EMPTY = {
    "note": np.zeros(0, np.int64),
    "rater": np.zeros(0, "S16"),
    "level": np.zeros(0, np.int64),
    "at": np.zeros(0, "S26"),
    "until": np.zeros(0, "S26"),
}


def _levels(written: Any) -> IntArray:
    """Parse levels. Raises ValueError for one that is not in ``LEVELS``."""
    level: IntArray = written.view(np.uint8).astype(np.int64) - ord("0")
    if np.any((level < 0) | (level > 2)):
        raise ValueError("ratings: there is a helpfulness level of no known value")
    return level


def _written(dialect: str) -> sa.ColumnElement[str]:
    """SQL: a rating in the form of ``RECORD``: the rater's id in hex, twice its value, its time (UTC)."""
    rater: sa.ColumnElement[str] = sa.cast(Rating.rater_id, sa.Text)
    at: sa.ColumnElement[str] = sa.func.substr(
        sa.type_coerce(Rating.created_at, sa.Text).concat(".000000"), 1, 26
    )
    if dialect == "postgresql":
        rater = sa.func.replace(rater, "-", "")
        at = sa.func.to_char(sa.func.timezone("UTC", Rating.created_at), "YYYY-MM-DD HH24:MI:SS.US")
    level = sa.case(LEVELS, value=Rating.helpfulness_level, else_="?")
    return rater.concat(level).concat(at)


def _key(profile_id: uuid.UUID) -> bytes:
    """An id as NumPy returns it from 16 bytes: without trailing zeros."""
    return profile_id.bytes.rstrip(b"\0")


def _notes(session: Session, community_id: uuid.UUID) -> list[ReadNote]:
    # Ratings of a test post decide it, but do not show who agrees with whom (decision 0031).
    tests = sa.select(Request.id).where(Request.community_id == community_id, Request.is_test)
    columns = [getattr(Note, name) for name in ReadNote._fields]
    rows = session.execute(
        sa.select(*columns)
        .where(
            Note.community_id == community_id,
            Note.deleted_at.is_(None),
            sa.or_(Note.request_id.is_(None), Note.request_id.not_in(tests)),
            sa.or_(Note.ratings_count > 0, Note.rating_changes > 0),
        )
        .order_by(Note.id)
        .execution_options(yield_per=5_000)
    )
    return [ReadNote(*row) for row in rows]


def _prompt_until(note: ReadNote) -> datetime:
    """Ratings before this count for their raters' helpfulness: within 48 h, and before a status was visible."""
    until = note.created_at + PROMPT
    if note.status is not NoteStatus.NEEDS_MORE_RATINGS and note.status_since is not None:
        until = min(until, note.status_since)
    return until


def _as_text(moment: datetime) -> str:
    """A time in the form of ``RECORD``, which sorts like the times."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def _reviews(
    session: Session, community_id: uuid.UUID, numbers: dict[uuid.UUID, int]
) -> tuple[dict[int, float], frozenset[int]]:
    """The raised thresholds of notes that would delete or silence, and the notes whose action is under review."""
    rows = session.execute(
        sa.select(Action.note_id, Action.action_type, Action.action_state).where(
            Action.community_id == community_id,
            Action.note_id.is_not(None),
            Action.restores_id.is_(None),
        )
    ).all()
    known = [(numbers[note_id], kind, state) for note_id, kind, state in rows if note_id in numbers]
    raised = {number: GRAVE_MARGIN for number, kind, _ in known if kind in eligibility.GRAVE}
    return raised, frozenset(number for number, _, state in known if state in IN_REVIEW)


def _panels(session: Session, community_id: uuid.UUID, numbers: dict[uuid.UUID, int]) -> frozenset[int]:
    """Rationales whose score is not everybody's: of open panels, and of those that decided the last review."""
    is_of_last_review = sa.or_(
        Action.retro_review_at.is_(None),
        sa.and_(Panel.review == ActionState.RETRO_REVIEW, Panel.opened_at >= Action.retro_review_at),
    )
    rows = session.scalars(
        sa.select(Panel.note_id)
        .join(Action, Action.id == Panel.action_id)
        .where(
            Panel.community_id == community_id,
            sa.or_(
                Panel.ended_at.is_(None),
                sa.and_(Panel.outcome == PanelOutcome.DECIDED, is_of_last_review),
            ),
        )
    )
    return frozenset(numbers[note_id] for note_id in rows if note_id in numbers)


def _where(notes: Sequence[ReadNote], which: Callable[[ReadNote], bool]) -> IntArray:
    return np.array([number for number, note in enumerate(notes) if which(note)], np.int64)
