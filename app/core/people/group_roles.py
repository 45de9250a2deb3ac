"""Groups to roles: the groups that a provider says a person is in give them roles (docs/run/scim.md).

The groups come from the claims of a sign-in or refresh (``Identity.claimed_groups``) and by SCIM (``ProviderGroup``).
The highest role counts. A role that people gave is never lowered or taken: a provider may raise it, and it comes back
when the provider takes its own. No group makes a service admin.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import outbox, security_events
from app.core.db import serialise
from app.core.history import chain as history
from app.core.models import (
    GroupRole,
    Identity,
    IdentityProvider,
    Membership,
    ProviderGroup,
    ProviderGroupMember,
    Removal,
)
from app.core.people import members, sessions
from app.core.permissions import Actor, Permission, roles_with
from app.core.security_events import SecurityEvent
from app.core.texts import lazy_gettext
from app.core.vocabulary import Role, SessionEnd

APPLY_JOB = "apply_group_roles"
BATCH = 100
CAUSE = lazy_gettext("groups of the sign-in provider")


def provider_actor(provider: IdentityProvider) -> Actor:
    """The provider as the actor of what it changes: the history says that it was by the provider."""
    return Actor(kind="system", name=provider.label, communities=None)


def apply(session: Session, provider_id: uuid.UUID, account_id: uuid.UUID) -> int:
    """Give, change and take the account's roles after its groups at this provider changed. Returns how many changed.

    People who lose rights are signed out everywhere (``SessionEnd.ROLES``); call this before a new session begins.
    """
    return apply_all(session, provider_id, [account_id])


def apply_all(session: Session, provider_id: uuid.UUID, account_ids: Collection[uuid.UUID]) -> int:
    """``apply`` for up to ``BATCH`` accounts: the number of queries for those without a change does not grow."""
    # Not before this lock: of two changes of one person's groups, the later one must see the earlier.
    serialise(session, provider_id)
    if not _plan(session, provider_id, account_ids):
        return 0
    communities = _communities(session, provider_id, account_ids)
    for community_id in sorted(communities):
        serialise(session, community_id)
    providers = {provider.id: provider for provider in session.scalars(sa.select(IdentityProvider))}
    changed, losers = 0, set[uuid.UUID]()
    let_go: dict[uuid.UUID, list[uuid.UUID]] = defaultdict(list)
    with history.gathered(session):
        for change in _plan(session, provider_id, account_ids, communities):
            if not change.lowers:
                changed += _carry_out(session, change, providers)
            elif change.membership is None or not members.is_last_admin(session, change.membership):
                changed += _carry_out(session, change, providers)
                losers.add(change.account_id)
                if change.ends_moderating:
                    let_go[change.community_id].append(change.account_id)
            else:
                security_events.log_at_commit(
                    session,
                    SecurityEvent.LAST_ADMIN_KEPT,
                    account_id=change.account_id,
                    community_id=change.community_id,
                    provider_id=provider_id,
                )
    for community_id, former in let_go.items():
        members.let_go(session, community_id, former)
    if losers:
        sessions.end_all_of(session, sorted(losers), SessionEnd.ROLES)
    return changed


def apply_next(session: Session, provider_id: uuid.UUID, after: uuid.UUID | None) -> uuid.UUID | None:
    """``apply`` for the next accounts of the provider, in the order of ids. Returns the last one's, None at the end."""
    statement = sa.select(Identity.account_id).where(Identity.provider_id == provider_id).distinct()
    if after is not None:
        statement = statement.where(Identity.account_id > after)
    account_ids = session.scalars(statement.order_by(Identity.account_id).limit(BATCH)).all()
    if account_ids:
        apply_all(session, provider_id, account_ids)
    return account_ids[-1] if len(account_ids) == BATCH else None


def apply_later(session: Session, provider_id: uuid.UUID) -> None:
    """``apply`` for all accounts of the provider, by a job."""
    outbox.enqueue(session, APPLY_JOB, {"provider_id": str(provider_id)}, community_id=None)


@dataclass(frozen=True)
class _Target:
    """The membership as it should be. ``provider_id`` None: the role is one that people gave."""

    role: Role
    provider_id: uuid.UUID | None
    given_role: Role | None


@dataclass(frozen=True)
class _Change:
    account_id: uuid.UUID
    community_id: uuid.UUID
    membership: Membership | None
    target: _Target | None

    @property
    def lowers(self) -> bool:
        if self.membership is None:
            return False
        return self.target is None or self.target.role.rank < self.membership.role.rank

    @property
    def ends_moderating(self) -> bool:
        return self.target is None or self.target.role not in roles_with(Permission.MODERATE)


def _communities(
    session: Session, provider_id: uuid.UUID, account_ids: Collection[uuid.UUID]
) -> set[uuid.UUID]:
    """Where the provider's groups give roles, or have given one to these accounts."""
    mapped = sa.select(GroupRole.community_id).where(GroupRole.provider_id == provider_id)
    theirs = sa.select(Membership.community_id).where(
        Membership.provider_id == provider_id, Membership.account_id.in_(account_ids)
    )
    return set(session.scalars(sa.union(mapped, theirs)))


