"""Members of a community: change roles, remove members, disable accounts (docs/moderate/admin.md).

The actor's role is read again under the community's lock, so of two admins demoting each other only the first
succeeds.
"""

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from app.core import bulk, clock, limits, security_events
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import Account, Action, Community, IdentityProvider, Membership, Removal
from app.core.people import accounts, member_lists, own_data_files, sessions
from app.core.permissions import (
    Actor,
    Permission,
    require_service_admin,
    roles_with,
)
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, Role, SessionEnd

SERVICE = uuid.UUID(int=0)
"""The lock for disabling accounts; no community has this id."""
LAST_ADMIN = lazy_gettext("You are the last admin here. Make another member an admin first")
LAST_SERVICE_ADMIN = lazy_gettext("You are the last service admin. Appoint another one first")


def change_role(
    session: Session, actor: Actor, membership_id: uuid.UUID, role: Role, reason: str
) -> Membership:
    """Give a member another role; giving the role that they have changes nothing.

    Who does not moderate any more lets go of the items that they hold or are to decide.

    A role above the one that a provider's groups gave is the member's own from then on.

    Raises:
        Forbidden: the old or the new role is above the actor's own.
        Conflict: the actor is the last admin and would give up that role; or a provider's groups give the old role, and
            the new one is lower.
    """
    membership, actor_role = _locked(session, actor, membership_id, reason)
    before = membership.role
    if before is role:
        return membership
    _refuse_above(actor_role, before, role)
    _keep_an_admin(session, actor, membership)
    if membership.provider_id is not None and role.rank < before.rank:
        label = session.get_one(IdentityProvider, membership.provider_id).label
        raise Conflict(
            _(
                "The groups of %(provider)s give this role. Change it there, or remove the member",
                provider=label,
            )
        )
    membership.role, membership.provider_id, membership.given_role = role, None, None
    session.flush()
    if role not in roles_with(Permission.MODERATE):
        let_go(session, membership.community_id, [membership.account_id])
    record_role(session, actor, membership, before, role, reason)
    return membership


def remove(session: Session, actor: Actor, membership_id: uuid.UUID, reason: str) -> Membership:
    """Remove a member from the community: only an invitation brings them back. Their ratings and notes stay.

    The items that they hold or are to decide go back to the others.

    Raises:
        Forbidden, Conflict: as ``change_role``.
    """
    membership, actor_role = _locked(session, actor, membership_id, reason)
    _refuse_above(actor_role, membership.role)
    _keep_an_admin(session, actor, membership)
    session.delete(membership)
    let_go(session, membership.community_id, [membership.account_id])
    # Otherwise the provider's groups would bring back who removed themselves.
    if actor.account_id != membership.account_id or membership.provider_id is not None:
        ids = {"community_id": membership.community_id, "account_id": membership.account_id}
        session.merge(Removal(**ids, removed_at=clock.now()))
    session.flush()
    record_role(session, actor, membership, membership.role, None, reason)
    return membership


def set_disabled(
    session: Session,
    actor: Actor,
    account_id: uuid.UUID,
    disabled: bool,
    reason: str,
    *,
    session_end: SessionEnd = SessionEnd.ADMIN,
) -> Account:
    """Disable an account, which ends all its sessions at once, or enable it. Repeating it changes nothing.

    The items that a disabled account holds or is to decide go back to the others. ``session_end``: what its owner reads
    about the ended sessions.

    Raises:
        Forbidden: the actor is no service admin.
        Conflict: it is the actor's own account, and they are a community's last admin or the last service admin.
    """
    require_service_admin(actor, _("Only a service admin disables accounts"))
    limits.text(reason, "reason", limits.REASON_MAX)
    serialise(session, SERVICE)
    if actor.kind != "system":
        acting = _account_now(session, actor)
        if acting is None or not acting.service_admin:
            raise Forbidden(_("You are no service admin any more"))
    account = accounts.get(session, account_id, again=True)
    if (account.disabled_at is not None) == disabled:
        return account
    memberships = sorted(account.memberships, key=lambda membership: membership.community_id)
    for membership in memberships:
        serialise(session, membership.community_id)
    if disabled and account.id == actor.account_id:
        for membership in memberships:
            _keep_an_admin(session, actor, membership)
        if is_last_service_admin(session, account):
            raise Conflict(LAST_SERVICE_ADMIN)
    account.disabled_at = clock.now() if disabled else None
    session.flush()
    if disabled:
        sessions.end_all(session, account.id, reason=session_end)
        own_data_files.remove(session, account.id)
        for membership in memberships:
            let_go(session, membership.community_id, [membership.account_id])
    event = SecurityEvent.ACCOUNT_DISABLED if disabled else SecurityEvent.ACCOUNT_ENABLED
    security_events.log_at_commit(session, event, actor, account_id=account.id)
    what = "account.disabled" if disabled else "account.enabled"
    for membership in memberships:
        history.record(
            session,
            actor,
            membership.community_id,
            what,
            "account",
            account.id,
            before={"disabled": not disabled},
            after={"disabled": disabled},
            reason=Reason(reason),
        )
    return account


