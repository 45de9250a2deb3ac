"""Reads a community's ratings as arrays at one moment, with the other facts that scoring needs."""

import math
import uuid
from array import array
from collections.abc import Callable, Iterator, Sequence
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
from app.core.scoring import GRAVE_MARGIN, VALUES, BoolArray, Camps, Facts, Regime
from app.core.vocabulary import IN_REVIEW, ActionState, Classification, NoteStatus, PanelOutcome

PROMPT = timedelta(hours=48)
"""A rating counts for its rater's helpfulness if made within this time after the note (docs/develop/consensus.md)."""
PART = 5_000
"""Rows fetched at a time."""
Numbers = npt.NDArray[np.int32]


class ReadNote(NamedTuple):
    """A note with ratings, as the snapshot read it. ``is_final``: its status is fixed by age."""

    id: uuid.UUID
    version: int
    rating_changes: int
    status: NoteStatus
    created_at: datetime
    is_final: bool
    locked: bool
    intercept: float | None
    helpfulness_score: int
    status_rule: str | None


_ROW = np.dtype(
    [
        ("id", "V16"),
        ("version", "i4"),
        ("rating_changes", "i4"),
        ("status", "O"),
        ("created_at", "f8"),
        ("is_final", "?"),
        ("locked", "?"),
        ("intercept", "f8"),
        ("helpfulness_score", "i4"),
        ("status_rule", "O"),
        ("author_id", "V16"),
        ("prompt_until", "f8"),
        ("not_misleading", "?"),
        ("rationale", "?"),
    ]
)
"""A ``ReadNote`` and what becomes ``Facts``: ids as bytes, moments in seconds, NaN for no score."""


class Notes:
    """The notes by number. They are rows of one array: as objects they would take ten times as much memory."""

    def __init__(self, rows: npt.NDArray[np.void]) -> None:
        self.rows = rows

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, number: int) -> ReadNote:
        note_id, version, changes, status, created_at, is_final, locked, intercept, score, rule, *_ = (
            self.rows[number].item()
        )
        return ReadNote(
            uuid.UUID(bytes=note_id),
            version,
            changes,
            status,
            datetime.fromtimestamp(created_at, UTC),
            is_final,
            locked,
            None if math.isnan(intercept) else intercept,
            score,
            rule,
        )


