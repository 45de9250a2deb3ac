"""The second factors of an account: codes of an app (RFC 6238) and recovery codes; which ones it has, and their end.

A code works once: its time step is stored, and each later code must be of a later step. Passkeys are in
``passkeys.py``.
"""

import logging
import re
import secrets
import uuid
from dataclasses import dataclass
from typing import Any

import pyotp
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, ids, limits, mail, security_events
from app.core.db import serialise
from app.core.errors import Conflict
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.mail import Kind
from app.core.models import Account, Identity, Passkey, RecoveryCode
from app.core.people import accounts
from app.core.permissions import Actor, require_service_admin
from app.core.sealing import SealBroken, Sealer
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _

log = logging.getLogger(__name__)

STEP_SECONDS = 30
DRIFT = 1
"""How many steps the clock of the person's device may be wrong."""
RECOVERY_CODES = 10
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""The digits and letters of Crockford's Base32: none looks like another."""
_GROUPS, _GROUP = 6, 4
"""Form of a recovery code. Its 120 random bits cannot be guessed, so a plain hash is enough (ASVS 6.5.2)."""
_LOOKALIKES = str.maketrans("oil", "011")


@dataclass(frozen=True)
class Factors:
    """What an account has beside its password. ``recovery_codes``: how many are left."""

    passkeys: int
    has_codes: bool
    recovery_codes: int

    @property
    def strong(self) -> bool:
        return self.has_codes or self.passkeys > 0


def of_account(session: Session, account: Account) -> Factors:
    """The account's factors. Passkeys that were refused do not count."""
    usable = (
        sa.select(sa.func.count())
        .select_from(Passkey)
        .where(Passkey.account_id == account.id, Passkey.refused_at.is_(None))
    )
    left = (
        sa.select(sa.func.count())
        .select_from(RecoveryCode)
        .where(RecoveryCode.account_id == account.id, RecoveryCode.used_at.is_(None))
    )
    passkeys, codes = session.execute(sa.select(usable.scalar_subquery(), left.scalar_subquery())).one()
    return Factors(passkeys, account.totp_since is not None, codes)


def has_strong(session: Session, account: Account) -> bool:
    """Whether the account has a second factor: codes that are set up, or a passkey that was not refused."""
    return of_account(session, account).strong


def lacking() -> sa.ColumnElement[bool]:
    """SQL condition on ``Account``: it has no second factor."""
    usable = sa.exists().where(Passkey.account_id == Account.id, Passkey.refused_at.is_(None))
    return sa.and_(Account.totp_since.is_(None), ~usable)


def lacking_everywhere() -> sa.ColumnElement[bool]:
    """SQL condition on ``Account``: neither has it a second factor nor does its person sign in at a provider."""
    at_provider = sa.exists().where(Identity.account_id == Account.id, Identity.deactivated_at.is_(None))
    return sa.and_(lacking(), ~at_provider)


def begin_codes(session: Session, sealer: Sealer, account: Account) -> str:
    """Store a new secret for the account's codes and return it. It counts once a code confirms it.

    Raises:
        Conflict: codes are set up already.
    """
    if account.totp_since is not None:
        raise Conflict(_("Codes are set up already. Switch them off first"))
    secret = pyotp.random_base32()
    account.totp_secret, account.totp_step = sealer.seal(secret, str(account.id)), None
    session.flush()
    return secret


def pending_secret(sealer: Sealer, account: Account) -> str | None:
    """The secret that waits for a code to confirm it, or None."""
    if account.totp_since is not None or account.totp_secret is None:
        return None
    return _secret(sealer, account)


def address(secret: str, account: Account) -> str:
    """The secret as an ``otpauth:`` address, which apps read from a QR code."""
    return pyotp.TOTP(secret, interval=STEP_SECONDS).provisioning_uri(
        name=account.sign_in_name, issuer_name="Bridgenote"
    )


def confirm_codes(session: Session, sealer: Sealer, account: Account, code: str) -> bool:
    """Set codes up if ``code`` is of the secret that waits. Of two calls at once, one does."""
    secret = pending_secret(sealer, account)
    step = _step_of(secret, _plain(code)) if secret is not None else None
    if step is None:
        return False
    statement = sa.update(Account).where(Account.id == account.id, Account.totp_since.is_(None))
    if not bulk.change(session, statement.values(totp_since=clock.now(), totp_step=step)):
        return False
    session.refresh(account, ["totp_since", "totp_step"])
    report(session, account, Kind.CODES_ON, SecurityEvent.FACTOR_ADDED, factor="codes")
    return True


def end_codes(session: Session, account: Account) -> None:
    """Switch the account's codes off. Its recovery codes end with its last second factor."""
    serialise(session, account.id)
    account.totp_secret = account.totp_since = account.totp_step = None
    session.flush()
    end_unneeded_recovery_codes(session, account)
    report(session, account, Kind.CODES_OFF, SecurityEvent.FACTOR_REMOVED, factor="codes")


