"""What became of one person's ratings and notes (docs/consensus.md). Shown to them alone, and never a gate.

Only over notes that have their status for good enough to be told: an item that people still review stays blind. What
is judged is the rating as it was given while the outcome could not be seen (decision 0030).
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import paging
from app.core.models import Action, Note, Profile, Rating
from app.core.notes import blindness
from app.core.paging import Page, Slice
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import HelpfulnessLevel, NoteStatus

_HELPFUL, _NOT_HELPFUL = NoteStatus.CURRENTLY_RATED_HELPFUL, NoteStatus.CURRENTLY_RATED_NOT_HELPFUL


class RatingOutcome(StrEnum):
    """What became of a rating; each names the rows behind one number. ``TWICE`` are among the ``MISMATCHED``.

    ``AFTER``: first given when the outcome could be seen, so it is not judged.
    """

    MATCHED = "matched"
    MISMATCHED = "mismatched"
    TWICE = "twice"
    NEUTRAL = "neutral"
    AFTER = "after"
    WAITING = "waiting"


class NoteOutcome(StrEnum):
    """What became of a note."""

    HELPFUL = "helpful"
    NOT_HELPFUL = "not_helpful"
    WAITING = "waiting"


@dataclass(frozen=True)
class Impact:
    """The numbers. ``twice`` are the ``mismatched`` that called a note helpful which is not: they count once more."""

    matched: int
    mismatched: int
    twice: int
    neutral: int
    after: int
    waiting: int
    notes_helpful: int
    notes_not_helpful: int
    notes_waiting: int

    @property
    def rating(self) -> int:
        """Rating impact: matches less mismatches, and less once more those that count twice."""
        return self.matched - self.mismatched - self.twice

    @property
    def writing(self) -> int:
        """Writing impact: notes rated helpful less notes rated not helpful."""
        return self.notes_helpful - self.notes_not_helpful

    @property
    def has_begun(self) -> bool:
        """Whether anything has its status yet."""
        return bool(
            self.matched
            + self.mismatched
            + self.neutral
            + self.after
            + self.notes_helpful
            + self.notes_not_helpful
        )


@dataclass(frozen=True)
class RatingRow:
    """One's rating, the note with its request, and the action whose rationale the note is (or that it belongs to)."""

    rating: Rating
    note: Note
    action: Action | None
    became: RatingOutcome


@dataclass(frozen=True)
class NoteRow:
    """One's note with its request, and the item it stands on."""

    note: Note
    action: Action | None
    became: NoteOutcome


def for_actor(session: Session, actor: Actor, community_id: uuid.UUID) -> Impact:
    """The numbers of the signed-in person in one community: three queries however much there is."""
    require(actor, Permission.RATE, community_id)
    mine = _mine(session, actor)
    columns: list[Any] = [sa.func.count().filter(condition) for condition in _ratings_that().values()]
    counted: sa.Select[Any] = sa.select(*columns).select_from(Rating)
    ratings = session.execute(
        _with_action(counted.join(Note, Note.id == Rating.note_id)).where(
            Rating.rater_id.in_(mine), *_counted(community_id)
        )
    ).one()
    notes = session.execute(
        sa.select(*(sa.func.count().filter(condition) for condition in _notes_that().values())).where(
            Note.author_id.in_(mine), *_written(community_id)
        )
    ).one()
    became = dict(zip(_ratings_that(), ratings, strict=True))
    wrote = dict(zip(_notes_that(), notes, strict=True))
    return Impact(
        matched=became[RatingOutcome.MATCHED],
        mismatched=became[RatingOutcome.MISMATCHED],
        twice=became[RatingOutcome.TWICE],
        neutral=became[RatingOutcome.NEUTRAL],
        after=became[RatingOutcome.AFTER],
        waiting=became[RatingOutcome.WAITING],
        notes_helpful=wrote[NoteOutcome.HELPFUL],
        notes_not_helpful=wrote[NoteOutcome.NOT_HELPFUL],
        notes_waiting=wrote[NoteOutcome.WAITING],
    )


def ratings(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    wanted: Slice,
    became: RatingOutcome | None = None,
) -> Page[RatingRow]:
    """A page of one's ratings, newest first: those behind one number, or all."""
    require(actor, Permission.RATE, community_id)
    statement = _with_action(sa.select(Rating).join(Note, Note.id == Rating.note_id)).where(
        Rating.rater_id.in_(_mine(session, actor)), *_counted(community_id)
    )
    if became is not None:
        statement = statement.where(_ratings_that()[became])
    found = paging.paginate(session, statement, Rating.created_at, Rating.id, wanted)
    notes = _notes(session, [rating.note_id for rating in found.rows])
    actions = _actions(session, list(notes.values()))
    rows = [
        RatingRow(
            one, notes[one.note_id], actions.get(one.note_id), _became(one, notes[one.note_id], actions)
        )
        for one in found.rows
    ]
    return Page(rows, found.count, wanted, found.previous, found.next)