def _plan(
    session: Session,
    provider_id: uuid.UUID,
    account_ids: Collection[uuid.UUID],
    communities: Collection[uuid.UUID] | None = None,
) -> list[_Change]:
    """What is to change in these communities: by default in all that the provider's groups reach."""
    if communities is None:
        communities = _communities(session, provider_id, account_ids)
    if not communities:
        return []
    wanted = _wanted(session, account_ids, communities)
    here = Membership.account_id.in_(account_ids), Membership.community_id.in_(communities)
    memberships = {
        (membership.account_id, membership.community_id): membership
        for membership in session.scalars(
            sa.select(Membership).where(*here).execution_options(populate_existing=True)
        )
    }
    removed = {
        (account_id, community_id)
        for account_id, community_id in session.execute(
            sa.select(Removal.account_id, Removal.community_id).where(
                Removal.account_id.in_(account_ids), Removal.community_id.in_(communities)
            )
        )
    }
    changes = []
    for place in sorted({*wanted, *memberships}):
        membership = memberships.get(place)
        # Only an invitation brings back who was removed.
        if membership is None and place in removed:
            continue
        target = _target(membership, wanted.get(place))
        if target != _as_it_is(membership):
            changes.append(_Change(*place, membership, target))
    return changes


def _wanted(
    session: Session, account_ids: Collection[uuid.UUID], communities: Collection[uuid.UUID]
) -> dict[tuple[uuid.UUID, uuid.UUID], tuple[Role, uuid.UUID]]:
    """The highest role that groups give each account in each community, and the provider that gives it.

    The groups of other providers count too: one provider's end does not take what another gives.
    """
    rules: dict[tuple[uuid.UUID, str], list[GroupRole]] = defaultdict(list)
    for rule in session.scalars(
        sa.select(GroupRole)
        .join(IdentityProvider, IdentityProvider.id == GroupRole.provider_id)
        .where(GroupRole.community_id.in_(communities), IdentityProvider.removed_at.is_(None))
    ):
        rules[rule.provider_id, rule.value].append(rule)
    identities = session.execute(
        sa.select(Identity.id, Identity.account_id, Identity.provider_id, Identity.claimed_groups).where(
            Identity.account_id.in_(account_ids)
        )
    ).all()
    groups = {
        (account_id, provider_id, value)
        for _, account_id, provider_id, claimed in identities
        for value in claimed
    }
    sent = session.execute(
        sa.select(ProviderGroupMember.identity_id, ProviderGroup.name)
        .join(ProviderGroup, ProviderGroup.id == ProviderGroupMember.group_id)
        .where(
            ProviderGroupMember.identity_id.in_([identity_id for identity_id, *_ in identities]),
            ProviderGroup.name.in_({value for _, value in rules}),
        )
    )
    owners = {
        identity_id: (account_id, provider_id) for identity_id, account_id, provider_id, _ in identities
    }
    groups |= {(*owners[identity_id], name) for identity_id, name in sent}
    wanted: dict[tuple[uuid.UUID, uuid.UUID], tuple[Role, uuid.UUID]] = {}
    for account_id, provider_id, value in sorted(groups):
        for rule in rules.get((provider_id, value), ()):
            place = account_id, rule.community_id
            if place not in wanted or rule.role.rank > wanted[place][0].rank:
                wanted[place] = rule.role, provider_id
    return wanted


def _as_it_is(membership: Membership | None) -> _Target | None:
    if membership is None:
        return None
    return _Target(membership.role, membership.provider_id, membership.given_role)


def _target(membership: Membership | None, wanted: tuple[Role, uuid.UUID] | None) -> _Target | None:
    given = None
    if membership is not None:
        given = membership.role if membership.provider_id is None else membership.given_role
    if wanted is not None and (given is None or wanted[0].rank > given.rank):
        return _Target(*wanted, given)
    return None if given is None else _Target(given, None, None)


def _carry_out(session: Session, change: _Change, providers: Mapping[uuid.UUID, IdentityProvider]) -> int:
    """Make the change, with its history. Returns 1; 0 if the role is as before and only its provider another."""
    membership, target = change.membership, change.target
    before = membership.role if membership is not None else None
    by = (target.provider_id if target is not None else None) or (
        membership.provider_id if membership is not None else None
    )
    if membership is None:
        membership = Membership(account_id=change.account_id, community_id=change.community_id)
        session.add(membership)
    if target is None:
        session.delete(membership)
    else:
        membership.role, membership.provider_id = target.role, target.provider_id
        membership.given_role = target.given_role
    after = target.role if target is not None else None
    if before is after:
        return 0
    assert by is not None  # noqa: S101 - only a provider's membership changes here; narrows the type
    members.record_role(session, provider_actor(providers[by]), membership, before, after, cause=CAUSE)
    return 1
