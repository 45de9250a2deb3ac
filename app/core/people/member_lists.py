"""Members of a community as the list shows them (docs/moderate/admin.md)."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, joinedload

from app.core import paging
from app.core.models import Account, IdentityProvider, Membership, Profile, SignIn
from app.core.paging import Page, Slice
from app.core.people import second_factors
from app.core.people.profiles import WEB
from app.core.permissions import (
    Actor,
    Permission,
    require,
    require_found,
)
from app.core.vocabulary import Role


@dataclass(frozen=True)
class Member:
    """A member as the list shows them; ``profiles`` are the platform profiles linked to their account.

    ``has_factor``: they have a second factor, or sign in at a provider.
    ``provider``: the label of the sign-in provider whose groups give the role; None: people gave it.
    """

    membership: Membership
    seen_at: datetime | None
    profiles: Sequence[Profile]
    has_factor: bool
    provider: str | None

    @property
    def account(self) -> Account:
        return self.membership.account

    @property
    def state(self) -> str:
        if self.account.disabled_at is not None:
            return "disabled"
        return "active" if self.account.confirmed_at is not None else "unconfirmed"


def listed(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    search: str,
    part: Slice,
    *,
    lacking_from: Role | None = None,
) -> tuple[Page[Membership], Sequence[Member]]:
    """A page of the members whose name or e-mail address contains ``search``, longest membership first.

    ``lacking_from``: only those from this role up who have no second factor. At most seven queries.
    """
    require(actor, Permission.MANAGE_PEOPLE, community_id)
    statement = (
        sa.select(Membership)
        .join(Account, Account.id == Membership.account_id)
        .where(Membership.community_id == community_id)
        .options(joinedload(Membership.account))
    )
    if search:
        statement = statement.where(
            sa.or_(
                Account.display_name.icontains(search, autoescape=True),
                Account.email.icontains(search, autoescape=True),
            )
        )
    if lacking_from is not None:
        roles = [role for role in Role if role.rank >= lacking_from.rank]
        has_role = sa.or_(Membership.role.in_(roles), Account.service_admin)
        statement = statement.where(has_role, second_factors.lacking_everywhere())
    page = paging.paginate(
        session,
        statement,
        Membership.created_at,
        Membership.id,
        part,
        descending=False,
        most=paging.MOST_COUNTED,
    )
    return page, _with_more(session, page.rows)


def get(session: Session, actor: Actor, membership_id: uuid.UUID) -> Member:
    """One member, if the actor may manage people there. Raises NotFound for unknown and foreign ones alike."""
    membership = session.scalars(
        sa.select(Membership).where(Membership.id == membership_id).options(joinedload(Membership.account))
    ).first()
    return _with_more(session, [require_found(actor, Permission.MANAGE_PEOPLE, membership, "member")])[0]


def names(session: Session, account_ids: Sequence[uuid.UUID]) -> Mapping[uuid.UUID, str]:
    """The current names of these accounts, by id."""
    rows = session.execute(sa.select(Account.id, Account.display_name).where(Account.id.in_(account_ids)))
    return {account_id: name for account_id, name in rows}


def _with_more(session: Session, memberships: Sequence[Membership]) -> list[Member]:
    ids = [membership.account_id for membership in memberships]
    last_seen = (
        sa.select(SignIn.account_id, sa.func.max(SignIn.last_seen_at))
        .where(SignIn.account_id.in_(ids))
        .group_by(SignIn.account_id)
    )
    seen = {account_id: at for account_id, at in session.execute(last_seen)}
    without = sa.select(Account.id).where(Account.id.in_(ids), second_factors.lacking_everywhere())
    lacking = set(session.scalars(without))
    linked: dict[uuid.UUID | None, list[Profile]] = defaultdict(list)
    for profile in session.scalars(
        sa.select(Profile)
        .where(Profile.account_id.in_(ids), Profile.platform != WEB)
        .order_by(Profile.created_at, Profile.id)
    ):
        linked[profile.account_id].append(profile)
    labels: dict[uuid.UUID | None, str] = {
        provider_id: label
        for provider_id, label in session.execute(sa.select(IdentityProvider.id, IdentityProvider.label))
    }
    return [
        Member(
            one,
            seen.get(one.account_id),
            linked[one.account_id],
            one.account_id not in lacking,
            labels.get(one.provider_id),
        )
        for one in memberships
    ]
