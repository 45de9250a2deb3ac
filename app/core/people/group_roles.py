"""Groups to roles: the groups that a provider says a person is in give them roles (docs/run/scim.md).

The groups come from the claims of a sign-in or refresh (``Identity.claimed_groups``) and by SCIM (``ProviderGroup``).
The highest role counts. A role that people gave is never lowered or taken: a provider may raise it, and it comes back
when the provider takes its own. No group makes a service admin.
"""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits, outbox, security_events
from app.core.db import serialise
from app.core.errors import NotFound
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import (
    Community,
    GroupRole,
    Identity,
    IdentityProvider,
    Membership,
    ProviderGroup,
    ProviderGroupMember,
    Removal,
)
from app.core.people import members, sessions
from app.core.permissions import Actor, Permission, require_service_admin, roles_with
from app.core.security_events import SecurityEvent
from app.core.vocabulary import Role, SessionEnd

APPLY_JOB = "apply_group_roles"
BATCH = 100
CAUSE = "groups of the sign-in provider"


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


def read_map(session: Session, provider_id: uuid.UUID, community_id: uuid.UUID) -> Mapping[str, Role]:
    """The roles that the provider's groups give in the community, by the groups' names in alphabetical order."""
    rows = session.scalars(
        sa.select(GroupRole)
        .where(GroupRole.provider_id == provider_id, GroupRole.community_id == community_id)
        .order_by(GroupRole.value)
    )
    return {row.value: row.role for row in rows}


def mapped_communities(session: Session, provider_id: uuid.UUID) -> Sequence[tuple[Community, int]]:
    """The communities where the provider's groups give roles, by name, each with the number of groups."""
    rows = session.execute(
        sa.select(Community, sa.func.count(GroupRole.id))
        .join(GroupRole, GroupRole.community_id == Community.id)
        .where(GroupRole.provider_id == provider_id)
        .group_by(Community.id)
        .order_by(Community.name, Community.id)
    )
    return [(community, count) for community, count in rows]


def set_map(
    session: Session,
    actor: Actor,
    provider_id: uuid.UUID,
    community_id: uuid.UUID,
    roles: Mapping[str, Role],
    reason: str = "",
) -> None:
    """Replace the roles that the provider's groups give in a community, by the groups' names. Applied to all by a job.

    Raises:
        Forbidden: the actor is no service admin: a provider and its groups are the whole service's.
        NotFound: there is no such provider or community.
        Invalid: a name is empty or too long, or there are too many.
    """
    require_service_admin(actor, "sets what groups give")
    provider = session.get(IdentityProvider, provider_id)
    if provider is None or provider.removed_at is not None:
        raise NotFound("provider")
    if session.get(Community, community_id) is None:
        raise NotFound("community")
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    for value in roles:
        limits.text(value, "group", limits.NAME_MAX)
    limits.room(limits.GROUP_ROLES, len(roles) - 1, "groups", "given a role")
    serialise(session, community_id)
    before = read_map(session, provider_id, community_id)
    if before == roles:
        return
    session.execute(
        sa.delete(GroupRole).where(
            GroupRole.provider_id == provider_id, GroupRole.community_id == community_id
        )
    )
    session.add_all(
        GroupRole(provider_id=provider_id, community_id=community_id, value=value, role=role)
        for value, role in roles.items()
    )
    session.flush()
    history.record(
        session,
        actor,
        community_id,
        "groups.mapped",
        "identity_provider",
        provider_id,
        before={"name": provider.label, "groups": as_lines(before)},
        after={"name": provider.label, "groups": as_lines(roles)},
        reason=Reason(reason),
    )
    security_events.log_at_commit(
        session,
        SecurityEvent.GROUPS_MAPPED,
        actor,
        provider_id=provider_id,
        community_id=community_id,
        groups=len(roles),
    )
    apply_later(session, provider_id)


def as_lines(roles: Mapping[str, Role]) -> str:
    """The groups with their roles, one a line, as the history shows them."""
    return "\n".join(f"{value}: {role.value}" for value, role in sorted(roles.items()))


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
