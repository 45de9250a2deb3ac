"""The versions of the community's model: read, put in force, taken back.

A version is better than the other classifiers, or it is never put in force. What an operator decides stays: after they
went back to an older version, only an operator puts a newer one in force (docs/moderate/learning.md).
"""

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, defer

from app.core import clock, limits
from app.core.classify.features import FEATURES_VERSION
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.history import notices
from app.core.history.why import UNSAID, Why
from app.core.learning.training import Outcome
from app.core.models import LearnedCategory, LearnedModel, Learning
from app.core.permissions import SYSTEM, Actor, Permission, require

SHOWN_VERSIONS = 20
VERSIONS_KEPT = 20
"""So many versions of a category are kept beside the one in force; older ones are deleted."""


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
        raise Conflict(f"Version {row.version_in_force} was put in force in the meantime", community_id)
    if version == row.version_in_force:
        raise Invalid.field("version", "is in force already")
    chosen = find(session, community_id, category, version) if version else None
    if chosen is not None:
        if chosen.erased_at is not None:
            raise Conflict("It was trained on content that has been erased since", chosen.id)
        if chosen.features != FEATURES_VERSION:
            raise Conflict("It was trained by another release of the service", chosen.id)
        if chosen.outcome != Outcome.BETTER:
            raise Invalid.field("version", "is not better than the other classifiers alone")
    # The way back must last: the next training would otherwise undo it in the night.
    row.asks_first = version < _newest_better(session, community_id, category)
    set_in_force(session, actor, row, chosen, why=Why(reason))


def set_in_force(
    session: Session, actor: Actor, row: LearnedCategory, chosen: LearnedModel | None, *, why: Why = UNSAID
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
        why=why,
    )
    if actor.kind == "system":
        notices.tell_learned(session, entry)


def take_out(session: Session, row: LearnedCategory, cause: str) -> None:
    """Let the other classifiers score alone again, without an operator. The caller holds the lock."""
    if row.version_in_force:
        set_in_force(session, SYSTEM, row, None, why=Why(cause=cause))


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
