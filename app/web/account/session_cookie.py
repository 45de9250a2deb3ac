"""The cookies of a browser: the session's, those of steps, and the one that remembers which accounts have signed in.

The session's cookie holds a token; the session is a database row (docs/run/reliability.md). The other is signed, has no
row and signs nobody in. Attempts to sign in from a browser that has it are counted by themselves, so that failed
attempts from elsewhere do not lock the owner out (OWASP: "Slow down online guessing attacks with device cookies").
"""

import secrets
import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from flask import Response, current_app, request, session
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy.orm import Session

from app.core import ids, security_events
from app.core.errors import TooMany
from app.core.models import Account
from app.core.people import passwords, refreshes, sessions
from app.core.security_events import SecurityEvent
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import SessionEnd, SignInMethod, SignInStepPurpose
from app.web import auth, community_choice
from app.web.security import YEAR
from app.wiring import wired

_WHY: Mapping[str, str] = {
    SessionEnd.PASSWORD: lazy_gettext("You were signed out because your password was changed."),
    SessionEnd.ELSEWHERE: lazy_gettext("You were signed out from another browser of yours."),
    SessionEnd.ADMIN: lazy_gettext("You were signed out because an admin disabled your account."),
    SessionEnd.ROLES: lazy_gettext("You were signed out because your roles changed."),
    SessionEnd.PROVIDER: lazy_gettext(
        "You were signed out because the provider that you sign in with ended your session."
    ),
}
ACCOUNTS_MAX = 5
"""Accounts remembered in one browser; the one that signed in longest ago is forgotten first."""


def begin(
    response: Response,
    account: Account,
    renewed_hash: str | None = None,
    *,
    method: SignInMethod = SignInMethod.PASSWORD,
    is_strong: bool = False,
    provider_id: uuid.UUID | None = None,
    provider_session: str | None = None,
) -> None:
    """Sign this browser in with a new token. A session that the browser already had ends.

    ``renewed_hash``: a hash of the password to store in the place of the account's (``passwords.renewed_hash``). The
    others are those of ``sessions.begin``. The owner gets a mail about a browser where they had not signed in before.
    """
    is_new = remember(response, account.sign_in_name)
    warns = is_new and _may_warn(account)
    with wired().database.writing() as writing:
        _end(writing)
        if provider_id is None:
            refreshes.lapse(writing, account.id, timedelta(hours=wired().settings.session_hours))
        if renewed_hash is not None:
            passwords.renew_hash(writing, account, renewed_hash)
        token = sessions.begin(
            writing,
            account,
            request.headers.get("User-Agent", ""),
            method=method,
            is_strong=is_strong,
            provider_id=provider_id,
            provider_session=provider_session,
        )
        if warns:
            sessions.warn_of_new_device(writing, account, token)
    event = SecurityEvent.NEW_DEVICE if is_new else SecurityEvent.SIGNED_IN
    security_events.log(event, account_id=account.id, client_ip=request.remote_addr)
    if account.last_community_id is not None:
        community_choice.forget_browser(response)
    renew(response, token)


def renew(response: Response, token: str) -> None:
    """Give this browser the session's token."""
    _set(response, auth.cookie_name(), token, wired().settings.session_hours * 3600)


def is_set(response: Response) -> bool:
    """Whether the response gives or takes a session's token already."""
    return any(
        cookie.startswith(f"{auth.cookie_name()}=") for cookie in response.headers.getlist("Set-Cookie")
    )


def _may_warn(account: Account) -> bool:
    """Whether the owner may get another mail about a new browser today: a storm of sign-ins is not one of mails."""
    try:
        wired().throttle.hit("new_device_mails", str(account.id))
    except TooMany:
        return False
    return True


