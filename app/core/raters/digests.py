"""Digests: mails with the number of items that need help, daily or weekly. They never quote the items."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import clock, mail, texts
from app.core.communities import settings as community_settings
from app.core.errors import Invalid
from app.core.mail import Kind
from app.core.models import Account, Community
from app.core.panels import seats
from app.core.people import accounts, profiles
from app.core.permissions import Permission, allows
from app.core.raters import help_needed, run
from app.core.texts import gettext as _
from app.core.vocabulary import Digest

DIGEST_JOB = "digests"
DIGEST_SECONDS = 900.0
BATCH = 100
PERIODS: Mapping[Digest, timedelta] = {Digest.DAILY: timedelta(days=1), Digest.WEEKLY: timedelta(days=7)}


def choose(account: Account, frequency: str) -> None:
    """Set how often this account gets the digest.

    Raises:
        Invalid: not off, daily or weekly.
    """
    if frequency not in set(Digest):
        raise Invalid.field("digest", _("must be one of %(choices)s", choices=", ".join(Digest)), frequency)
    account.digest = Digest(frequency)


def unsubscribe(session: Session, account_id: uuid.UUID) -> None:
    """Turn the digest off. Repeated calls and unknown accounts change nothing."""
    account = session.get(Account, account_id)
    if account is not None:
        account.digest = Digest.OFF


def waiting_for(session: Session, account: Account) -> Sequence[tuple[Community, int]]:
    """The account's communities with items that need its help, and how many, ordered by name.

    At least as many as it has open seats: it may have skipped such an item before it was drawn for it.
    """
    profile = profiles.find(session, profiles.WEB, str(account.id))
    if profile is None:
        return []
    actor = accounts.actor_for(accounts.get(session, account.id), profile.id)
    mine = session.scalars(
        sa.select(Community).where(Community.id.in_(actor.roles)).order_by(Community.name, Community.id)
    )
    seated = {community.id: count for community, count in seats_of(session, account)}
    counted = [
        (
            community,
            max(help_needed.count(session, actor, community.id, profile.id), seated.get(community.id, 0)),
        )
        for community in mine
        if community.archived_at is None and allows(actor, Permission.RATE, community.id)
    ]
    return [(community, count) for community, count in counted if count]


def seats_of(session: Session, account: Account) -> Sequence[tuple[Community, int]]:
    """The communities where the account has open seats of drawn panels, and how many, ordered by name."""
    profile = profiles.find(session, profiles.WEB, str(account.id))
    if profile is None:
        return []
    counted = [
        (community_id, len(run.drawn_items(session, community_id, profile.id)))
        for community_id in seats.communities_of(session, profile.id)
    ]
    return [(session.get_one(Community, community_id), count) for community_id, count in counted if count]


def due(session: Session, after: uuid.UUID | None = None) -> Sequence[uuid.UUID]:
    """Accounts whose period since the last digest is over: a batch in order of id."""
    now = clock.now()
    periods = [
        sa.and_(
            Account.digest == digest,
            sa.or_(Account.digest_sent_at.is_(None), Account.digest_sent_at <= now - period),
        )
        for digest, period in PERIODS.items()
    ]
    statement = (
        sa.select(Account.id)
        .where(sa.or_(*periods), Account.confirmed_at.is_not(None), Account.disabled_at.is_(None))
        .order_by(Account.id)
        .limit(BATCH)
    )
    return session.scalars(statement.where(Account.id > after) if after is not None else statement).all()


def send(session: Session, account_id: uuid.UUID) -> bool:
    """Send a digest if an item needs help and the period is over. Return whether it was sent."""
    account = session.scalars(
        sa.select(Account)
        .where(Account.id == account_id)
        .options(selectinload(Account.memberships))
        .with_for_update()
    ).first()
    if account is None or not _is_due(account):
        return False
    waiting = waiting_for(session, account)
    if not waiting:
        return False
    account.digest_sent_at = clock.now()
    settings = community_settings.for_community(waiting[0][0], community_settings.defaults(session))
    with texts.chosen(texts.named(settings.language)):  # nobody asked for the mail
        mail.ask(session, Kind.DIGEST, account_id=account.id)
    return True


def _is_due(account: Account) -> bool:
    period = PERIODS.get(account.digest)
    if period is None or account.confirmed_at is None or account.disabled_at is not None:
        return False
    return account.digest_sent_at is None or account.digest_sent_at <= clock.now() - period
