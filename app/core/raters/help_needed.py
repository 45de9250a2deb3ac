"""Items for a rater: under community review, not answered or skipped by them."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import clock
from app.core.communities import settings as community_settings
from app.core.helpfulness import eligibility
from app.core.models import Action, Note, Profile, RaterParameters, Rating, Request, ScoringState, Skip
from app.core.notes import rating_locks
from app.core.people import profiles
from app.core.permissions import Actor, Permission, require
from app.core.raters import help_order
from app.core.raters.help_order import Candidate
from app.core.vocabulary import IN_REVIEW, ReviewGroup

NEAREST = 150
OLDEST = 50
"""The number of items to rank, however many wait: those nearest to enough ratings, and the oldest."""


def waiting_for(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, *, limit: int = 20
) -> Sequence[Action]:
    """The items that this rater can help with, first those where one more rating helps most (``help_order``).

    Under community review, not answered or skipped by them, neither submitted nor posted by them. The number of
    queries does not depend on the number of items.
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
    first = help_order.order(candidates, profile_id, factor, clock.now())[:limit]
    loaded = session.scalars(
        sa.select(Action)
        .where(Action.id.in_(first))
        .options(selectinload(Action.request).selectinload(Request.attachments), selectinload(Action.note))
    )
    by_id = {action.id: action for action in loaded}
    return [by_id[action_id] for action_id in first]


def still_waiting(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    profile_id: uuid.UUID,
    action_id: uuid.UUID | None,
) -> tuple[bool, bool]:
    """Whether any item waits for this rater, and whether this one does."""
    require(actor, Permission.RATE, community_id)
    waiting = _waiting(sa.select(Action.id), community_id, profile_id, _linked(session, profile_id))
    any_waiting = session.scalar(waiting.limit(1)) is not None
    this_waiting = action_id is not None and session.scalar(waiting.where(Action.id == action_id)) is not None
    return any_waiting, this_waiting


def waiting_since(
    session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID, moment: datetime
) -> int:
    """How many items started to wait for this rater after ``moment``."""
    require(actor, Permission.RATE, community_id)
    waiting = _waiting(sa.select(Action.id), community_id, profile_id, _linked(session, profile_id))
    new = waiting.where(sa.or_(Action.created_at > moment, Action.retro_review_at > moment))
    return session.scalar(sa.select(sa.func.count()).select_from(new.subquery())) or 0


def count(session: Session, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID) -> int:
    """How many items wait for this rater."""
    require(actor, Permission.RATE, community_id)
    waiting = _waiting(sa.select(Action.id), community_id, profile_id, _linked(session, profile_id))
    return session.scalar(sa.select(sa.func.count()).select_from(waiting.subquery())) or 0


def skip(session: Session, actor: Actor, action: Action, profile_id: uuid.UUID) -> None:
    """Skip an item. Skipping it again changes nothing."""
    require(actor, Permission.RATE, action.community_id, "item")
    if session.get(Skip, (profile_id, action.id)) is None:
        session.add(Skip(profile_id=profile_id, action_id=action.id))
        session.flush()


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
    names = [profile.platform_user_id for profile in linked if profile.platform != profiles.WEB]
    statement = (
        statement.join(Note, Note.id == Action.note_id)
        .join(Request, Request.id == Action.request_id)
        .where(
            Action.community_id == community_id,
            Action.action_state.in_(IN_REVIEW),
            Action.restores_id.is_(None),
            Action.review_group != ReviewGroup.STAFF,
            rating_locks.open_clause(),
            Action.note_id.is_not(None),
            sa.not_(rated),
            sa.not_(skipped),
        )
    )
    if names:
        statement = statement.where(
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
