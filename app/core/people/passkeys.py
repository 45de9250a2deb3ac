"""Passkeys (WebAuthn level 3): added, named, used to sign in or to prove again who one is, and removed.

A challenge is a ``SignInStep``, used once and within five minutes. Callers commit after ``finish_proof`` also when it
refuses: a passkey whose counter went back is marked then. Attestation is not asked for.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
import webauthn
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.exceptions import WebAuthnException
from webauthn.helpers.structs import (
    AuthenticatorSelectionCriteria,
    AuthenticatorTransport,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from app.core import bulk, clock, limits
from app.core.db import serialise
from app.core.errors import NotFound
from app.core.mail import Kind
from app.core.models import Account, Membership, Passkey
from app.core.people import accounts, second_factors, sign_in_steps
from app.core.security_events import SecurityEvent
from app.core.texts import lazy_gettext
from app.core.vocabulary import Role, SignInStepPurpose

LASTS = timedelta(minutes=limits.PASSKEY_MINUTES)
CREDENTIAL_MAX = 20_000
"""Characters of the JSON that a browser sends."""
CREDENTIAL_ID_MAX, PUBLIC_KEY_MAX = 1_023, 2_000
"""Bytes. The first is WebAuthn's own limit."""
MALFORMED = (
    WebAuthnException,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OverflowError,
    RecursionError,
)
"""What the library raises for what a browser would not send."""
NOT_VALID = lazy_gettext("This passkey was not accepted. Try again, or sign in another way")
REFUSED = lazy_gettext(
    "This passkey was refused, because it counted fewer uses than before: a sign of a copy. "
    "Sign in another way, remove it and add another one"
)


@dataclass(frozen=True)
class RelyingParty:
    """The service as passkeys know it: ``id`` is the host of ``origin``, the address that people open."""

    id: str
    origin: str
    name: str = "Bridgenote"


@dataclass(frozen=True)
class Challenge:
    """``token`` is for the browser's cookie, ``options`` (JSON) for its script."""

    token: str
    options: str


@dataclass(frozen=True)
class Proof:
    """``account`` has proved who they are with a passkey. None: they have not, because of ``refusal``."""

    account: Account | None
    refusal: str = ""


def of_account(session: Session, account_id: uuid.UUID) -> Sequence[Passkey]:
    """The account's passkeys, oldest first, those that were refused included."""
    return session.scalars(
        sa.select(Passkey)
        .where(Passkey.account_id == account_id)
        .order_by(Passkey.created_at, Passkey.id)
        .limit(limits.PASSKEYS.number)
    ).all()


def requires_verification(session: Session, account: Account) -> bool:
    """Whether a passkey must check the person too, by PIN or biometrics: for moderators and up."""
    ranks = [role for role in Role if role.rank >= Role.MODERATOR.rank]
    moderates = sa.exists().where(Membership.account_id == account.id, Membership.role.in_(ranks))
    return account.service_admin or bool(session.scalar(sa.select(moderates)))


def begin_adding(
    session: Session, party: RelyingParty, account: Account, replaces: str | None = None
) -> Challenge:
    """Begin to add a passkey. ``replaces``: the token of the browser's former step.

    Raises:
        Invalid: the account has as many as it may.
    """
    present = of_account(session, account.id)
    limits.room(limits.PASSKEYS, len(present), "name")
    options = webauthn.generate_registration_options(
        rp_id=party.id,
        rp_name=party.name,
        user_name=account.sign_in_name,
        user_id=account.id.bytes,
        user_display_name=account.display_name,
        timeout=int(LASTS.total_seconds() * 1000),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED, user_verification=_verification(session, account)
        ),
        exclude_credentials=_descriptors(present),
    )
    token = _begin(session, SignInStepPurpose.ADD_PASSKEY, options.challenge, account.id, replaces)
    return Challenge(token, webauthn.options_to_json(options))


