"""What a person did as a rater, in one list: answers about posts, ratings of notes, and what they skipped.

Samples count like items without an outcome, in every list and figure, or these would give them away. What was skipped
and answered later is an answer alone.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import paging
from app.core.models import Action, Note, NoteSkip, Rating, SampleAnswer, SampledPost, Skip
from app.core.paging import Page, Slice
from app.core.periods import Period
from app.core.permissions import Actor, Permission, require
from app.core.raters import impact
from app.core.raters.impact import RatingOutcome


class What(StrEnum):
    """What was done. A row of an ``ITEM`` or a ``NOTE`` has the id of the rating, any other that of its subject."""

    ITEM = "item"
    NOTE = "note"
    SAMPLE = "sample"
    SKIPPED = "skipped"
    SKIPPED_NOTE = "skipped_note"


ANSWERS = (What.ITEM, What.NOTE, What.SAMPLE)
SKIPS = (What.SKIPPED, What.SKIPPED_NOTE)


@dataclass(frozen=True)
class Given:
    """How many answers were given, and how many of them decided something (``RatingOutcome.DECIDED``)."""

    answers: int
    decided: int


def of_actor(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    period: Period | None,
    became: RatingOutcome | None = None,
) -> sa.Subquery:
    """The list of the signed-in person: ``id``, ``at``, ``what``, ``category`` and ``decided``.

    ``became``: only answers with this outcome. ``period`` None: of all time.
    """
    require(actor, Permission.RATE, community_id)

    def holds(column: Any) -> sa.ColumnElement[bool]:
        return period.holds(column) if period is not None else sa.true()

    mine = impact.profiles_of(session, actor)
    rated = sa.exists().where(Rating.rater_id.in_(mine))
    ratings = (
        sa.select(
            Rating.id.label("id"),
            Rating.created_at.label("at"),
            sa.case((Note.rationale, What.ITEM.value), else_=What.NOTE.value).label("what"),
            Action.category.label("category"),
            sa.and_(impact.outcome_clause(RatingOutcome.DECIDED)).label("decided"),
        )
        .join(Note, Note.id == Rating.note_id)
        .outerjoin(Action, impact.explained_action())
        .where(
            Rating.rater_id.in_(mine),
            Rating.community_id == community_id,
            Note.deleted_at.is_(None),
            holds(Rating.created_at),
            impact.outcome_clause(became) if became is not None else sa.true(),
        )
    )
    samples = (
        sa.select(
            SampleAnswer.sample_id,
            SampleAnswer.created_at,
            sa.case((SampleAnswer.level.is_(None), What.SKIPPED.value), else_=What.SAMPLE.value),
            SampledPost.category,
            sa.false(),
        )
        .join(SampledPost, SampledPost.id == SampleAnswer.sample_id)
        .where(
            SampleAnswer.profile_id.in_(mine),
            SampledPost.community_id == community_id,
            holds(SampleAnswer.created_at),
        )
    )
    skipped = (
        sa.select(
            Skip.action_id, Skip.created_at, sa.literal(What.SKIPPED.value), Action.category, sa.false()
        )
        .join(Action, Action.id == Skip.action_id)
        .where(
            Skip.profile_id.in_(mine),
            Action.community_id == community_id,
            holds(Skip.created_at),
            ~rated.where(Rating.note_id == Action.note_id),
        )
    )
    skipped_notes = (
        sa.select(
            NoteSkip.note_id,
            NoteSkip.created_at,
            sa.literal(What.SKIPPED_NOTE.value),
            sa.null(),
            sa.false(),
        )
        .join(Note, Note.id == NoteSkip.note_id)
        .where(
            NoteSkip.profile_id.in_(mine),
            Note.community_id == community_id,
            holds(NoteSkip.created_at),
            ~rated.where(Rating.note_id == Note.id),
        )
    )
    if became is RatingOutcome.WAITING:
        return sa.union_all(ratings, samples.where(SampleAnswer.level.is_not(None))).subquery()
    if became is not None:
        return ratings.subquery()
    return sa.union_all(ratings, samples, skipped, skipped_notes).subquery()


def by_day(session: Session, actor: Actor, community_id: uuid.UUID, period: Period) -> Sequence[Given]:
    """The answers of each bucket of the period; one query."""
    done = of_actor(session, actor, community_id, period)
    part = period.part(done.c.at)
    rows = session.execute(
        sa.select(part, sa.func.count(), sa.func.count().filter(done.c.decided))
        .where(done.c.what.in_(ANSWERS))
        .group_by(part)
    ).all()
    found = {number: Given(answers, decided) for number, answers, decided in rows}
    return [found.get(number, Given(0, 0)) for number in range(len(period.starts))]


def page(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    period: Period | None,
    part: Slice,
    *,
    became: RatingOutcome | None = None,
    skips: bool = False,
    notes: bool = False,
    categories: Collection[str] | None = None,
    count: int | None = None,
) -> Page[sa.Row[tuple[uuid.UUID, datetime, str]]]:
    """A page of the list, newest first, as (id, at, what): the answers, or the skips.

    ``became``: only answers with this outcome. ``notes``: only ratings of notes. ``categories``: only answers about
    posts of these. With ``count``, the known number of rows, they are not counted again.
    """
    done = of_actor(session, actor, community_id, period, became)
    statement = sa.select(done.c.id, done.c.at, done.c.what).where(
        done.c.what.in_(SKIPS if skips else ANSWERS)
    )
    if notes:
        statement = statement.where(done.c.what == What.NOTE)
    elif categories is not None:
        statement = statement.where(done.c.what != What.NOTE, done.c.category.in_(categories))
    known = sa.select(sa.literal(count)) if count is not None else None
    return paging.paginate(session, statement, done.c.at, done.c.id, part, counted=known)
