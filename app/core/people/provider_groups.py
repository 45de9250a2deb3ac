"""Groups that a sign-in provider sends by SCIM 2.0, and who is in them (docs/run/scim.md).

A group gives the roles that its name is mapped to (``people.group_roles``). A change of up to ``group_roles.BATCH``
people is applied at once, a larger one by a job.
"""

import uuid
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, limits
from app.core.db import serialise
from app.core.errors import Invalid, NotFound
from app.core.models import GroupRole, Identity, IdentityProvider, ProviderGroup, ProviderGroupMember
from app.core.people import group_roles
from app.core.people.provisioning import Taken, same

AT_ONCE = 1_000
"""How many members one statement names."""


@dataclass(frozen=True)
class MemberChanges:
    """Members to take out and to put in, in this order. ``replaces``: all others are taken out first."""

    removed: frozenset[uuid.UUID] = frozenset()
    added: frozenset[uuid.UUID] = frozenset()
    replaces: bool = False


def get(session: Session, provider_id: uuid.UUID, group_id: uuid.UUID) -> ProviderGroup:
    """One group of the provider. Raises NotFound for unknown ones and those of others alike."""
    group = session.get(ProviderGroup, group_id)
    if group is None or group.provider_id != provider_id:
        raise NotFound("group")
    return group


def listed(
    session: Session, provider_id: uuid.UUID, equals: Sequence[tuple[str, Any]], offset: int, size: int
) -> tuple[int, Sequence[ProviderGroup]]:
    """How many groups match, and a page of them in the order of their creation.

    ``equals``: ``id``, ``name``, ``external_id`` or ``member``, each with the value that it must have.
    """
    statement = sa.select(ProviderGroup).where(ProviderGroup.provider_id == provider_id)
    for name, value in equals:
        if name == "member":
            inside = sa.select(ProviderGroupMember.group_id).where(ProviderGroupMember.identity_id == value)
            statement = statement.where(ProviderGroup.id.in_(inside))
        elif name == "name":
            statement = statement.where(same(ProviderGroup.name, value))
        else:
            statement = statement.where(getattr(ProviderGroup, name) == value)
    total = session.scalar(statement.with_only_columns(sa.func.count(ProviderGroup.id))) or 0
    rows = session.scalars(statement.order_by(ProviderGroup.id).offset(offset).limit(size)).all()
    return total, rows if size else []


def members(session: Session, group_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, list[uuid.UUID]]:
    """The people in each of these groups, by their ids."""
    inside: dict[uuid.UUID, list[uuid.UUID]] = {group_id: [] for group_id in group_ids}
    for group_id, identity_id in session.execute(
        sa.select(ProviderGroupMember.group_id, ProviderGroupMember.identity_id)
        .where(ProviderGroupMember.group_id.in_(group_ids))
        .order_by(ProviderGroupMember.identity_id)
    ):
        inside[group_id].append(identity_id)
    return inside


def sizes(session: Session, group_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, int]:
    """How many people are in each of these groups."""
    counted = session.execute(
        sa.select(ProviderGroupMember.group_id, sa.func.count())
        .where(ProviderGroupMember.group_id.in_(group_ids))
        .group_by(ProviderGroupMember.group_id)
    )
    return dict.fromkeys(group_ids, 0) | {group_id: count for group_id, count in counted}


def create(
    session: Session,
    provider: IdentityProvider,
    name: str,
    external_id: str | None,
    people: frozenset[uuid.UUID],
) -> ProviderGroup:
    """Create a group with these members.

    Raises:
        Invalid: the name is not valid, a member is not one of the provider's people, or there are too many groups.
        Taken: the provider has a group of that name.
    """
    serialise(session, provider.id)
    _check(session, provider.id, name, external_id)
    mine = sa.select(sa.func.count(ProviderGroup.id)).where(ProviderGroup.provider_id == provider.id)
    limits.room(limits.PROVIDER_GROUPS, session.scalar(mine) or 0, "displayName")
    group = ProviderGroup(provider_id=provider.id, name=name, external_id=external_id)
    session.add(group)
    session.flush()
    _apply(session, group, _change_members(session, group, MemberChanges(added=people)))
    return group