@dataclass(frozen=True)
class Snapshot:
    """Notes and raters by number, and the ratings over those numbers, one entry per rating.

    ``under_review`` are the numbers of rationales whose action is under review, ``panels`` of those that a drawn panel
    decides or has decided.
    """

    notes: Notes
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
    rows, numbered = _notes(session, community_id)
    given = _ratings(session, community_id, rows, numbered)
    raters = {rater.bytes: number for number, rater in enumerate(given.raters)}
    authors = enumerate(rows["author_id"].tolist())
    raised, under_review = _reviews(session, community_id, numbered)
    return Snapshot(
        notes=Notes(rows),
        raters=given.raters,
        note_numbers=given.note,
        rater_numbers=given.rater,
        values=given.value,
        facts=Facts(
            not_misleading=np.flatnonzero(rows["not_misleading"]),
            helpful=np.flatnonzero(rows["status"] == NoteStatus.CURRENTLY_RATED_HELPFUL),
            raised=raised,
            acting=np.flatnonzero(rows["rationale"]),
            authors={number: raters[author] for number, author in authors if author in raters},
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


def _notes(session: Session, community_id: uuid.UUID) -> tuple[npt.NDArray[np.void], dict[str, int]]:
    """The rows of ``_ROW`` in the order of their ids, and their numbers by ``_written`` id."""
    # Ratings of a test post decide it, but do not show who agrees with whom (docs/run/first-hour.md).
    tests = sa.select(Request.id).where(Request.community_id == community_id, Request.is_test)
    given = session.execute(
        sa.select(
            Note.id,
            Note.version,
            Note.rating_changes,
            Note.status,
            Note.created_at,
            Note.status_since,
            Note.status_locked_at.is_not(None).label("is_final"),
            Note.locked,
            Note.intercept,
            Note.helpfulness_score,
            Note.status_rule,
            Note.author_id,
            Note.classification,
            Note.rationale,
        )
        .where(
            Note.community_id == community_id,
            Note.deleted_at.is_(None),
            sa.or_(Note.request_id.is_(None), Note.request_id.not_in(tests)),
            sa.or_(Note.ratings_count > 0, Note.rating_changes > 0),
        )
        .order_by(Note.id)
        .execution_options(yield_per=PART)
    )
    numbered: dict[str, int] = {}
    written = _written(session)
    rules: dict[str | None, str | None] = {}

    def rows() -> Iterator[tuple[Any, ...]]:
        for number, note in enumerate(given):
            numbered[written(note.id)] = number
            yield (
                note.id.bytes,
                note.version,
                note.rating_changes,
                note.status,
                note.created_at.timestamp(),
                note.is_final,
                note.locked,
                math.nan if note.intercept is None else note.intercept,
                note.helpfulness_score,
                rules.setdefault(note.status_rule, note.status_rule),  # one text for all notes of a rule
                note.author_id.bytes,
                _prompt_until(note).timestamp(),
                note.classification is Classification.NOT_MISLEADING,
                note.rationale,
            )

    return np.fromiter(rows(), _ROW), numbered


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
    session: Session, community_id: uuid.UUID, notes: npt.NDArray[np.void], numbered: dict[str, int]
) -> _Given:
    """Every rating of these notes' current texts that counts. Raises ValueError for a level of no known value.

    Ids are read as texts, levels and times as the driver gives them: to convert a million of each takes five times as
    long.
    """
    is_text = session.get_bind().dialect.name == "sqlite"
    note_id_column, rater_id_column = (
        _raw(column) if is_text else sa.cast(column, sa.Text) for column in (Rating.note_id, Rating.rater_id)
    )
    columns = (_raw(column) for column in (Rating.note_version, Rating.helpfulness_level, Rating.created_at))
    rows: Any = session.connection().execute(
        sa.select(note_id_column, rater_id_column, *columns)
        .where(Rating.community_id == community_id, Rating.exclusion_reason.is_(None))
        .execution_options(yield_per=PART)
    )
    versions = notes["version"].tolist()
    moments = (datetime.fromtimestamp(moment, UTC) for moment in notes["prompt_until"].tolist())
    untils: list[Any] = [_as_text(moment) if is_text else moment for moment in moments]
    raters: dict[Any, int] = {}
    note, rater, value, prompt = array("i"), array("i"), array("f"), array("b")
    for note_id, rater_id, version, level, created_at in rows:
        number = numbered.get(note_id)
        if number is not None and version == versions[number]:
            note.append(number)
            rater.append(raters.setdefault(rater_id, len(raters)))
            value.append(VALUES.get(level, math.nan))
            prompt.append(created_at < untils[number])
    values = np.array(value, np.float32)
    if np.isnan(values).any():
        raise ValueError("ratings: there is a helpfulness level of no known value")
    # In the order of their ids, so that the result does not depend on the order of the rows.
    ordered = sorted(raters)
    rank = np.zeros(len(raters), np.int32)
    rank[[raters[rater_id] for rater_id in ordered]] = np.arange(len(raters), dtype=np.int32)
    return _Given(
        np.array(note, np.int32),
        rank[np.array(rater, np.int32)],
        values,
        np.array(prompt, np.bool_),
        [uuid.UUID(rater_id) for rater_id in ordered],
    )


def _written(session: Session) -> Callable[[Any], str]:
    """How the database writes an id as a text; such texts sort like their ids."""
    return (lambda identity: identity.hex) if session.get_bind().dialect.name == "sqlite" else str


def _raw(column: Any) -> sa.ColumnElement[Any]:
    return sa.type_coerce(column, sa.types.NullType())


def _as_text(moment: datetime) -> str:
    """A moment as SQLite stores it; such texts sort like their moments."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(" ", "microseconds")


def _prompt_until(note: Any) -> datetime:
    """Ratings before this count for their raters' helpfulness: within 48 h, and before a status was visible."""
    until: datetime = note.created_at + PROMPT
    if note.status is not NoteStatus.NEEDS_MORE_RATINGS and note.status_since is not None:
        until = min(until, note.status_since)
    return until


def _reviews(
    session: Session, community_id: uuid.UUID, numbers: dict[str, int]
) -> tuple[dict[int, float], frozenset[int]]:
    """The raised thresholds of notes that would delete or silence, and the notes whose action is under review."""
    rows = session.execute(
        sa.select(Action.note_id, Action.action_type, Action.action_state)
        .where(
            Action.community_id == community_id,
            Action.note_id.is_not(None),
            Action.restores_id.is_(None),
            sa.or_(Action.action_type.in_(eligibility.GRAVE), Action.action_state.in_(IN_REVIEW)),
        )
        .execution_options(yield_per=PART)
    )
    written = _written(session)
    raised: dict[int, float] = {}
    under_review: set[int] = set()
    for note_id, kind, state in rows:
        number = numbers.get(written(note_id))
        if number is None:
            continue
        if kind in eligibility.GRAVE:
            raised[number] = GRAVE_MARGIN
        if state in IN_REVIEW:
            under_review.add(number)
    return raised, frozenset(under_review)


def _panels(session: Session, community_id: uuid.UUID, numbers: dict[str, int]) -> frozenset[int]:
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
    return frozenset(numbers[name] for name in map(_written(session), rows) if name in numbers)
