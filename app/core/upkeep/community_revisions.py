"""What operators change of a community: settings, pausing and archiving.

Every change has a reason. A change of settings is refused if it is based on outdated values.
"""

import hashlib
import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, outbox
from app.core.actions import actions
from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.communities.settings import COLUMNS, SETTINGS
from app.core.db import serialise
from app.core.errors import Conflict
from app.core.helpfulness import refits
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Action, Community, HistoryEntry, HistoryText, Hold
from app.core.permissions import Actor, Permission, require
from app.core.review import holds
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import IN_REVIEW

END_REVIEWS_JOB = "end_reviews"
REVIEWS_AT_ONCE = 25
"""Reviews ended in one transaction."""
ARCHIVED = lazy_gettext("the community was archived")


def values_of(session: Session, community: Community) -> dict[str, Any]:
    """The values in force of everything that an operator can set, by name. Empty texts of ``COLUMNS`` are None."""
    settings = community_settings.for_community(community, community_settings.defaults(session))
    return {name: getattr(community, name) for name in COLUMNS} | asdict(settings)


def version_of(values: Mapping[str, Any]) -> str:
    """Opaque version of these values, so that a form on a stale page is refused."""
    return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def revise(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    values: Mapping[str, Any],
    reason: str,
    *,
    based_on: str | None = None,
) -> bool:
    """Set these values by name; all others stay. Return whether anything changed.

    ``based_on`` is the ``version_of`` the same values that the caller saw. A setting that was never changed here keeps
    following the service's default.

    Raises:
        Invalid: a text is too long, a number is out of bounds, or the name or the reason is blank.
        Conflict: other values were saved meanwhile.
        Forbidden: an operator would change what only admins may.
    """
    community = _held(session, actor, Permission.REVISE_POLICY, community_id, reason)
    community_settings.check(values)
    current = {name: value for name, value in values_of(session, community).items() if name in values}
    if based_on is not None and based_on != version_of(current):
        raise Conflict(_("Other values were saved meanwhile"), community_id)
    before = {name: value for name, value in current.items() if value != values[name]}
    if not before:
        return False
    if any(setting.admins_only for name, setting in SETTINGS.items() if name in before):
        require(actor, Permission.MANAGE_PEOPLE, community_id)
    after = {name: values[name] for name in before}
    for name in after.keys() & COLUMNS.keys():
        setattr(community, name, after[name])
    set_here = {name: value for name, value in after.items() if name in SETTINGS}
    if set_here:
        community.settings = {**community.settings, **set_here}
    if any(SETTINGS[name].rescores for name in set_here):
        session.flush()
        refits.ask(session, community_id)
    _record(session, actor, community, "revised", before, after, reason)
    return True


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
        .limit(REVIEWS_AT_ONCE)
        .execution_options(populate_existing=True)
    ).all()
    for action in waiting:
        actions.lapse(session, action, reason=Reason(cause=ARCHIVED))
    if len(waiting) == REVIEWS_AT_ONCE:
        _enqueue_end(session, community_id)
    return len(waiting)


def _enqueue_end(session: Session, community_id: uuid.UUID) -> None:
    args = {"community_id": str(community_id)}
    outbox.enqueue(session, END_REVIEWS_JOB, args, community_id=community_id)


def changes(
    session: Session,
    actor: Actor,
    permission: Permission,
    community_id: uuid.UUID,
    *object_types: str,
    among: sa.Select[uuid.UUID] | None = None,
    limit: int = 20,
) -> Sequence[tuple[HistoryEntry, HistoryText]]:
    """The history of a community's objects of these types, newest first, with actor and reason.

    ``among`` selects the ids of the objects that the actor may see; None: all.
    """
    require(actor, permission, community_id)
    visible = sa.true() if among is None else HistoryEntry.object_id.in_(among)
    rows = session.execute(
        sa.select(HistoryEntry, HistoryText)
        .join(HistoryText, HistoryText.entry_id == HistoryEntry.id)
        .where(HistoryEntry.community_id == community_id, HistoryEntry.object_type.in_(object_types), visible)
        .order_by(HistoryEntry.number.desc())
        .limit(limit)
    )
    return [(entry, text) for entry, text in rows]


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
        reason=Reason(reason),
    )
