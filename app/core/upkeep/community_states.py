"""Pause a community's automatic actions, and archive a community (decision 0020)."""

import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, outbox
from app.core.actions import actions
from app.core.communities import communities
from app.core.db import serialise
from app.core.history import chain as history
from app.core.history.why import Why
from app.core.models import Action, Community, Hold
from app.core.permissions import Actor, Permission, require
from app.core.review import holds
from app.core.vocabulary import IN_REVIEW

END_REVIEWS_JOB = "end_reviews"
BATCH = 25
"""Reviews ended in one transaction."""
CAUSE = "the community was archived"


def pause(session: Session, actor: Actor, community_id: uuid.UUID, reason: str) -> Community:
    """From this transaction on, in every process, Tier 1 sends to review instead of acting. Idempotent."""
    community = _held(session, actor, Permission.PAUSE_ACTIONS, community_id, reason)
    if community.paused_at is None:
        community.paused_at = clock.now()
        community.paused_by, community.paused_reason = actor.name, reason
        _record(session, actor, community, "paused", {"paused": False}, {"paused": True}, reason)
    return community


def resume(session: Session, actor: Actor, community_id: uuid.UUID, reason: str) -> Community:
    """Let Tier 1 act again; what was sent to review meanwhile stays there. Idempotent."""
    community = _held(session, actor, Permission.PAUSE_ACTIONS, community_id, reason)
    if community.paused_at is not None:
        community.paused_at = community.paused_by = community.paused_reason = None
        _record(session, actor, community, "resumed", {"paused": True}, {"paused": False}, reason)
    return community


def archive(session: Session, actor: Actor, community_id: uuid.UUID, reason: str) -> Community:
    """Archive a community: it becomes read-only. Idempotent.

    Decisions that could still be undone are carried out first; then its reviews end, one batch per job.
    """
    community = _held(session, actor, Permission.ARCHIVE, community_id, reason)
    if community.archived_at is not None:
        return community
    held = session.scalars(
        sa.select(Hold.id).where(Hold.community_id == community_id).order_by(Hold.id)
    ).all()
    for hold_id in held:
        holds.carry_out(session, hold_id)
    community.archived_at = clock.now()
    _record(session, actor, community, "archived", {"archived": False}, {"archived": True}, reason)
    _enqueue_end(session, community_id)
    return community


def unarchive(session: Session, actor: Actor, community_id: uuid.UUID, reason: str) -> Community:
    """Reopen an archived community. Its ended reviews stay ended. Idempotent."""
    community = _held(session, actor, Permission.ARCHIVE, community_id, reason)
    if community.archived_at is not None:
        community.archived_at = None
        _record(session, actor, community, "unarchived", {"archived": True}, {"archived": False}, reason)
    return community


def end_reviews(session: Session, community_id: uuid.UUID) -> int:
    """End a batch of an archived community's reviews. Return how many; 0 when none is left or it was reopened.

    The outcome is the same as when time runs out: a first review is dismissed, a second look confirms.
    """
    serialise(session, community_id)
    community = session.get_one(Community, community_id, populate_existing=True)
    if community.archived_at is None:
        return 0
    waiting = session.scalars(
        sa.select(Action)
        .where(
            Action.community_id == community_id,
            Action.action_state.in_(IN_REVIEW),
        )
        .order_by(Action.created_at)
        .limit(BATCH)
        .execution_options(populate_existing=True)
    ).all()
    for action in waiting:
        actions.lapse(session, action, why=Why(cause=CAUSE))
    if len(waiting) == BATCH:
        _enqueue_end(session, community_id)
    return len(waiting)


def _enqueue_end(session: Session, community_id: uuid.UUID) -> None:
    args = {"community_id": str(community_id)}
    outbox.enqueue(session, END_REVIEWS_JOB, args, community_id=community_id)


def _held(
    session: Session, actor: Actor, permission: Permission, community_id: uuid.UUID, reason: str
) -> Community:
    """The community's current row, locked until the transaction ends."""
    require(actor, permission, community_id)
    limits.text(reason, "reason", limits.REASON_MAX)
    serialise(session, community_id)
    community = communities.get(session, actor, community_id)
    session.refresh(community)
    return community


def _record(
    session: Session,
    actor: Actor,
    community: Community,
    what: str,
    before: dict[str, Any],
    after: dict[str, Any],
    reason: str,
) -> None:
    session.flush()
    history.record(
        session,
        actor,
        community.id,
        f"community.{what}",
        "community",
        community.id,
        before=before,
        after=after,
        why=Why(reason),
    )
