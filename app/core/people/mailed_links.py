"""One-time links and codes.

A link confirms an e-mail address, resets a password, accepts an invitation or makes the first admin.

All but the last are mailed (``first_admin`` has that one), and only the mail contains a link's token. The job that
writes the mail creates the token, so that no job argument contains it; the database stores its SHA-256. A mail that
must be written again gets a new token.

A code links a platform profile to an account (docs/integrate/api.md): shown once, stored as a hash.
"""

import re
import secrets
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, ids, limits
from app.core.errors import Invalid, Refused
from app.core.ids import new_id
from app.core.models import Account, AccountLink, LinkCode, Profile
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import LinkPurpose

LIVES: Mapping[LinkPurpose, timedelta] = {
    LinkPurpose.CONFIRM: timedelta(hours=limits.CONFIRM_HOURS),
    LinkPurpose.RESET: timedelta(minutes=limits.RESET_MINUTES),
    LinkPurpose.CHANGE_EMAIL: timedelta(hours=limits.CONFIRM_HOURS),
    LinkPurpose.INVITE: timedelta(days=limits.INVITATION_DAYS),
    LinkPurpose.FIRST_ADMIN: timedelta(minutes=limits.FIRST_ADMIN_MINUTES),
    LinkPurpose.SIGN_IN: timedelta(minutes=limits.SIGN_IN_LINK_MINUTES),
}
"""How long each link works after its mail is written."""


class LinkOver(Refused):
    """The link was used, withdrawn or replaced, has expired, or never existed: the same error for all."""

    def __init__(self) -> None:
        super().__init__(_("This link does not work any more"))


def begin(
    session: Session, purpose: LinkPurpose, email: str, account_id: uuid.UUID | None = None, **fields: Any
) -> AccountLink:
    """Create a link that has no token yet; ``mail.ask`` sends it."""
    now = clock.now()
    link = AccountLink(
        id=new_id(),
        purpose=purpose,
        email=email,
        account_id=account_id,
        created_at=now,
        expires_at=now + LIVES[purpose],
        **fields,
    )
    session.add(link)
    session.flush()
    return link


def mint(session: Session, link_id: uuid.UUID) -> tuple[AccountLink, str] | None:
    """Set a new token for the link's mail. Return (link, token), or None when there is nothing to mail any more."""
    link = session.get(AccountLink, link_id)
    if link is None or link.used_at or link.withdrawn_at or link.sent_at:
        return None
    token = ids.new_token()
    link.token_hash = ids.token_digest(token)
    link.expires_at = clock.now() + LIVES[link.purpose]
    session.flush()
    return link, token


def record_sent(session: Session, link_id: uuid.UUID) -> None:
    _set(session, link_id, sent_at=clock.now(), failed_at=None)


def record_failed(session: Session, link_id: uuid.UUID) -> None:
    """Record that sending the mail was given up, so that the dashboard can say so."""
    _set(session, link_id, failed_at=clock.now())


def find(session: Session, token: str, purpose: LinkPurpose) -> AccountLink:
    """The unused link with this token.

    Raises:
        LinkOver: it does not work, or no longer.
    """
    link = session.scalars(
        sa.select(AccountLink).where(
            AccountLink.token_hash == ids.token_digest(token),
            AccountLink.purpose == purpose,
            AccountLink.used_at.is_(None),
            AccountLink.withdrawn_at.is_(None),
            AccountLink.expires_at > clock.now(),
        )
    ).first()
    if link is None:
        raise LinkOver
    return link


def was_used(session: Session, token: str, purpose: LinkPurpose) -> bool:
    """Whether this link was used already, so that a second visit can get a better message."""
    used = sa.select(AccountLink.id).where(
        AccountLink.token_hash == ids.token_digest(token),
        AccountLink.purpose == purpose,
        AccountLink.used_at.is_not(None),
    )
    return session.scalar(used) is not None


def use(session: Session, token: str, purpose: LinkPurpose) -> AccountLink:
    """Mark the link as used and return it. Of two calls at the same time, one is refused.

    Raises:
        LinkOver: it does not work, or no longer.
    """
    link = find(session, token, purpose)
    used = bulk.change(
        session,
        sa.update(AccountLink)
        .where(AccountLink.id == link.id, AccountLink.used_at.is_(None), AccountLink.withdrawn_at.is_(None))
        .values(used_at=clock.now()),
    )
    if used != 1:
        raise LinkOver
    session.refresh(link)
    return link


def drop(session: Session, account_id: uuid.UUID, *purposes: LinkPurpose) -> None:
    """Delete the account's unused links of these purposes."""
    bulk.change(
        session,
        sa.delete(AccountLink).where(
            AccountLink.account_id == account_id,
            AccountLink.purpose.in_(purposes),
            AccountLink.used_at.is_(None),
        ),
    )


def prune(session: Session, before: datetime, *, limit: int = 5_000) -> int:
    """Delete up to ``limit`` links that expired before ``before``. Return how many."""
    old = sa.select(AccountLink.id).where(AccountLink.expires_at < before).limit(limit)
    return bulk.change(session, sa.delete(AccountLink).where(AccountLink.id.in_(old)))


def _set(session: Session, link_id: uuid.UUID, **values: Any) -> None:
    bulk.change(session, sa.update(AccountLink).where(AccountLink.id == link_id).values(**values))


ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without 0, 1, I, L, O, U: people read a code on one screen and type it on another, and must not confuse
characters.
"""
CODE_LENGTH = 8
VALID_FOR = timedelta(minutes=limits.LINK_CODE_MINUTES)
NOT_VALID = lazy_gettext("is wrong, used or expired; ask for a new one in the dashboard under Settings")


@dataclass(frozen=True)
class ShownCode:
    """A new code as the account sees it, once; only its hash is stored."""

    text: str
    expires_at: datetime


def show_code(session: Session, account: Account) -> ShownCode:
    """Create a new code for this account. It works once, for ten minutes, and replaces the previous one."""
    plain = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
    now = clock.now()
    # Two first codes at once would else both add a row.
    session.execute(sa.select(Account.id).where(Account.id == account.id).with_for_update(key_share=True))
    row = session.scalars(
        sa.select(LinkCode).where(LinkCode.account_id == account.id).with_for_update()
    ).first()
    if row is None:
        row = LinkCode(id=new_id(), account_id=account.id)
        session.add(row)
    row.code_hash, row.created_at, row.expires_at = ids.token_digest(plain), now, now + VALID_FOR
    row.used_at = row.profile_id = None
    session.flush()
    return ShownCode(f"{plain[:4]}-{plain[4:]}", row.expires_at)


def usable_code(session: Session, profile: Profile, code: str) -> LinkCode:
    """Return the row, locked, of a code that this profile may use.

    That is an unused code that has not expired, or the code that linked this profile.

    Raises:
        Invalid: the code is wrong, used by another profile, or expired; the same error for all.
    """
    row = session.scalars(
        sa.select(LinkCode).where(LinkCode.code_hash == ids.token_digest(_plain_code(code))).with_for_update()
    ).first()
    if row is not None:
        account = session.get_one(Account, row.account_id)
        repeated = row.profile_id == profile.id and profile.account_id == row.account_id
        fresh = row.used_at is None and row.expires_at > clock.now()
        if (repeated or fresh) and account.disabled_at is None:
            return row
    raise Invalid.field("code", str(NOT_VALID), type="invalid_code")


def _plain_code(code: str) -> str:
    """The code without case, spaces and any kind of dash."""
    return re.sub(r"[\s\u2010-\u2015\u2212-]", "", code).upper()
