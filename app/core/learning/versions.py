"""The versions of the community's model: read, put in force, taken back.

A version is better than the other classifiers, or it is never put in force. What an operator decides stays: after they
went back to an older version, only an operator puts a newer one in force (docs/moderate/learning.md).

Once content or a person is erased, versions not in force lose their weights and words at once. The one in force
loses its words at once and its weights with the next training, which is due at once and starts without what was erased.
"""

import uuid
from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, defer

from app.core import bulk, clock, limits
from app.core.classify.features import FEATURES_VERSION
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.history import notices
from app.core.history.reason import NO_REASON, Reason
from app.core.learning.training import Outcome
from app.core.models import (
    Action,
    Community,
    LearnedCategory,
    LearnedModel,
    Learning,
    Request,
    SampleAnswer,
    SampledPost,
)
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

SHOWN_VERSIONS = 20
VERSIONS_KEPT = 20
"""The versions of a category that are kept beside the one in force; older ones are deleted."""


def versions(
    session: Session, actor: Actor, community_id: uuid.UUID, category: str
) -> Sequence[LearnedModel]:
    """The newest versions of a category, newest first, without their weights."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(
        sa.select(LearnedModel)
        .where(LearnedModel.community_id == community_id, LearnedModel.category == category)
        .order_by(LearnedModel.version.desc())
        .limit(SHOWN_VERSIONS + 1)
        .options(defer(LearnedModel.weights))
    ).all()


def put_in_force(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    category: str,
    version: int,
    reason: str,
    *,
    based_on: int | None = None,
) -> None:
    """Put a version in force, a new one or an old one again; 0: none, the other classifiers alone score.

    Raises:
        Invalid: the reason is missing, or the version is not better, or it is in force already.
        NotFound: there is no such version.
        Conflict: the version was erased or trained by another release, or another one was put in force since
            ``based_on``.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    serialise(session, community_id)
    row = category_row(session, community_id, category)
    if row is None:
        raise NotFound("category")
    if based_on is not None and based_on != row.version_in_force:
        raise Conflict(
            _(
                "Version %(version)s was put in force in the meantime",
                version=row.version_in_force,
            ),
            community_id,
        )
    if version == row.version_in_force:
        raise Invalid.field("version", _("is in force already"))
    chosen = find(session, community_id, category, version) if version else None
    if chosen is not None:
        if chosen.erased_at is not None:
            raise Conflict(_("It was trained on content that has been erased since"), chosen.id)
        if chosen.features != FEATURES_VERSION:
            raise Conflict(_("It was trained by another release of the service"), chosen.id)
        if chosen.outcome != Outcome.BETTER:
            raise Invalid.field("version", _("is not better than the other classifiers alone"))
    # The way back must last: the next training would otherwise undo it in the night.
    row.asks_first = version < _newest_better(session, community_id, category)
    set_in_force(session, actor, row, chosen, reason=Reason(reason))


def set_in_force(
    session: Session,
    actor: Actor,
    row: LearnedCategory,
    chosen: LearnedModel | None,
    *,
    reason: Reason = NO_REASON,
) -> None:
    """Change which version of a category is in force, and write it to history. The caller holds the lock.

    Operators get a notice where none of them did it.
    """
    previous, row.version_in_force = row.version_in_force, chosen.version if chosen is not None else 0
    row.in_force_since = clock.now() if chosen is not None else None
    if chosen is None or chosen.version >= row.waiting_version:
        row.waiting_version = 0
    session.flush()
    after: dict[str, Any] = {"category": row.category}
    if chosen is not None:
        after |= {"version": chosen.version, "labels": chosen.labels}
    entry = history.record(
        session,
        actor,
        row.community_id,
        "learning.put_in_force" if chosen is not None else "learning.taken_out",
        "learned_model",
        chosen.id if chosen is not None else row.community_id,
        before={"category": row.category} | ({"version": previous} if previous else {}),
        after=after,
        reason=reason,
    )
    if actor.kind == "system":
        notices.notify_learned(session, entry)


def take_out(session: Session, row: LearnedCategory, cause: str) -> None:
    """Let the other classifiers score alone again, without an operator. The caller holds the lock."""
    if row.version_in_force:
        set_in_force(session, SYSTEM, row, None, reason=Reason(cause=cause))


def is_usable(model: LearnedModel) -> bool:
    """Whether a version could score: nothing of it was erased, and this release computes its features."""
    return model.erased_at is None and model.features == FEATURES_VERSION


def category_row(session: Session, community_id: uuid.UUID, category: str) -> LearnedCategory | None:
    return session.get(LearnedCategory, (community_id, category), populate_existing=True)


def rows(session: Session, community_id: uuid.UUID) -> Sequence[LearnedCategory]:
    """The community's categories, read again from the database, by name."""
    return session.scalars(
        sa.select(LearnedCategory)
        .where(LearnedCategory.community_id == community_id)
        .order_by(LearnedCategory.category)
        .execution_options(populate_existing=True)
    ).all()


def settings_row(session: Session, community_id: uuid.UUID) -> Learning:
    """The community's settings, made with the defaults if there are none yet. The caller holds the lock."""
    learning = session.get(Learning, community_id, populate_existing=True)
    if learning is None:
        learning = Learning(
            community_id=community_id, is_on=True, asks_first=False, history_number=0, erasures=0
        )
        session.add(learning)
        session.flush()
    return learning


