"""Handing items over: assign one to a colleague, put one aside, send one to the community's staff."""

import uuid
from collections.abc import Mapping
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import actions
from app.core.db import serialise_and_reload
from app.core.errors import Conflict, Invalid
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.models import Account, Action, Membership
from app.core.permissions import Actor, Permission, require, roles_with
from app.core.review import claims
from app.core.texts import gettext as _
from app.core.vocabulary import ActionState, ReviewGroup

ASSIGNED, SNOOZED = "claim.assigned", "claim.snoozed"
SNOOZES = (timedelta(hours=1), timedelta(hours=4), timedelta(days=1), timedelta(days=3))
"""For how long an item can be put aside."""


def colleagues(session: Session, actor: Actor, community_id: uuid.UUID) -> Mapping[uuid.UUID, str]:
    """The names of those who moderate the community, by account id and in their order; the actor is among them."""
    require(actor, Permission.SEE_QUEUE, community_id)
    return {account_id: name for account_id, name in session.execute(moderators(community_id))}


def moderators(community_id: uuid.UUID) -> sa.Select[uuid.UUID, str]:
    """SELECT of the ids and names of those who moderate the community, in the order of their names."""
    return (
        sa.select(Account.id, Account.display_name)
        .join(Membership, Membership.account_id == Account.id)
        .where(
            Membership.community_id == community_id,
            Membership.role.in_(roles_with(Permission.MODERATE)),
            Account.disabled_at.is_(None),
        )
        .order_by(sa.func.lower(Account.display_name), Account.id)
    )


def assign(
    session: Session,
    actor: Actor,
    action: Action,
    account_id: uuid.UUID | None,
    *,
    reason: Reason,
    version: int | None = None,
) -> str | None:
    """Assign an item, with a note for the assignee in ``reason``, and end the actor's claim; None takes it back.

    Return the assignee's name. The assignee gets a notice unless they are the actor. ``version`` is the version that
    the moderator's page showed.

    Raises:
        Invalid: this account does not moderate the community.
        Conflict: the item is decided or changed meanwhile, or a colleague is deciding or has claimed it.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    if reason.reason:
        limits.text(reason.reason, "reason", limits.REASON_MAX)
    _lock(session, action)
    name = None
    if account_id is not None:
        name = colleagues(session, actor, action.community_id).get(account_id)
        if name is None:
            raise Invalid.field("assignee", _("must be a moderator of this community"))
    claims.check_changeable(session, actor, action, version)
    if account_id == action.assigned_to_id and not reason.reason:
        return name
    before = action.assigned_to_id
    actions.set_columns(session, action, assigned_to_id=account_id)
    if account_id != actor.account_id:
        claims.release(session, actor, action)
    entry = actions.record(
        session,
        actor,
        action,
        ASSIGNED,
        before={"assigned_to": str(before) if before else None},
        after={"assigned_to": str(account_id) if account_id else None},
        reason=reason,
    )
    if account_id is not None and account_id != actor.account_id:
        notices.notify_taken_over(session, account_id, entry)
    return name


def snooze(
    session: Session, actor: Actor, action: Action, time: timedelta, *, version: int | None = None
) -> None:
    """Leave an item out of the queue for this time and end the actor's claim; zero brings it back at once.

    ``version`` is the version that the moderator's page showed.

    Raises:
        Invalid: the time is not among those offered.
        Conflict: the item is decided or changed meanwhile, or a colleague is deciding or has claimed it.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    if time and time not in SNOOZES:
        raise Invalid.field("snooze", _("must be one of the times that are offered"))
    _lock(session, action)
    claims.check_changeable(session, actor, action, version)
    until = clock.now() + time if time else None
    actions.set_columns(session, action, snoozed_until=until)
    if until is not None:
        claims.release(session, actor, action)
    actions.record(session, actor, action, SNOOZED, after={"until": clock.iso(until) if until else None})


def _lock(session: Session, action: Action) -> None:
    serialise_and_reload(session, action)
    if action.action_state is not ActionState.UNDER_REVIEW:
        raise Conflict(_("This is decided already"), action.id)


def may_escalate(action: Action) -> bool:
    """Whether the item is under review by members, so that it can go to staff."""
    return action.action_state is ActionState.UNDER_REVIEW and action.review_group is not ReviewGroup.STAFF


def escalate(
    session: Session, actor: Actor, action: Action, *, reason: Reason, version: int | None = None
) -> None:
    """Send an item to staff and notify the operators. The actor's claim ends, so that an operator can take it.

    ``version`` is the version that the moderator's page showed.

    Raises:
        Invalid: the reason is missing.
        Conflict: the item is not under review by members or changed meanwhile, or a colleague is deciding it or has
            claimed it.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    limits.text(reason.reason, "reason", limits.REASON_MAX)
    serialise_and_reload(session, action)
    if not may_escalate(action):
        raise Conflict(_("Staff reviews this already, or it is decided"), action.id)
    claims.check_changeable(session, actor, action, version)
    entry = actions.send_to_staff(session, actor, action, reason=reason)
    claims.release(session, actor, action)
    if entry is not None:
        notices.notify_escalated(session, actor, entry)