def notes(
    session: Session, actor: Actor, community_id: uuid.UUID, wanted: Slice, wrote: NoteOutcome | None = None
) -> Page[NoteRow]:
    """A page of one's notes, newest first: those behind one number, or all."""
    require(actor, Permission.RATE, community_id)
    statement = sa.select(Note).where(Note.author_id.in_(_mine(session, actor)), *_written(community_id))
    if wrote is not None:
        statement = statement.where(_notes_that()[wrote])
    statement = statement.options(selectinload(Note.request))
    found = paging.paginate(session, statement, Note.created_at, Note.id, wanted)
    actions = _actions(session, found.rows)
    rows = [NoteRow(one, actions.get(one.id), _wrote(one)) for one in found.rows]
    return Page(rows, found.count, wanted, found.previous, found.next)


def _mine(session: Session, actor: Actor) -> Sequence[uuid.UUID]:
    """Every profile that is linked to the person's account."""
    if actor.account_id is None:
        return [actor.profile_id] if actor.profile_id else []
    return session.scalars(sa.select(Profile.id).where(Profile.account_id == actor.account_id)).all()


def _counted(community_id: uuid.UUID) -> tuple[Any, ...]:
    return (
        Rating.community_id == community_id,
        Rating.note_version == Note.version,
        Note.deleted_at.is_(None),
    )


def _written(community_id: uuid.UUID) -> tuple[Any, ...]:
    return (Note.community_id == community_id, Note.deleted_at.is_(None), Note.rationale.is_(False))


def _with_action(statement: sa.Select[Any]) -> sa.Select[Any]:
    """With the action whose rationale the note is: its state says whether the note may be told of."""
    return statement.outerjoin(
        Action, sa.and_(Note.rationale, Action.note_id == Note.id, Action.restores_id.is_(None))
    )


def _ratings_that() -> dict[RatingOutcome, sa.ColumnElement[bool]]:
    level, told = Rating.blind_level, blindness.told()
    helpful, not_helpful = level == HelpfulnessLevel.HELPFUL, level == HelpfulnessLevel.NOT_HELPFUL
    agreed = sa.or_(
        sa.and_(helpful, Note.status == _HELPFUL), sa.and_(not_helpful, Note.status == _NOT_HELPFUL)
    )
    disagreed = sa.or_(
        sa.and_(helpful, Note.status == _NOT_HELPFUL), sa.and_(not_helpful, Note.status == _HELPFUL)
    )
    return {
        RatingOutcome.MATCHED: sa.and_(told, agreed),
        RatingOutcome.MISMATCHED: sa.and_(told, disagreed),
        RatingOutcome.TWICE: sa.and_(told, helpful, Note.status == _NOT_HELPFUL),
        RatingOutcome.NEUTRAL: sa.and_(told, level == HelpfulnessLevel.SOMEWHAT_HELPFUL),
        RatingOutcome.AFTER: sa.and_(told, level.is_(None)),
        RatingOutcome.WAITING: sa.not_(told),
    }


def _notes_that() -> dict[NoteOutcome, sa.ColumnElement[bool]]:
    return {
        NoteOutcome.HELPFUL: Note.status == _HELPFUL,
        NoteOutcome.NOT_HELPFUL: Note.status == _NOT_HELPFUL,
        NoteOutcome.WAITING: Note.status == NoteStatus.NEEDS_MORE_RATINGS,
    }


def _became(rating: Rating, note: Note, actions: dict[uuid.UUID, Action]) -> RatingOutcome:
    if not blindness.is_told(note, actions.get(note.id)):
        return RatingOutcome.WAITING
    if rating.blind_level is None:
        return RatingOutcome.AFTER
    if rating.blind_level is HelpfulnessLevel.SOMEWHAT_HELPFUL:
        return RatingOutcome.NEUTRAL
    if (rating.blind_level is HelpfulnessLevel.HELPFUL) == (note.status is _HELPFUL):
        return RatingOutcome.MATCHED
    return RatingOutcome.TWICE if rating.blind_level is HelpfulnessLevel.HELPFUL else RatingOutcome.MISMATCHED


def _wrote(note: Note) -> NoteOutcome:
    if note.status is NoteStatus.NEEDS_MORE_RATINGS:
        return NoteOutcome.WAITING
    return NoteOutcome.HELPFUL if note.status is _HELPFUL else NoteOutcome.NOT_HELPFUL


def _notes(session: Session, ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Note]:
    found = session.scalars(sa.select(Note).where(Note.id.in_(ids)).options(selectinload(Note.request)))
    return {note.id: note for note in found}


def _actions(session: Session, found: Sequence[Note]) -> dict[uuid.UUID, Action]:
    """By note: the action whose rationale it is, or the newest one of the post it stands on."""
    requests = {note.request_id for note in found if note.request_id is not None}
    by_note: dict[uuid.UUID, Action] = {}
    by_request: dict[uuid.UUID, Action] = {}
    for action in session.scalars(
        sa.select(Action)
        .where(Action.request_id.in_(requests), Action.restores_id.is_(None))
        .order_by(Action.created_at, Action.id)
    ):
        by_request[action.request_id] = action
        if action.note_id is not None:
            by_note[action.note_id] = action
    items: dict[uuid.UUID, Action] = {}
    for note in found:
        item = by_note.get(note.id) if note.rationale else None
        if not note.rationale and note.request_id is not None:
            item = by_request.get(note.request_id)
        if item is not None:
            items[note.id] = item
    return items