def find(session: Session, community_id: uuid.UUID, category: str, version: int) -> LearnedModel:
    """One version, without its weights.

    Raises:
        NotFound: there is no such version.
    """
    row = session.scalars(
        sa.select(LearnedModel)
        .where(
            LearnedModel.community_id == community_id,
            LearnedModel.category == category,
            LearnedModel.version == version,
        )
        .options(defer(LearnedModel.weights))
    ).first()
    if row is None:
        raise NotFound("version")
    return row


def _newest_better(session: Session, community_id: uuid.UUID, category: str) -> int:
    """The newest version that could be in force, 0 if there is none."""
    return (
        session.scalar(
            sa.select(sa.func.max(LearnedModel.version)).where(
                LearnedModel.community_id == community_id,
                LearnedModel.category == category,
                LearnedModel.outcome == Outcome.BETTER,
                LearnedModel.erased_at.is_(None),
                LearnedModel.features == FEATURES_VERSION,
            )
        )
        or 0
    )


CAUSE = lazy_gettext("content that it was trained on was erased")


def content_erased(session: Session, community_id: uuid.UUID, request_ids: Sequence[uuid.UUID]) -> None:
    """Forget the content of these posts. Without a decision about any of them, nothing was learned from them."""
    was_decided = session.scalar(
        sa.select(Action.id)
        .where(Action.request_id.in_(request_ids), Action.action_tier.is_not(None))
        .limit(1)
    )
    was_labelled = delete_samples(session, SampledPost.request_id.in_(request_ids))
    if was_decided is not None or was_labelled:
        forget(session, community_id)


def delete_samples(session: Session, which: sa.ColumnElement[bool]) -> set[uuid.UUID]:
    """Delete samples with all answers. Return the communities in which some of them were labels."""
    samples = session.execute(
        sa.select(SampledPost.id, SampledPost.community_id, SampledPost.acted).where(which)
    ).all()
    ids = [row.id for row in samples]
    for model, column in ((SampleAnswer, SampleAnswer.sample_id), (SampledPost, SampledPost.id)):
        session.execute(
            sa.delete(model).where(column.in_(ids)).execution_options(synchronize_session="fetch")
        )
    return {row.community_id for row in samples if row.acted is not None}


def person_erased(
    session: Session, community_ids: Collection[uuid.UUID], author_ids: Collection[str]
) -> None:
    """Forget what was learned in these communities, where a post by the person was decided.

    ``author_ids`` are the person's ids on the platform, as their posts have them now.
    """
    is_theirs = sa.or_(
        Request.platform_author_id.in_(author_ids),
        sa.and_(Request.platform_author_id.is_(None), Request.requested_by.in_(author_ids)),
    )
    learned_from = session.scalars(
        sa.select(Request.community_id)
        .join(Action, Action.request_id == Request.id)
        .where(Request.community_id.in_(list(community_ids)), is_theirs, Action.action_tier.is_not(None))
        .distinct()
    ).all()
    theirs = sa.select(Request.id).where(Request.community_id.in_(list(community_ids)), is_theirs)
    sampled_in = delete_samples(session, SampledPost.request_id.in_(theirs))
    for community_id in sorted({*learned_from, *sampled_in}):
        forget(session, community_id)


def forget(session: Session, community_id: uuid.UUID) -> None:
    """Empty the versions of a community, and train it again."""
    serialise(session, community_id)
    learning = session.get(Learning, community_id, populate_existing=True)
    if learning is None:
        return
    learning.erasures += 1
    learning.due_at = clock.now()
    community = session.get_one(Community, community_id, populate_existing=True)
    # Nothing is trained there, so no training would replace the version in force.
    is_idle = not learning.is_on or community.archived_at is not None
    for row in rows(session, community_id):
        row.waiting_version = 0
        if is_idle:
            take_out(session, row, CAUSE)
    session.flush()
    _empty(session, LearnedModel.community_id == community_id, ~_is_in_force())
    _empty(session, LearnedModel.community_id == community_id, _is_in_force(), keep_weights=True)


def drop_erased(session: Session, row: LearnedCategory) -> None:
    """Take a version that was emptied out of force, and remove its weights. The caller holds the lock."""
    is_erased = sa.and_(
        LearnedModel.community_id == row.community_id,
        LearnedModel.category == row.category,
        LearnedModel.erased_at.is_not(None),
    )
    in_force = session.scalar(
        sa.select(LearnedModel.id).where(is_erased, LearnedModel.version == row.version_in_force)
    )
    if in_force is not None:
        take_out(session, row, CAUSE)
    _empty(session, is_erased, LearnedModel.version != row.version_in_force)


def _is_in_force() -> sa.ColumnElement[bool]:
    return sa.exists().where(
        LearnedCategory.community_id == LearnedModel.community_id,
        LearnedCategory.category == LearnedModel.category,
        LearnedCategory.version_in_force == LearnedModel.version,
    )


def _empty(session: Session, *which: sa.ColumnElement[bool], keep_weights: bool = False) -> None:
    emptied = {"words": {}, "erased_at": clock.now()} | ({} if keep_weights else {"weights": None})
    bulk.change(session, sa.update(LearnedModel).where(*which).values(emptied))
