"""The outcome of a person's ratings and notes (docs/develop/consensus.md). Only they see it; it never restricts them.

Only notes whose final status raters may see are counted: items still under review stay hidden. What counts is the
rating given before the outcome was visible (decision 0030).
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import paging
from app.core.models import Action, Note, Profile, Rating, SampleAnswer, SampledPost
from app.core.notes import blindness
from app.core.paging import Page, Slice
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import HelpfulnessLevel, NoteStatus

_HELPFUL, _NOT_HELPFUL = NoteStatus.CURRENTLY_RATED_HELPFUL, NoteStatus.CURRENTLY_RATED_NOT_HELPFUL


class RatingOutcome(StrEnum):
    """The outcome of a rating; each names the rows behind one number.

    ``DECIDED`` is a subset of ``MATCHED``: the ratings decided, not a moderator, and this one counted. ``TWICE``:
    called helpful what turned out not to be, so it counts twice. ``AFTER``: first given when the outcome was visible,
    so it is not judged. ``STALE``: given to a text of the note that its author has changed since, so it counts
    nowhere.
    """

    MATCHED = "matched"
    DECIDED = "decided"
    MISMATCHED = "mismatched"
    TWICE = "twice"
    NEUTRAL = "neutral"
    AFTER = "after"
    WAITING = "waiting"
    STALE = "stale"


class NoteOutcome(StrEnum):
    """The outcome of a note."""

    HELPFUL = "helpful"
    NOT_HELPFUL = "not_helpful"
    WAITING = "waiting"


@dataclass(frozen=True)
class Impact:
    """The numbers of one person, by ``RatingOutcome`` and, after ``notes_``, by ``NoteOutcome``."""

    matched: int
    decided: int
    mismatched: int
    twice: int
    neutral: int
    after: int
    waiting: int
    notes_helpful: int
    notes_not_helpful: int
    notes_waiting: int
    stale: int = 0

    @property
    def ratings(self) -> int:
        """All ratings; those that decided are among the matches."""
        judged = self.matched + self.mismatched + self.twice + self.neutral + self.after
        return judged + self.waiting + self.stale

    @property
    def rating(self) -> int:
        """Rating impact: matches minus mismatches, of which some count twice."""
        return self.matched - self.mismatched - 2 * self.twice

    @property
    def writing(self) -> int:
        """Writing impact: notes rated helpful minus notes rated not helpful."""
        return self.notes_helpful - self.notes_not_helpful

    @property
    def has_begun(self) -> bool:
        """Whether any rating or note has an outcome yet."""
        judged = self.matched + self.mismatched + self.twice + self.neutral + self.after
        return bool(judged + self.notes_helpful + self.notes_not_helpful)


@dataclass(frozen=True)
class RatingRow:
    """A rating with its note and request, and the action whose rationale the note is (or of the note's post)."""

    rating: Rating
    note: Note
    action: Action | None
    became: RatingOutcome


@dataclass(frozen=True)
class NoteRow:
    """A note of the person with its request, and the item of its post."""

    note: Note
    action: Action | None
    became: NoteOutcome


def for_actor(session: Session, actor: Actor, community_id: uuid.UUID) -> Impact:
    """The numbers of the signed-in person in one community; four queries.

    Answers about samples are among those that wait, as those about items without an outcome are.
    """
    require(actor, Permission.RATE, community_id)
    mine = profiles_of(session, actor)
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
    samples = session.scalar(
        sa.select(sa.func.count())
        .select_from(SampleAnswer)
        .join(SampledPost, SampledPost.id == SampleAnswer.sample_id)
        .where(
            SampleAnswer.profile_id.in_(mine),
            SampleAnswer.level.is_not(None),
            SampledPost.community_id == community_id,
        )
    )
    by_outcome = dict(zip(_ratings_that(), ratings, strict=True))
    by_outcome[RatingOutcome.WAITING] += samples or 0
    return Impact(
        **by_outcome,
        **{f"notes_{outcome}": count for outcome, count in zip(_notes_that(), notes, strict=True)},
    )


def rating_rows(session: Session, given: Sequence[Rating]) -> list[RatingRow]:
    """Ratings with what they are about; three queries however many there are."""
    notes = _notes(session, [rating.note_id for rating in given])
    actions = _actions(session, list(notes.values()))
    return [
        RatingRow(
            rating,
            notes[rating.note_id],
            actions.get(rating.note_id),
            _became(rating, notes[rating.note_id], actions),
        )
        for rating in given
    ]


def notes(
    session: Session, actor: Actor, community_id: uuid.UUID, part: Slice, wrote: NoteOutcome | None = None
) -> Page[NoteRow]:
    """A page of the person's notes, newest first: those with this outcome, or all."""
    require(actor, Permission.RATE, community_id)
    statement = sa.select(Note).where(
        Note.author_id.in_(profiles_of(session, actor)), *_written(community_id)
    )
    if wrote is not None:
        statement = statement.where(_notes_that()[wrote])
    statement = statement.options(selectinload(Note.request))
    page = paging.paginate(session, statement, Note.created_at, Note.id, part)
    actions = _actions(session, page.rows)
    rows = [NoteRow(note, actions.get(note.id), _wrote(note)) for note in page.rows]
    return Page(rows, page.count, part, page.previous, page.next)


def latest_decided(session: Session, actor: Actor, community_id: uuid.UUID) -> RatingRow | None:
    """The newest of the person's ratings whose note has an outcome; None before the first. Four queries."""
    require(actor, Permission.RATE, community_id)
    rating = session.scalars(
        _with_action(sa.select(Rating).join(Note, Note.id == Rating.note_id))
        .where(
            Rating.rater_id.in_(profiles_of(session, actor)),
            Rating.note_version == Note.version,
            blindness.outcome_visible_clause(),
            *_counted(community_id),
        )
        .order_by(Rating.created_at.desc(), Rating.id.desc())
        .limit(1)
    ).first()
    if rating is None:
        return None
    return rating_rows(session, [rating])[0]


def profiles_of(session: Session, actor: Actor) -> Sequence[uuid.UUID]:
    """The ids of all profiles that are linked to the person's account."""
    if actor.account_id is None:
        return [actor.profile_id] if actor.profile_id else []
    return session.scalars(sa.select(Profile.id).where(Profile.account_id == actor.account_id)).all()


def _counted(community_id: uuid.UUID) -> tuple[Any, ...]:
    return (Rating.community_id == community_id, Note.deleted_at.is_(None))


def _written(community_id: uuid.UUID) -> tuple[Any, ...]:
    return (Note.community_id == community_id, Note.deleted_at.is_(None), Note.rationale.is_(False))


def _with_action(statement: sa.Select[Any]) -> sa.Select[Any]:
    """Join the action whose rationale the note is: its state decides whether the outcome is visible."""
    return statement.outerjoin(Action, explained_action())


def explained_action() -> sa.ColumnElement[bool]:
    """SQL condition: the note is the rationale of the action."""
    return sa.and_(Note.rationale, Action.note_id == Note.id, Action.restores_id.is_(None))


def outcome_clause(became: RatingOutcome) -> sa.ColumnElement[bool]:
    """SQL condition on ``Rating``, its ``Note`` and the outer-joined ``explained_action``: it has this outcome."""
    return _ratings_that()[became]


def _ratings_that() -> dict[RatingOutcome, sa.ColumnElement[bool]]:
    level, visible = Rating.blind_level, blindness.outcome_visible_clause()
    helpful, not_helpful = level == HelpfulnessLevel.HELPFUL, level == HelpfulnessLevel.NOT_HELPFUL
    agreed = sa.or_(
        sa.and_(helpful, Note.status == _HELPFUL), sa.and_(not_helpful, Note.status == _NOT_HELPFUL)
    )
    counted = sa.and_(
        Rating.exclusion_reason.is_(None),
        Note.locked.is_(False),
        sa.or_(Note.status_locked_at.is_(None), Rating.created_at <= Note.status_locked_at),
    )
    outcomes = {
        RatingOutcome.MATCHED: sa.and_(visible, agreed),
        RatingOutcome.DECIDED: sa.and_(visible, agreed, counted),
        RatingOutcome.MISMATCHED: sa.and_(visible, not_helpful, Note.status == _HELPFUL),
        RatingOutcome.TWICE: sa.and_(visible, helpful, Note.status == _NOT_HELPFUL),
        RatingOutcome.NEUTRAL: sa.and_(visible, level == HelpfulnessLevel.SOMEWHAT_HELPFUL),
        RatingOutcome.AFTER: sa.and_(visible, level.is_(None)),
        RatingOutcome.WAITING: sa.not_(visible),
    }
    is_current = Rating.note_version == Note.version
    return {
        **{name: sa.and_(is_current, condition) for name, condition in outcomes.items()},
        RatingOutcome.STALE: sa.not_(is_current),
    }


def _notes_that() -> dict[NoteOutcome, sa.ColumnElement[bool]]:
    return {
        NoteOutcome.HELPFUL: Note.status == _HELPFUL,
        NoteOutcome.NOT_HELPFUL: Note.status == _NOT_HELPFUL,
        NoteOutcome.WAITING: Note.status == NoteStatus.NEEDS_MORE_RATINGS,
    }


def _became(rating: Rating, note: Note, actions: dict[uuid.UUID, Action]) -> RatingOutcome:
    if rating.note_version != note.version:
        return RatingOutcome.STALE
    if not blindness.outcome_visible_to_raters(note, actions.get(note.id)):
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
    rows = session.scalars(sa.select(Note).where(Note.id.in_(ids)).options(selectinload(Note.request)))
    return {note.id: note for note in rows}


def _actions(session: Session, notes_shown: Sequence[Note]) -> dict[uuid.UUID, Action]:
    """By note id: the action whose rationale it is, or the newest action of its post."""
    requests = {note.request_id for note in notes_shown if note.request_id is not None}
    by_note: dict[uuid.UUID, Action] = {}
    by_request: dict[uuid.UUID | None, Action] = {}
    for action in session.scalars(
        sa.select(Action)
        .where(Action.request_id.in_(requests), Action.restores_id.is_(None))
        .order_by(Action.created_at, Action.id)
    ):
        by_request[action.request_id] = action
        if action.note_id is not None:
            by_note[action.note_id] = action
    found = {
        note.id: by_note.get(note.id) if note.rationale else by_request.get(note.request_id)
        for note in notes_shown
    }
    return {note_id: action for note_id, action in found.items() if action is not None}
