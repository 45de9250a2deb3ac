"""Reads a community's ratings as arrays at one moment, with the other facts that scoring needs."""

import math
import uuid
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.helpfulness import eligibility
from app.core.models import Action, Note, Panel, Rating, Request
from app.core.scoring import GRAVE_MARGIN, VALUES, BoolArray, Camps, Facts, IntArray, Regime
from app.core.vocabulary import IN_REVIEW, ActionState, Classification, NoteStatus, PanelOutcome

PROMPT = timedelta(hours=48)
"""A rating counts for its rater's helpfulness if made within this time after the note (docs/develop/consensus.md)."""
PART = 5_000
"""Rows fetched at a time."""
Numbers = npt.NDArray[np.int32]


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
    note_numbers: Numbers
    rater_numbers: Numbers
    values: npt.NDArray[np.float32]
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
        # All rows are read. By default a cursor is planned to give the first ones soon, by random reads along an index.
        session.connection().exec_driver_sql("SET LOCAL cursor_tuple_fraction = 1")
    settings = community_settings.read(session, community_id)
    notes = _notes(session, community_id)
    numbered = {note.id: number for number, note in enumerate(notes)}
    given = _ratings(session, community_id, notes, numbered)
    numbers = {rater: number for number, rater in enumerate(given.raters)}
    authors = {
        number: numbers[note.author_id] for number, note in enumerate(notes) if note.author_id in numbers
    }
    raised, under_review = _reviews(session, community_id, numbered)
    return Snapshot(
        notes=notes,
        raters=given.raters,
        note_numbers=given.note,
        rater_numbers=given.rater,
        values=given.value,
        facts=Facts(
            not_misleading=_where(notes, lambda note: note.classification is Classification.NOT_MISLEADING),
            helpful=_where(notes, lambda note: note.status is NoteStatus.CURRENTLY_RATED_HELPFUL),
            raised=raised,
            acting=_where(notes, lambda note: note.rationale),
            authors=authors,
            valid=given.prompt,
            regime=regime,
            camps=camps,
            min_ratings=settings.min_ratings,
            helpful_at=settings.helpful_at,
            published=settings.published,
        ),
        under_review=under_review,
        panels=_panels(session, community_id, numbered),
        settings=settings,
    )


def _notes(session: Session, community_id: uuid.UUID) -> list[ReadNote]:
    # Ratings of a test post decide it, but do not show who agrees with whom (docs/run/first-hour.md).
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
        .execution_options(yield_per=PART)
    )
    return [ReadNote(*row) for row in rows]


@dataclass(frozen=True)
class _Given:
    """The ratings, one entry each: numbers of their notes and raters, values, and whether they were in time.

    ``raters`` are in the order of their numbers.
    """

    note: Numbers
    rater: Numbers
    value: npt.NDArray[np.float32]
    prompt: BoolArray
    raters: list[uuid.UUID]


def _ratings(
    session: Session, community_id: uuid.UUID, notes: Sequence[ReadNote], numbered: dict[uuid.UUID, int]
) -> _Given:
    """Every rating of these notes' current texts that counts. Raises ValueError for a level of no known value.

    Ids, levels and times are read as the driver gives them: to convert a million of each takes five times as long.
    """
    columns = (
        Rating.note_id,
        Rating.note_version,
        Rating.rater_id,
        Rating.helpfulness_level,
        Rating.created_at,
    )
    rows: Any = session.execute(
        sa.select(*(sa.type_coerce(column, sa.types.NullType()) for column in columns))
        .where(Rating.community_id == community_id, Rating.exclusion_reason.is_(None))
        .execution_options(yield_per=PART)
    )
    is_text = session.get_bind().dialect.name == "sqlite"
    current = {
        (note.id.hex if is_text else note.id, note.version): (number, _as_text(until) if is_text else until)
        for number, (note, until) in enumerate((note, _prompt_until(note)) for note in notes)
    }
    raters: dict[Any, int] = {}
    note, rater, value, prompt = array("i"), array("i"), array("f"), array("b")
    for note_id, version, rater_id, level, created_at in rows:
        found = current.get((note_id, version))
        if found is not None:
            number, until = found
            note.append(number)
            rater.append(raters.setdefault(rater_id, len(raters)))
            value.append(VALUES.get(level, math.nan))
            prompt.append(created_at < until)
    if any(map(math.isnan, value)):
        raise ValueError("ratings: there is a helpfulness level of no known value")
    # In the order of their ids, so that the result does not depend on the order of the rows.
    ordered = sorted(raters)
    rank = np.zeros(len(raters), np.int32)
    rank[[raters[rater_id] for rater_id in ordered]] = np.arange(len(raters), dtype=np.int32)
    return _Given(
        np.array(note, np.int32),
        rank[np.array(rater, np.int32)],
        np.array(value, np.float32),
        np.array(prompt, np.bool_),
        [uuid.UUID(rater_id) if is_text else rater_id for rater_id in ordered],
    )


def _as_text(moment: datetime) -> str:
    """A moment as SQLite stores it; such texts sort like their moments."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def _prompt_until(note: ReadNote) -> datetime:
    """Ratings before this count for their raters' helpfulness: within 48 h, and before a status was visible."""
    until = note.created_at + PROMPT
    if note.status is not NoteStatus.NEEDS_MORE_RATINGS and note.status_since is not None:
        until = min(until, note.status_since)
    return until


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
