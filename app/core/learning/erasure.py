"""Removes what was learned from content or persons that are erased.

Versions that are not in force lose their weights and words at once. The one in force loses its words at once and its
weights with the next training, which is due at once and starts without what was erased (docs/moderate/learning.md).
"""

import uuid
from collections.abc import Collection, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db import serialise
from app.core.learning import versions
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

CAUSE = "content that it was trained on was erased"


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
    rows = session.execute(
        sa.select(SampledPost.id, SampledPost.community_id, SampledPost.acted).where(which)
    ).all()
    ids = [row.id for row in rows]
    for model, column in ((SampleAnswer, SampleAnswer.sample_id), (SampledPost, SampledPost.id)):
        session.execute(
            sa.delete(model).where(column.in_(ids)).execution_options(synchronize_session="fetch")
        )
    return {row.community_id for row in rows if row.acted is not None}


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
    for row in versions.rows(session, community_id):
        row.waiting_version = 0
        if is_idle:
            versions.take_out(session, row, CAUSE)
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
        versions.take_out(session, row, CAUSE)
    _empty(session, is_erased, LearnedModel.version != row.version_in_force)


def _is_in_force() -> sa.ColumnElement[bool]:
    return sa.exists().where(
        LearnedCategory.community_id == LearnedModel.community_id,
        LearnedCategory.category == LearnedModel.category,
        LearnedCategory.version_in_force == LearnedModel.version,
    )


def _empty(session: Session, *which: sa.ColumnElement[bool], keep_weights: bool = False) -> None:
    emptied = {"words": {}, "erased_at": clock.now()} | ({} if keep_weights else {"weights": None})
    session.execute(
        sa.update(LearnedModel).where(*which).values(emptied).execution_options(synchronize_session=False)
    )
