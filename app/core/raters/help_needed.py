"""What a rater is asked about: items under community review and samples, not answered or skipped by them."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import clock
from app.core.communities import settings as community_settings
from app.core.helpfulness import eligibility
from app.core.models import (
    Action,
    Note,
    Profile,
    RaterParameters,
    Rating,
    Request,
    SampledPost,
    ScoringState,
    Skip,
)
from app.core.notes import rating_locks
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.raters import help_order, samples
from app.core.raters.help_order import Candidate
from app.core.raters.samples import Asked
from app.core.vocabulary import IN_REVIEW, ReviewGroup

NEAREST = 150
OLDEST = 50
"""The number of items to rank, however many wait: those nearest to enough ratings, and the oldest."""


def waiting_for(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, *, limit: int = 20
) -> Sequence[Asked]:
    """What this rater can help with, first that where one more answer helps most (``help_order``).

    Items under community review and samples, not answered or skipped by them, neither submitted nor posted by them.
    The number of queries does not depend on the number of items.
    """
    require(actor, Permission.RATE, community_id)
    rater = session.get(Profile, profile_id)
    if rater is None:
        return []
    person = eligibility.person_of(session, rater)
    waiting = _waiting(sa.select(Action.id), community_id, profile_id, person.profiles)
    needed = community_settings.read(session, community_id).min_ratings
    near = sa.case((Note.ratings_count < needed, Note.ratings_count), else_=-Note.ratings_count)
    nearest = session.scalars(waiting.order_by(near.desc(), Action.created_at, Action.id).limit(NEAREST))
    oldest = session.scalars(waiting.order_by(Action.created_at, Action.id).limit(OLDEST))
    ids = {*nearest, *oldest}
    rows = session.execute(
        sa.select(
            Action.id,
            Action.note_id,
            Action.action_type,
            sa.func.coalesce(Action.retro_review_at, Action.created_at, type_=Action.created_at.type),
            Note.ratings_count,
            Request.created_at,
        )
        .join(Note, Note.id == Action.note_id)
        .join(Request, Request.id == Action.request_id)
        .where(Action.id.in_(ids))
    ).all()
    factor, sides = _viewpoints(session, community_id, profile_id, [row.note_id for row in rows])
    candidates = []
    for action_id, note_id, action_type, since, ratings, submitted_at in rows:
        below, above = sides.get(note_id, (0, 0))
        counts = action_type not in eligibility.GRAVE or person.first_seen <= submitted_at
        candidates.append(Candidate(action_id, ratings, needed, since, below, above, counts))
    sampled = _samples(
        sa.select(SampledPost.id, SampledPost.answers, SampledPost.created_at),
        actor,
        community_id,
        profile_id,
        person.profiles,
    )
    for sample_id, answers, since in session.execute(
        sampled.order_by(SampledPost.answers.desc(), SampledPost.created_at, SampledPost.id).limit(OLDEST)
    ):
        candidates.append(Candidate(sample_id, answers, needed, since))
    first = help_order.order(candidates, profile_id, factor, clock.now())[:limit]
    loaded = session.scalars(
        sa.select(Action)
        .where(Action.id.in_(first))
        .options(selectinload(Action.request).selectinload(Request.attachments), selectinload(Action.note))
    )
    by_id: dict[uuid.UUID, Asked] = {action.id: action for action in loaded}
    missing = [asked_id for asked_id in first if asked_id not in by_id]
    if missing:
        chosen = session.scalars(
            sa.select(SampledPost)
            .where(SampledPost.id.in_(missing))
            .options(selectinload(SampledPost.request))
        )
        by_id |= {sample.id: sample for sample in chosen}
    return [by_id[asked_id] for asked_id in first]


def still_waiting(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    profile_id: uuid.UUID,
    asked_id: uuid.UUID | None,
) -> tuple[bool, bool]:
    """Whether anything waits for this rater, and whether the item or sample with this id does."""
    require(actor, Permission.RATE, community_id)
    linked = _linked(session, profile_id)
    items = _waiting(sa.select(Action.id), community_id, profile_id, linked)
    sampled = _samples(sa.select(SampledPost.id), actor, community_id, profile_id, linked)
    any_waiting = any(session.scalar(waiting.limit(1)) is not None for waiting in (items, sampled))
    this_waiting = any_waiting and any(
        session.scalar(waiting.where(model.id == asked_id)) is not None
        for waiting, model in ((items, Action), (sampled, SampledPost))
        if asked_id is not None
    )
    return any_waiting, this_waiting


def waiting_since(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, moment: datetime
) -> int:
    """How many items and samples started to wait for this rater after ``moment``."""
    require(actor, Permission.RATE, community_id)
    linked = _linked(session, profile_id)
    items = _waiting(sa.select(Action.id), community_id, profile_id, linked)
    items = items.where(sa.or_(Action.created_at > moment, Action.retro_review_at > moment))
    sampled = _samples(sa.select(SampledPost.id), actor, community_id, profile_id, linked)
    return _count(session, items, sampled.where(SampledPost.created_at > moment))


def count(session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID) -> int:
    """How many items and samples wait for this rater."""
    require(actor, Permission.RATE, community_id)
    linked = _linked(session, profile_id)
    return _count(
        session,
        _waiting(sa.select(Action.id), community_id, profile_id, linked),
        _samples(sa.select(SampledPost.id), actor, community_id, profile_id, linked),
    )


def _count(session: Session, items: Any, sampled: Any) -> int:
    both = sa.union_all(items, sampled).subquery()
    return session.scalar(sa.select(sa.func.count()).select_from(both)) or 0


def skip(session: Session, actor: Actor, action: Asked, profile_id: uuid.UUID) -> None:
    """Skip an item or a sample. Skipping it again changes nothing."""
    require(actor, Permission.RATE, action.community_id, "item")
    if isinstance(action, SampledPost):
        samples.skip(session, actor, action, session.get_one(Profile, profile_id))
        return
    if session.get(Skip, (profile_id, action.id)) is None:
        session.add(Skip(profile_id=profile_id, action_id=action.id))
        session.flush()


def _samples(
    statement: Any,
    actor: Actor,
    community_id: uuid.UUID,
    profile_id: uuid.UUID,
    linked: Sequence[Profile],
) -> Any:
    return samples.waiting(statement, actor, community_id, profile_id, _names(linked))


def _names(linked: Sequence[Profile]) -> list[str]:
    return [profile.platform_user_id for profile in linked if profile.platform != profiles.WEB]


def _linked(session: Session, profile_id: uuid.UUID) -> Sequence[Profile]:
    rater = session.get(Profile, profile_id)
    return eligibility.person_of(session, rater).profiles if rater is not None else ()


def _waiting(
    statement: Any, community_id: uuid.UUID, profile_id: uuid.UUID, linked: Sequence[Profile]
) -> Any:
    # NOT EXISTS and not NOT IN: these look up one row an item, and do not read all that this rater ever did.
    rated = sa.exists().where(Rating.note_id == Action.note_id, Rating.rater_id == profile_id)
    skipped = sa.exists().where(Skip.action_id == Action.id, Skip.profile_id == profile_id)
    # Their rating of their own submission or post would not count (``eligibility.exclusion_reason``).
    names = _names(linked)
    statement = statement.join(Note, Note.id == Action.note_id).where(
        Action.community_id == community_id,
        Action.action_state.in_(IN_REVIEW),
        Action.restores_id.is_(None),
        Action.review_group != ReviewGroup.STAFF,
        rating_locks.open_clause(),
        Action.note_id.is_not(None),
        sa.not_(rated),
        sa.not_(skipped),
    )
    if names:
        statement = statement.join(Request, Request.id == Action.request_id).where(
            Request.requested_by.not_in(names),
            sa.or_(Request.platform_author_id.is_(None), Request.platform_author_id.not_in(names)),
        )
    return statement


def _viewpoints(
    session: Session, community_id: uuid.UUID, profile_id: uuid.UUID, note_ids: Sequence[uuid.UUID]
) -> tuple[float | None, dict[uuid.UUID, tuple[int, int]]]:
    """This rater's factor, and per note how many raters have a factor below and above zero, under the fit in force.

    (None, {}) without a fit in force, or when it has no factor for this rater.
    """
    in_force = sa.select(ScoringState.model_version).where(ScoringState.community_id == community_id)
    known = sa.and_(
        RaterParameters.community_id == community_id,
        RaterParameters.version == in_force.scalar_subquery(),
        RaterParameters.kept,
    )
    factor = session.scalar(
        sa.select(RaterParameters.factor).where(known, RaterParameters.profile_id == profile_id)
    )
    if not factor:
        return None, {}
    rows = session.execute(
        sa.select(
            Rating.note_id,
            sa.func.sum(sa.case((RaterParameters.factor < 0, 1), else_=0)),
            sa.func.sum(sa.case((RaterParameters.factor > 0, 1), else_=0)),
        )
        .join(RaterParameters, RaterParameters.profile_id == Rating.rater_id)
        .where(known, Rating.note_id.in_(note_ids), Rating.exclusion_reason.is_(None))
        .group_by(Rating.note_id)
    )
    return factor, {note_id: (int(below), int(above)) for note_id, below, above in rows}