def finish_adding(
    session: Session, party: RelyingParty, account: Account, token: str | None, credential: str, name: str
) -> Passkey | None:
    """Add the passkey that the browser made for the challenge; None if it is not valid.

    Raises:
        Invalid: the name is too long, or the account has as many passkeys as it may.
    """
    name = limits.text(name.strip() or "Passkey", "name", limits.PASSKEY_NAME_MAX)
    step = sign_in_steps.take(session, token, SignInStepPurpose.ADD_PASSKEY)
    if step is None or step.account_id != account.id or len(credential) > CREDENTIAL_MAX:
        return None
    limits.room(limits.PASSKEYS, len(of_account(session, account.id)), "name")
    try:
        verified = webauthn.verify_registration_response(
            credential=credential,
            expected_challenge=base64url_to_bytes(step.details["challenge"]),
            expected_rp_id=party.id,
            expected_origin=party.origin,
            require_user_verification=requires_verification(session, account),
        )
    except MALFORMED:
        return None
    if (
        len(verified.credential_id) > CREDENTIAL_ID_MAX
        or len(verified.credential_public_key) > PUBLIC_KEY_MAX
    ):
        return None
    passkey = Passkey(
        account_id=account.id,
        credential_id=verified.credential_id,
        public_key=verified.credential_public_key,
        sign_count=verified.sign_count,
        name=name,
        transports=_transports(credential),
        backed_up=verified.credential_backed_up,
    )
    try:
        with session.begin_nested():
            session.add(passkey)
    except IntegrityError:  # the credential is known, perhaps to another account
        return None
    second_factors.report(
        session, account, Kind.PASSKEY_ADDED, SecurityEvent.FACTOR_ADDED, factor="passkey", id=passkey.id
    )
    return passkey


def begin_proof(
    session: Session, party: RelyingParty, account: Account | None, replaces: str | None = None
) -> Challenge:
    """Begin a sign-in with a passkey, or a proof by one of the account's.

    With ``account`` None any passkey of this service will do, and it must check the person too: nothing else does.
    """
    verification = UserVerificationRequirement.REQUIRED
    allowed: list[PublicKeyCredentialDescriptor] = []
    if account is not None:
        verification = _verification(session, account)
        allowed = _descriptors([one for one in of_account(session, account.id) if one.refused_at is None])
    options = webauthn.generate_authentication_options(
        rp_id=party.id,
        timeout=int(LASTS.total_seconds() * 1000),
        allow_credentials=allowed,
        user_verification=verification,
    )
    account_id = account.id if account is not None else None
    token = _begin(session, SignInStepPurpose.PASSKEY, options.challenge, account_id, replaces)
    return Challenge(token, webauthn.options_to_json(options))


def finish_proof(
    session: Session, party: RelyingParty, token: str | None, credential: str, account: Account | None = None
) -> Proof:
    """Check what the browser sent for the challenge. The caller commits whatever comes out.

    ``account``: who must prove it, where that is known. Without it, the passkey says who it is.
    """
    step = sign_in_steps.take(session, token, SignInStepPurpose.PASSKEY)
    expected = account.id if account is not None else None
    if step is None or step.account_id != expected or len(credential) > CREDENTIAL_MAX:
        return Proof(None, NOT_VALID)
    passkey, owner = _sent(session, credential)
    if passkey is None or owner is None or owner.id != (expected or owner.id):
        return Proof(None, NOT_VALID)
    if passkey.refused_at is not None:
        return Proof(None, REFUSED)
    try:
        verified = webauthn.verify_authentication_response(
            credential=credential,
            expected_challenge=base64url_to_bytes(step.details["challenge"]),
            expected_rp_id=party.id,
            expected_origin=party.origin,
            credential_public_key=passkey.public_key,
            # The library compares counters before it checks the signature, so anybody could have a passkey refused.
            credential_current_sign_count=0,
            require_user_verification=account is None or requires_verification(session, owner),
        )
    except MALFORMED:
        return Proof(None, NOT_VALID)
    if not _count_use(session, passkey, verified.new_sign_count, verified.credential_backed_up):
        _refuse(session, owner, passkey)
        return Proof(None, REFUSED)
    return Proof(owner)


