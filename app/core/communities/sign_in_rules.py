"""Who needs a second factor or a passkey: from a role up, by the service's rule or by a community's.

A person has ``GRACE`` from the first page that says so. A session that began at a provider, or with a second factor,
needs nothing. API keys are no sessions, so none of this concerns them.
"""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, security_events
from app.core.communities import communities
from app.core.communities import settings as community_settings
from app.core.errors import Conflict
from app.core.models import Account, Community, Membership, SignIn, SignInRules
from app.core.people import accounts, second_factors
from app.core.people.ways_in import SETS_SIGN_IN, locked_rules
from app.core.permissions import Actor, require_service_admin
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.vocabulary import Role

GRACE = timedelta(days=7)


@dataclass(frozen=True)
class Demand:
    """What a rule asks of a person. ``by``: the community whose rule it is, None for the service's.

    ``is_met``: they have a factor. ``asked_at``: when a page said so first, None before that.
    """

    by: Community | None
    role: Role
    is_met: bool
    asked_at: datetime | None

    @property
    def until(self) -> datetime:
        return (self.asked_at or clock.now()) + GRACE

    @property
    def is_over(self) -> bool:
        return not self.is_met and clock.now() >= self.until


def of_session(
    session: Session, account: Account, sign_in: SignIn, communities: Iterable[Community]
) -> Demand | None:
    """What the rules ask of the person in this session; None if nothing. ``communities``: those that they see.

    At most two queries, and none for people who only rate.
    """
    if sign_in.is_strong:
        return None
    found = _rule_for(session, accounts.actor_for(account), communities)
    if found is None:
        return None
    by, role = found
    return Demand(by, role, second_factors.has_strong(session, account), account.two_step_asked_at)


def require_factor(session: Session, account: Account) -> None:
    """Refuse what this transaction did if the account now lacks a second factor that a rule asks for.

    ``account.memberships`` must be loaded.

    Raises:
        Conflict: names the rule.
    """
    lacks = sa.select(Account.id).where(Account.id == account.id, second_factors.lacking_everywhere())
    if session.scalar(lacks) is None:
        return
    actor = accounts.actor_for(account)
    found = _rule_for(session, actor, communities.visible(session, actor))
    if found is not None:
        if found[0] is None:
            raise Conflict(_("This service requires a second factor of your role. Add another one first"))
        raise Conflict(
            _(
                "%(community)s requires a second factor of your role. Add another one first",
                community=found[0].name,
            )
        )


def record_asked(session: Session, account_id: uuid.UUID) -> None:
    """Begin a person's grace, at the first page that says what is asked of them."""
    unasked = sa.update(Account).where(Account.id == account_id, Account.two_step_asked_at.is_(None))
    bulk.change(session, unasked.values(two_step_asked_at=clock.now(), updated_at=Account.updated_at))


def forget_asked(session: Session, account_id: uuid.UUID) -> None:
    """Forget that a person was asked, because no rule concerns them any more: a later one gives a grace of its own."""
    asked = sa.update(Account).where(Account.id == account_id)
    bulk.change(session, asked.values(two_step_asked_at=None, updated_at=Account.updated_at))


def service_role(session: Session) -> Role | None:
    """From which role up the service asks for a second factor."""
    return session.scalar(sa.select(SignInRules.factor_role).where(SignInRules.id == 1))


def set_service_role(session: Session, actor: Actor, role: Role | None) -> bool:
    """Set from which role up the service asks for a second factor. Return whether that is a change.

    Raises:
        Forbidden: the actor is no service admin.
    """
    require_service_admin(actor, SETS_SIGN_IN)
    rules = locked_rules(session)
    if rules.factor_role is role:
        return False
    rules.factor_role, rules.etag = role, rules.etag + 1
    session.flush()
    event = SecurityEvent.FACTOR_RULE_CHANGED
    security_events.log_at_commit(session, event, actor, role=role.value if role is not None else "none")
    return True


def role_in(session: Session, community: Community) -> Role | None:
    """From which role up a second factor is asked for in the community, by its rule or the service's."""
    roles = [role for role in (_role_of(community), service_role(session)) if role is not None]
    return min(roles, key=lambda role: role.rank, default=None)


def count_lacking(session: Session) -> tuple[bool, int]:
    """Whether any rule asks for a second factor, and how many people who can sign in need one and have none."""
    by_service = service_role(session)
    rules = {
        community_id: role
        for community_id, stored in session.execute(
            sa.select(Community.id, Community.settings).where(Community.archived_at.is_(None))
        )
        if (role := _parse(stored)) is not None
    }
    members = session.execute(
        sa.select(Account.id, Account.service_admin, Membership.community_id, Membership.role)
        .outerjoin(Membership, Membership.account_id == Account.id)
        .where(accounts.can_sign_in(), second_factors.lacking_everywhere())
        .where(sa.or_(Account.service_admin, Membership.role != Role.RATER))
    )
    lacks: set[uuid.UUID] = set()
    for account_id, service_admin, community_id, role in members:
        rank = Role.ADMIN.rank if service_admin else role.rank
        asking = rules.values() if service_admin else [rules.get(community_id)]
        if any(rank >= asked.rank for asked in (by_service, *asking) if asked is not None):
            lacks.add(account_id)
    return by_service is not None or bool(rules), len(lacks)


def _rule_for(
    session: Session, actor: Actor, communities: Iterable[Community]
) -> tuple[Community | None, Role] | None:
    """The rule that asks something of the actor: a community's, else the service's."""
    highest = max(actor.roles.values(), key=lambda role: role.rank, default=Role.RATER)
    if actor.service_admin:
        highest = Role.ADMIN
    if highest is Role.RATER:
        return None
    for community in communities:
        asked, role = _role_of(community), actor.role_in(community.id)
        if asked is not None and role is not None and role.rank >= asked.rank:
            return community, asked
    by_service = service_role(session)
    return (None, by_service) if by_service is not None and highest.rank >= by_service.rank else None


def _role_of(community: Community) -> Role | None:
    return None if community.archived_at is not None else _parse(community.settings)


def _parse(stored: dict[str, object] | None) -> Role | None:
    value = (stored or {}).get("factor_role", community_settings.NO_ROLE)
    return next((role for role in Role if role.value == value and role is not Role.RATER), None)
