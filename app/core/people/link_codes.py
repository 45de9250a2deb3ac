"""Codes that link a platform profile to an account: shown once, stored as a hash (docs/integrate/api.md)."""

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, limits, tokens
from app.core.errors import Invalid
from app.core.ids import new_id
from app.core.models import Account, LinkCode, Profile

ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without 0, 1, I, L, O, U: people read a code on one screen and type it on another, and must not confuse
characters.
"""
CODE_LENGTH = 8
VALID_FOR = timedelta(minutes=limits.LINK_CODE_MINUTES)
NOT_VALID = "is wrong, used or expired; ask for a new one in the dashboard under Settings"


@dataclass(frozen=True)
class ShownCode:
    """A new code as the account sees it, once; only its hash is stored."""

    text: str
    expires_at: datetime


def show(session: Session, account: Account) -> ShownCode:
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
    row.code_hash, row.created_at, row.expires_at = tokens.digest(plain), now, now + VALID_FOR
    row.used_at = row.profile_id = None
    session.flush()
    return ShownCode(f"{plain[:4]}-{plain[4:]}", row.expires_at)


def live(session: Session, profile: Profile, code: str) -> LinkCode:
    """Return the row, locked, of a code that this profile may use.

    That is an unused code that has not expired, or the code that linked this profile.

    Raises:
        Invalid: the code is wrong, used by another profile, or expired; the same error for all.
    """
    row = session.scalars(
        sa.select(LinkCode).where(LinkCode.code_hash == tokens.digest(_plain(code))).with_for_update()
    ).first()
    if row is not None:
        account = session.get_one(Account, row.account_id)
        repeated = row.profile_id == profile.id and profile.account_id == row.account_id
        fresh = row.used_at is None and row.expires_at > clock.now()
        if (repeated or fresh) and account.disabled_at is None:
            return row
    raise Invalid.field("code", NOT_VALID, type="invalid_code")


def _plain(code: str) -> str:
    """The code without case, spaces and any kind of dash."""
    return re.sub(r"[\s\u2010-\u2015\u2212-]", "", code).upper()