def rename(session: Session, account: Account, passkey_id: uuid.UUID, name: str) -> Passkey:
    """Rename one of the account's passkeys.

    Raises:
        NotFound: it is not theirs.
        Invalid: the name is blank or too long.
    """
    passkey = get(session, account, passkey_id)
    passkey.name = limits.text(name.strip(), "name", limits.PASSKEY_NAME_MAX)
    session.flush()
    return passkey


def remove(session: Session, account: Account, passkey_id: uuid.UUID) -> Passkey:
    """Remove one of the account's passkeys. Its recovery codes end with its last second factor.

    Raises:
        NotFound: it is not theirs.
    """
    serialise(session, account.id)
    passkey = get(session, account, passkey_id)
    session.delete(passkey)
    session.flush()
    second_factors.end_unneeded_recovery_codes(session, account)
    second_factors.report(
        session, account, Kind.PASSKEY_REMOVED, SecurityEvent.FACTOR_REMOVED, factor="passkey", id=passkey.id
    )
    return passkey


def get(session: Session, account: Account, passkey_id: uuid.UUID) -> Passkey:
    """One of the account's passkeys. Raises NotFound if it is not theirs."""
    passkey = session.get(Passkey, passkey_id)
    if passkey is None or passkey.account_id != account.id:
        raise NotFound("passkey")
    return passkey


def _begin(
    session: Session,
    purpose: SignInStepPurpose,
    challenge: bytes,
    account_id: uuid.UUID | None,
    replaces: str | None,
) -> str:
    details = {"challenge": bytes_to_base64url(challenge)}
    return sign_in_steps.begin(
        session, purpose, LASTS, account_id=account_id, details=details, replaces=replaces
    )


def _verification(session: Session, account: Account) -> UserVerificationRequirement:
    if requires_verification(session, account):
        return UserVerificationRequirement.REQUIRED
    return UserVerificationRequirement.PREFERRED


def _descriptors(passkeys: Sequence[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [
        PublicKeyCredentialDescriptor(
            id=passkey.credential_id,
            transports=[AuthenticatorTransport(transport) for transport in passkey.transports],
        )
        for passkey in passkeys
    ]


def _transports(credential: str) -> list[str]:
    """How the browser can reach the authenticator, as far as we know the words."""
    said = json.loads(credential)["response"].get("transports")
    words = said if isinstance(said, list) else []
    return [known.value for known in AuthenticatorTransport if known.value in words]


def _sent(session: Session, credential: str) -> tuple[Passkey | None, Account | None]:
    """The passkey that the browser used and its account, if that can sign in and is the one that the browser names."""
    try:
        sent = webauthn.helpers.parse_authentication_credential_json(credential)
    except MALFORMED:
        return None, None
    row = session.execute(
        sa.select(Passkey, Account)
        .join(Account, Account.id == Passkey.account_id)
        .where(Passkey.credential_id == sent.raw_id, accounts.can_sign_in())
    ).one_or_none()
    handle = sent.response.user_handle
    if row is None or (handle and handle != row.Account.id.bytes):
        return None, None
    return row.Passkey, row.Account


def _count_use(session: Session, passkey: Passkey, count: int, backed_up: bool) -> bool:
    """Store the counter of a use. False if it did not grow; one that always says 0 does not count."""
    grown = sa.or_(Passkey.sign_count < count, sa.and_(Passkey.sign_count == 0, sa.literal(count) == 0))
    statement = sa.update(Passkey).where(Passkey.id == passkey.id, Passkey.refused_at.is_(None), grown)
    values = {"sign_count": count, "last_used_at": clock.now(), "backed_up": backed_up}
    return bulk.change(session, statement.values(values)) == 1


def _refuse(session: Session, owner: Account, passkey: Passkey) -> None:
    statement = sa.update(Passkey).where(Passkey.id == passkey.id, Passkey.refused_at.is_(None))
    if bulk.change(session, statement.values(refused_at=clock.now())):
        second_factors.report(
            session, owner, Kind.PASSKEY_REFUSED, SecurityEvent.PASSKEY_REFUSED, id=passkey.id
        )