def update(
    session: Session,
    provider: IdentityProvider,
    group_id: uuid.UUID,
    name: str,
    external_id: str | None,
    changes: MemberChanges,
) -> ProviderGroup:
    """Rename a group and change its members. Adding a member or removing another person changes nothing.

    Raises:
        NotFound, Invalid, Taken: as ``get`` and ``create``.
    """
    serialise(session, provider.id)
    group = get(session, provider.id, group_id)
    is_renamed = name != group.name
    touched: set[uuid.UUID] = set()
    if is_renamed or external_id != group.external_id:
        _check(session, provider.id, name, external_id, but=group.id)
        if is_renamed:
            # Who loses what the old name gave.
            touched |= set(members(session, [group.id])[group.id])
        group.name, group.external_id = name, external_id
    touched |= _change_members(session, group, changes)
    group.updated_at = clock.now()
    session.flush()
    _apply(session, group, touched, always=is_renamed)
    return group


def remove(session: Session, provider: IdentityProvider, group_id: uuid.UUID) -> None:
    """Delete a group; the roles that it gave end. Raises NotFound as ``get``."""
    serialise(session, provider.id)
    group = get(session, provider.id, group_id)
    touched = _change_members(session, group, MemberChanges(replaces=True))
    session.delete(group)
    session.flush()
    _apply(session, group, touched)


def _check(
    session: Session,
    provider_id: uuid.UUID,
    name: str,
    external_id: str | None,
    but: uuid.UUID | None = None,
) -> None:
    limits.text(name, "displayName", limits.NAME_MAX)
    if external_id is not None:
        limits.text(external_id, "externalId", limits.NAME_MAX)
    named = ProviderGroup.provider_id == provider_id, ProviderGroup.name == name, ProviderGroup.id != but
    if session.scalar(sa.select(ProviderGroup.id).where(*named).limit(1)) is not None:
        raise Taken(f"There is a group named {name} already")


def _change_members(session: Session, group: ProviderGroup, changes: MemberChanges) -> set[uuid.UUID]:
    """Change the rows; return the people who came or went."""
    for unknown in _unknown(session, group.provider_id, changes.added):
        raise Invalid.field("members", f"{unknown} is none of this provider's people")
    here = set(members(session, [group.id])[group.id])
    kept = set() if changes.replaces else here - changes.removed
    wanted = kept | changes.added
    gone, new = here - wanted, wanted - here
    for part in _parts(gone):
        rows = ProviderGroupMember.group_id == group.id, ProviderGroupMember.identity_id.in_(part)
        bulk.change(session, sa.delete(ProviderGroupMember).where(*rows))
    table = ProviderGroupMember.metadata.tables[ProviderGroupMember.__tablename__]
    rows_of_new = [{"group_id": group.id, "identity_id": identity_id} for identity_id in sorted(new)]
    bulk.insert(session.connection(), table, rows_of_new)
    return gone | new


def _parts(identity_ids: Collection[uuid.UUID]) -> Iterator[Sequence[uuid.UUID]]:
    in_order = sorted(identity_ids)
    for first in range(0, len(in_order), AT_ONCE):
        yield in_order[first : first + AT_ONCE]


def _unknown(
    session: Session, provider_id: uuid.UUID, identity_ids: Collection[uuid.UUID]
) -> Iterator[uuid.UUID]:
    for part in _parts(identity_ids):
        mine = sa.select(Identity.id).where(
            Identity.id.in_(part), Identity.provider_id == provider_id, Identity.user_name.is_not(None)
        )
        yield from sorted(set(part) - set(session.scalars(mine)))


def _apply(
    session: Session, group: ProviderGroup, identity_ids: Collection[uuid.UUID], *, always: bool = False
) -> None:
    """Give and take roles, if the group gives any. ``always``: it may have had another name."""
    is_mapped = sa.select(GroupRole.id).where(
        GroupRole.provider_id == group.provider_id, GroupRole.value == group.name
    )
    if not identity_ids or not (always or session.scalar(is_mapped.limit(1)) is not None):
        return
    if len(identity_ids) > group_roles.BATCH:
        group_roles.apply_later(session, group.provider_id)
        return
    account_ids = session.scalars(sa.select(Identity.account_id).where(Identity.id.in_(identity_ids)))
    group_roles.apply_all(session, group.provider_id, set(account_ids))
