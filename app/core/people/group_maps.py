"""Which roles the groups of a provider give in each community, as service admins set it (docs/run/scim.md)."""

import uuid
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits, security_events
from app.core.db import serialise
from app.core.errors import NotFound
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import (
    Community,
    GroupRole,
    IdentityProvider,
)
from app.core.people import group_roles
from app.core.permissions import Actor, require_service_admin
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.vocabulary import Role


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
    require_service_admin(actor, _("Only a service admin sets what groups give"))
    provider = session.get(IdentityProvider, provider_id)
    if provider is None or provider.removed_at is not None:
        raise NotFound("provider")
    if session.get(Community, community_id) is None:
        raise NotFound("community")
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    for value in roles:
        limits.text(value, "group", limits.NAME_MAX)
    limits.room(limits.GROUP_ROLES, len(roles) - 1, "groups")
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
    group_roles.apply_later(session, provider_id)


def as_lines(roles: Mapping[str, Role]) -> str:
    """The groups with their roles, one a line, as the history shows them."""
    return "\n".join(f"{value}: {role.value}" for value, role in sorted(roles.items()))