def refuse_last_admin(session: Session, actor: Actor) -> None:
    """Refuse to let the actor leave the service while they are an open community's last admin.

    The caller holds the communities' locks.

    Raises:
        Conflict: names the community.
    """
    memberships = session.execute(
        sa.select(Membership, Community.name)
        .join(Community, Community.id == Membership.community_id)
        .where(Membership.account_id == actor.account_id, Community.archived_at.is_(None))
        .order_by(Membership.community_id)
        .execution_options(populate_existing=True)
    )
    for membership, name in memberships:
        if is_last_admin(session, membership):
            raise Conflict(
                _(
                    "You are the last admin of %(name)s. Make another member an admin there or archive it first",
                    name=name,
                ),
                membership.community_id,
            )


def _locked(session: Session, actor: Actor, membership_id: uuid.UUID, reason: str) -> tuple[Membership, Role]:
    """Lock the community; return the current membership and the actor's current role."""
    limits.text(reason, "reason", limits.REASON_MAX)
    community_id = member_lists.get(session, actor, membership_id).membership.community_id
    serialise(session, community_id)
    membership = session.scalars(
        sa.select(Membership)
        .where(Membership.id == membership_id)
        .options(joinedload(Membership.account))
        .execution_options(populate_existing=True)
    ).first()
    if membership is None:
        raise NotFound("member")
    return membership, _role_now(session, actor, community_id)


def let_go(session: Session, community_id: uuid.UUID, account_ids: Sequence[uuid.UUID]) -> None:
    """End these members' claims in the community, and their assignments to items that are or may come under review."""
    theirs = sa.update(Action).where(Action.community_id == community_id)
    bulk.change(
        session,
        theirs.where(Action.claimed_by_id.in_(account_ids)).values(
            claimed_by_id=None, claimed_until=None, updated_at=Action.updated_at
        ),
    )
    bulk.change(
        session,
        theirs.where(
            Action.assigned_to_id.in_(account_ids),
            Action.action_state.in_((ActionState.UNDER_REVIEW, ActionState.PROPOSED)),
        ).values(assigned_to_id=None, updated_at=Action.updated_at),
    )


def _account_now(session: Session, actor: Actor) -> Account | None:
    """The actor's account as it is now; None if it is disabled."""
    account = session.get(Account, actor.account_id, populate_existing=True)
    return account if account is not None and account.disabled_at is None else None


def _role_now(session: Session, actor: Actor, community_id: uuid.UUID) -> Role:
    if actor.kind == "system":
        return Role.ADMIN
    account = _account_now(session, actor)
    if account is not None and account.service_admin:
        return Role.ADMIN
    role = session.scalar(
        sa.select(Membership.role).where(
            Membership.account_id == actor.account_id, Membership.community_id == community_id
        )
    )
    if role is not Role.ADMIN or account is None:
        raise Forbidden(_("You are no admin of this community any more"))
    return role


def _refuse_above(actor_role: Role, *roles: Role) -> None:
    if any(role.rank > actor_role.rank for role in roles):
        raise Forbidden(_("You may not give or take a role above your own"))


def _keep_an_admin(session: Session, actor: Actor, membership: Membership) -> None:
    """Refuse to let the actor leave a community without an admin. Another admin's action cannot: that admin stays."""
    if membership.account_id == actor.account_id and is_last_admin(session, membership):
        raise Conflict(LAST_ADMIN, membership.community_id)


def is_last_admin(session: Session, membership: Membership) -> bool:
    other_admins = sa.and_(
        Membership.community_id == membership.community_id,
        Membership.role == Role.ADMIN,
        Membership.id != membership.id,
    )
    return membership.role is Role.ADMIN and not _any_active(session, other_admins)


def is_last_service_admin(session: Session, account: Account) -> bool:
    """Whether no other service admin can sign in. The caller holds the lock ``SERVICE``."""
    others = Account.service_admin, Account.id != account.id
    return account.service_admin and not _any_active(session, *others)


def _any_active(session: Session, *conditions: Any) -> bool:
    """Whether any account matches ``conditions`` and can sign in."""
    matching = (
        sa.select(Account.id)
        .outerjoin(Membership, Membership.account_id == Account.id)
        .where(accounts.can_sign_in(), *conditions)
    )
    return session.scalar(matching.limit(1)) is not None


def record_role(
    session: Session,
    actor: Actor,
    membership: Membership,
    before: Role | None,
    after: Role | None,
    reason: str = "",
    *,
    cause: str = "",
) -> None:
    """Record a changed role in the history and as a security event; None is no role."""
    account_id, community_id = membership.account_id, membership.community_id
    role_before, role_after = (role.value if role is not None else None for role in (before, after))
    history.record(
        session,
        actor,
        community_id,
        "role.given" if after is not None else "role.taken",
        "account",
        account_id,
        before={"role": role_before},
        after={"role": role_after},
        reason=Reason(reason, cause=cause),
    )
    accounts.log_role_change(session, actor, account_id, community_id, role_before, role_after)