def end(response: Response) -> None:
    """Sign this browser out. The session's row ends, so copies of the token are no longer valid.

    The secret of this browser's forms stays: a form that is still open in another tab is taken once the same person has
    signed in again. Tokens are signed for their account, so nobody else's are.
    """
    with wired().database.writing() as writing:
        _end(writing)
    secret = session.get("csrf_token")
    session.clear()
    if secret is not None:
        session["csrf_token"] = secret
    response.delete_cookie(
        auth.cookie_name(), path="/", secure=_is_production(), httponly=True, samesite="Lax"
    )


def step_token(purpose: SignInStepPurpose) -> str | None:
    """The token of what this browser has begun and not finished (``people.sign_in_steps``)."""
    return request.cookies.get(_step_name(purpose))


def set_step(response: Response, purpose: SignInStepPurpose, token: str, lasts: timedelta) -> None:
    """Give this browser the token of a step."""
    _set(response, _step_name(purpose), token, int(lasts.total_seconds()))


def end_step(response: Response, purpose: SignInStepPurpose) -> None:
    """Take the token of a step that was used."""
    response.delete_cookie(
        _step_name(purpose), path="/", secure=_is_production(), httponly=True, samesite="Lax"
    )


def why_signed_out() -> str:
    """Why the session that this browser had is over, in a sentence; empty if it had none or ended it itself."""
    token = request.cookies.get(auth.cookie_name())
    if not token:
        return ""
    settings = wired().settings
    idle, longest = timedelta(minutes=settings.session_idle_minutes), timedelta(hours=settings.session_hours)
    with wired().database.reading() as reading:
        why = sessions.why_over(reading, token, idle=idle, longest=longest)
    if why == "idle":
        return ngettext(
            "You were signed out because you had not used this page for %(num)s minute.",
            "You were signed out because you had not used this page for %(num)s minutes.",
            settings.session_idle_minutes,
        )
    if why == "longest":
        return ngettext(
            "You were signed out because you signed in more than %(num)s hour ago.",
            "You were signed out because you signed in more than %(num)s hours ago.",
            settings.session_hours,
        )
    return str(_WHY[why]) if why else ""


def _end(writing: Session) -> None:
    token = request.cookies.get(auth.cookie_name())
    if token:
        sessions.end(writing, token)


def _set(response: Response, name: str, value: str, seconds: int) -> None:
    response.set_cookie(
        name, value, max_age=seconds, secure=_is_production(), httponly=True, samesite="Lax", path="/"
    )


def device_for(sign_in_name: str) -> str | None:
    """The id of this browser, if the account with this sign-in name has signed in here; else None."""
    remembered = _remembered()
    return str(remembered["device"]) if _digest(sign_in_name) in remembered["accounts"] else None


def remember(response: Response, sign_in_name: str) -> bool:
    """Remember that an account signed in here. Return whether it is the first time in this browser."""
    remembered, digest = _remembered(), _digest(sign_in_name)
    others = [account for account in remembered["accounts"] if account != digest]
    accounts = [digest, *others][:ACCOUNTS_MAX]
    value = _serializer().dumps({"device": remembered["device"], "accounts": accounts})
    _set(response, _device_name(), value, YEAR)
    return digest not in remembered["accounts"]


def _remembered() -> dict[str, Any]:
    try:
        remembered: dict[str, Any] = _serializer().loads(
            request.cookies.get(_device_name(), ""), max_age=YEAR
        )
    except BadSignature:
        return {"device": secrets.token_urlsafe(16), "accounts": []}
    return remembered


def _serializer() -> URLSafeTimedSerializer:
    key = current_app.secret_key
    assert key is not None  # noqa: S101 - the settings have one; narrows the type
    return URLSafeTimedSerializer(key, salt="bridgenote device")


def _digest(sign_in_name: str) -> str:
    return ids.token_digest(sign_in_name)[:16]


def _is_production() -> bool:
    return wired().settings.environment == "production"


def _step_name(purpose: SignInStepPurpose) -> str:
    name = f"bridgenote-{purpose.replace('_', '-')}"
    return f"__Host-{name}" if _is_production() else name


def _device_name() -> str:
    return "__Host-bridgenote-device" if _is_production() else "bridgenote-device"