def verify_code(session: Session, sealer: Sealer, account: Account, code: str) -> bool:
    """Whether ``code`` is a code of the account's app that was not used yet, or a recovery code. Either is used up.

    Callers count attempts (``app.throttle``). Of two calls at once with one code, one gets True.
    """
    plain = _plain(code)
    if len(plain) == _GROUPS * _GROUP:
        return _use_recovery_code(session, account, plain)
    if account.totp_since is None:
        return False
    secret = _secret(sealer, account)
    step = _step_of(secret, plain) if secret is not None else None
    return step is not None and _use_step(session, account.id, step)


def new_recovery_codes(session: Session, account: Account) -> list[str]:
    """Replace the account's recovery codes with new ones and return them: only their hashes are stored."""
    bulk.change(session, sa.delete(RecoveryCode).where(RecoveryCode.account_id == account.id))
    codes = [
        "-".join("".join(secrets.choice(_ALPHABET) for _ in range(_GROUP)) for _ in range(_GROUPS))
        for _ in range(RECOVERY_CODES)
    ]
    session.add_all(
        RecoveryCode(account_id=account.id, code_hash=ids.token_digest(_plain(code))) for code in codes
    )
    session.flush()
    report(session, account, Kind.RECOVERY_CODES_MADE, SecurityEvent.RECOVERY_CODES_MADE)
    return codes


def end_unneeded_recovery_codes(session: Session, account: Account) -> None:
    """Delete the recovery codes of an account that has no second factor any more."""
    if not has_strong(session, account):
        bulk.change(session, sa.delete(RecoveryCode).where(RecoveryCode.account_id == account.id))


def reset(session: Session, actor: Actor, account_id: uuid.UUID, reason: str) -> Account:
    """Remove every second factor of a person who lost them, so that their password alone signs them in again.

    Raises:
        Forbidden: the actor is no service admin.
        Conflict: there is nothing to remove.
    """
    require_service_admin(actor, _("Only a service admin removes the second factors of others"))
    limits.text(reason, "reason", limits.REASON_MAX)
    account = accounts.get(session, account_id, again=True)
    for membership in sorted(account.memberships, key=lambda membership: membership.community_id):
        serialise(session, membership.community_id)
    present = of_account(session, account)
    gone = bulk.change(session, sa.delete(Passkey).where(Passkey.account_id == account.id))
    bulk.change(session, sa.delete(RecoveryCode).where(RecoveryCode.account_id == account.id))
    account.totp_secret = account.totp_since = account.totp_step = None
    session.flush()
    if not (gone or present.has_codes):
        raise Conflict(_("%(name)s has no second factor", name=account.display_name))
    mail.ask(session, Kind.FACTORS_RESET, account_id=account.id)
    security_events.log_at_commit(session, SecurityEvent.FACTORS_RESET, actor, account_id=account.id)
    for membership in account.memberships:
        history.record(
            session,
            actor,
            membership.community_id,
            "account.factors_removed",
            "account",
            account.id,
            before={"factors": gone + present.has_codes},
            after={"factors": 0},
            reason=Reason(reason),
        )
    return account


def report(session: Session, account: Account, kind: Kind, event: SecurityEvent, **fields: Any) -> None:
    """Mail the account's owner about a change of their factors, and log it."""
    mail.ask(session, kind, account_id=account.id)
    security_events.log_at_commit(session, event, account_id=account.id, **fields)


def _secret(sealer: Sealer, account: Account) -> str | None:
    try:
        return sealer.open(account.totp_secret or b"", str(account.id))
    except SealBroken as error:
        log.warning("The secret of the codes of account %s cannot be opened: %s", account.id, error)
        return None


def _plain(code: str) -> str:
    """The code without spaces and hyphens, in lower case; empty if it cannot be one."""
    plain = re.sub(r"[\s-]", "", code[:100]).lower()
    return plain.translate(_LOOKALIKES) if plain.isascii() and plain.isalnum() else ""


def _step_of(secret: str, code: str) -> int | None:
    """The time step of which this is the code, within the drift; else None."""
    if len(code) != 6 or not code.isdigit():
        return None
    totp, now = pyotp.TOTP(secret, interval=STEP_SECONDS), int(clock.now().timestamp()) // STEP_SECONDS
    steps = range(now - DRIFT, now + DRIFT + 1)
    # Each of them is compared, so that the time says nothing.
    matching = [step for step in steps if pyotp.utils.strings_equal(totp.generate_otp(step), code)]
    return max(matching, default=None)


def _use_step(session: Session, account_id: uuid.UUID, step: int) -> bool:
    unused = sa.or_(Account.totp_step.is_(None), Account.totp_step < step)
    statement = sa.update(Account).where(Account.id == account_id, Account.totp_since.is_not(None), unused)
    return bulk.change(session, statement.values(totp_step=step, updated_at=Account.updated_at)) == 1


def _use_recovery_code(session: Session, account: Account, plain: str) -> bool:
    statement = sa.update(RecoveryCode).where(
        RecoveryCode.account_id == account.id,
        RecoveryCode.code_hash == ids.token_digest(plain),
        RecoveryCode.used_at.is_(None),
    )
    if not bulk.change(session, statement.values(used_at=clock.now())):
        return False
    report(session, account, Kind.RECOVERY_CODE_USED, SecurityEvent.RECOVERY_CODE_USED)
    return True
