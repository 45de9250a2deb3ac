"""Answers about samples: posts below every threshold that raters are asked about only to learn from the answers.

A rater cannot tell a sample from an item: they answer, change and skip both alike. Moderators are not
asked, because they see more of an item than a sample has. An answer is no rating, so it changes nobody's impact.
"""

import uuid
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload, selectinload

from app.core import clock
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden
from app.core.helpfulness import eligibility
from app.core.history import chain as history
from app.core.learning import sampling
from app.core.learning.labels import LEAST_RATERS
from app.core.models import Action, Profile, RaterParameters, Request, SampleAnswer, SampledPost, ScoringState
from app.core.people import profiles
from app.core.permissions import SYSTEM, Actor, Permission, allows, require
from app.core.texts import gettext as _
from app.core.vocabulary import HelpfulnessLevel

Asked = Action | SampledPost
"""What a rater is asked about: an item, or a sample."""

AGREEING, OF = 4, 5
"""Equal answers needed, of how many that count. "Not sure" says neither."""


def needed(session: Session, community_id: uuid.UUID) -> int:
    """How many answers a sample needs: as many as a note needs ratings, and never a single one."""
    return max(LEAST_RATERS, community_settings.read(session, community_id).min_ratings)


def asks(actor: Actor, community_id: uuid.UUID) -> bool:
    """Whether this person is asked about samples at all."""
    return allows(actor, Permission.RATE, community_id) and not allows(
        actor, Permission.MODERATE, community_id
    )


def find(session: Session, actor: Actor, sample_id: uuid.UUID) -> SampledPost | None:
    """The sample with its post, or None if there is none that this person may be asked about."""
    sample = session.scalars(
        sa.select(SampledPost)
        .join(Request, Request.id == SampledPost.request_id)
        .where(SampledPost.id == sample_id, Request.withdrawn_at.is_(None))
        .options(joinedload(SampledPost.request).selectinload(Request.attachments))
        .execution_options(populate_existing=True)
    ).first()
    return sample if sample is not None and asks(actor, sample.community_id) else None


def for_request(session: Session, actor: Actor, request_id: uuid.UUID) -> SampledPost | None:
    """The sample of a post, as ``find``."""
    sample_id = session.scalar(sa.select(SampledPost.id).where(SampledPost.request_id == request_id))
    return find(session, actor, sample_id) if sample_id is not None else None


def of_requests(
    session: Session, actor: Actor, request_ids: Collection[uuid.UUID]
) -> dict[uuid.UUID, SampledPost]:
    """The samples of posts, by post, as ``find``; one query however many posts."""
    found = session.scalars(
        sa.select(SampledPost)
        .join(Request, Request.id == SampledPost.request_id)
        .where(SampledPost.request_id.in_(request_ids), Request.withdrawn_at.is_(None))
        .options(joinedload(SampledPost.request).selectinload(Request.attachments))
    )
    return {sample.request_id: sample for sample in found if asks(actor, sample.community_id)}


def load(session: Session, ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Asked]:
    """The items and samples with their posts and rationales, by id."""
    actions = session.scalars(
        sa.select(Action)
        .where(Action.id.in_(ids))
        .options(
            selectinload(Action.request).selectinload(Request.attachments),
            selectinload(Action.newest).selectinload(Request.attachments),
            selectinload(Action.note),
        )
    )
    loaded: dict[uuid.UUID, Asked] = {action.id: action for action in actions}
    missing = [asked_id for asked_id in ids if asked_id not in loaded]
    if missing:
        chosen = session.scalars(
            sa.select(SampledPost)
            .where(SampledPost.id.in_(missing))
            .options(selectinload(SampledPost.request).selectinload(Request.attachments))
        )
        loaded |= {sample.id: sample for sample in chosen}
    return loaded


def waiting(statement: Any, actor: Actor, community_id: uuid.UUID, profile_id: uuid.UUID) -> Any:
    """The samples of a statement that wait for this rater, joined with their posts."""
    answered = sa.exists().where(
        SampleAnswer.sample_id == SampledPost.id, SampleAnswer.profile_id == profile_id
    )
    return statement.join(Request, Request.id == SampledPost.request_id).where(
        SampledPost.community_id == community_id,
        sampling.is_open(),
        sa.not_(answered),
        sa.true() if asks(actor, community_id) else sa.false(),
    )


def is_open(session: Session, sample: SampledPost) -> bool:
    """Whether answers are still wanted."""
    return sample.id in open_among(session, [sample.id])


def open_among(session: Session, ids: Collection[uuid.UUID]) -> Collection[uuid.UUID]:
    """The ids of those of these samples whose answers are still wanted."""
    return session.scalars(
        sa.select(SampledPost.id)
        .join(Request, Request.id == SampledPost.request_id)
        .where(SampledPost.id.in_(ids), sampling.is_open())
    ).all()


def by_rater(session: Session, sample: SampledPost, profile_id: uuid.UUID) -> SampleAnswer | None:
    return session.get(SampleAnswer, (sample.id, profile_id), populate_existing=True)


def answer(
    session: Session, actor: Actor, sample: SampledPost, rater: Profile, level: HelpfulnessLevel
) -> None:
    """Answer, or change the answer. Once enough raters agree, the sample has its label and ends.

    Raises:
        Conflict: it has ended.
        Forbidden: ``rater`` is not the acting user, or the actor is not asked.
    """
    row = _hold(session, actor, sample, rater)
    if not is_open(session, sample):
        raise Conflict(_("This question is closed"), sample.id)
    exclusion = eligibility.sample_exclusion_reason(session, sample, rater)
    if row.level is None:
        sample.answers += 1
        row.created_at = clock.now()  # Skipped before: the answer is of today.
    row.level = level
    row.exclusion_reason = exclusion.value if exclusion is not None else None
    session.flush()
    _settle(session, sample)


def skip(session: Session, actor: Actor, sample: SampledPost, rater: Profile) -> None:
    """Do not ask this rater again. An answer that they gave stays."""
    _hold(session, actor, sample, rater)
    session.flush()


def is_skipped(session: Session, sample: SampledPost, profile_id: uuid.UUID) -> bool:
    """Whether this rater skipped the sample."""
    row = by_rater(session, sample, profile_id)
    return row is not None and row.level is None


def unskip(session: Session, sample: SampledPost, profile_id: uuid.UUID) -> None:
    """Ask again about a skipped sample. Repeating it changes nothing."""
    row = by_rater(session, sample, profile_id)
    if row is not None and row.level is None:
        session.delete(row)
        session.flush()


def take_back(session: Session, actor: Actor, sample: SampledPost, rater: Profile) -> None:
    """Withdraw the rater's answer, if there is one. Repeating it changes nothing.

    Raises:
        Forbidden: the sample has ended, or the actor is not asked.
    """
    row = by_rater(session, sample, rater.id)
    if row is None or row.level is None:
        return
    rater = _lock(session, actor, sample, rater)
    row = by_rater(session, sample, rater.id)
    if row is None or row.level is None:
        return  # another request took it back while this one waited for the lock
    if not is_open(session, sample):
        raise Forbidden(_("This question is closed"))
    sample.answers -= 1
    session.delete(row)
    session.flush()


def _hold(session: Session, actor: Actor, sample: SampledPost, rater: Profile) -> SampleAnswer:
    """The rater's row, made if there is none. Locks and reloads the sample."""
    rater = _lock(session, actor, sample, rater)
    row = by_rater(session, sample, rater.id)
    if row is None:
        row = SampleAnswer(sample_id=sample.id, profile_id=rater.id)
        session.add(row)
    return row


def _lock(session: Session, actor: Actor, sample: SampledPost, rater: Profile) -> Profile:
    """Lock and reload the sample, and return the rater's canonical profile.

    Raises:
        Forbidden: ``rater`` is not the acting user, or the actor is not asked.
    """
    require(actor, Permission.RATE, sample.community_id, "item")
    if actor.profile_id is not None and not profiles.are_one(session, actor.profile_id, rater.id):
        raise Forbidden(_("rater_id must be the acting user"))
    if not asks(actor, sample.community_id):
        raise Forbidden(_("Moderators are not asked about it"))
    rater = profiles.hold_canonical(session, rater)
    serialise(session, sample.community_id)
    session.refresh(sample)
    return rater


def _settle(session: Session, sample: SampledPost) -> None:
    """Give the sample its label if enough raters agree, and write that to history."""
    rows = session.execute(
        sa.select(SampleAnswer.level, SampleAnswer.profile_id, Profile.account_id)
        .join(Profile, Profile.id == SampleAnswer.profile_id)
        .where(
            SampleAnswer.sample_id == sample.id,
            SampleAnswer.level.is_not(None),
            SampleAnswer.exclusion_reason.is_(None),
        )
        .order_by(SampleAnswer.updated_at)
    ).all()
    # Profiles that were linked after they answered are one person with one answer: the newest.
    persons = {row.account_id or row.profile_id: row for row in rows}
    if len(persons) < needed(session, sample.community_id):
        return
    for level, acted in ((HelpfulnessLevel.HELPFUL, True), (HelpfulnessLevel.NOT_HELPFUL, False)):
        agreeing = [row.profile_id for row in persons.values() if row.level is level]
        if OF * len(agreeing) >= AGREEING * len(persons) and not _is_one_side(session, sample, agreeing):
            sample.acted, sample.ended_at = acted, clock.now()
            session.flush()
            history.record(
                session,
                SYSTEM,
                sample.community_id,
                "sample.labelled",
                "sample",
                sample.id,
                after={"category": sample.category, "acted": acted, "answers": len(persons)},
            )


def _is_one_side(session: Session, sample: SampledPost, profile_ids: Sequence[uuid.UUID]) -> bool:
    """Whether all of these raters are known to be on the same side of the axis along which raters disagree."""
    factors = session.scalars(
        sa.select(RaterParameters.factor)
        .join(ScoringState, ScoringState.community_id == RaterParameters.community_id)
        .where(
            RaterParameters.community_id == sample.community_id,
            RaterParameters.version == ScoringState.model_version,
            RaterParameters.kept,
            RaterParameters.profile_id.in_(profile_ids),
        )
    ).all()
    sides = {factor > 0 for factor in factors if factor}
    return len(sides) == 1 and sum(bool(factor) for factor in factors) == len(profile_ids)
