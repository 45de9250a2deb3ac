"""The cookies of a browser: the session's, and the one that remembers which accounts have signed in there.

The session's cookie holds a token; the session is a database row (docs/run/reliability.md). The other is signed, has no
row and signs nobody in. Attempts to sign in from a browser that has it are counted by themselves, so that failed
attempts from elsewhere do not lock the owner out (OWASP: "Slow down online guessing attacks with device cookies").
"""

import re
import secrets
from typing import Any

from flask import Response, current_app, request, session
from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy.orm import Session

from app.core import ids, security_events
from app.core.models import Account
from app.core.people import passwords, sessions
from app.core.security_events import SecurityEvent
from app.web import auth, community_choice
from app.web.security import YEAR
from app.wiring import wired

ACCOUNTS_MAX = 5
"""Accounts remembered in one browser; the one that signed in longest ago is forgotten first."""


def begin(response: Response, account: Account, renewed_hash: str | None = None) -> None:
    """Sign this browser in with a new token. A session that the browser already had ends.

    ``renewed_hash``: a hash of the password to store in the place of the account's (``passwords.renewed_hash``).
    """
    with wired().database.writing() as writing:
        _end(writing)
        if renewed_hash is not None:
            passwords.renew_hash(writing, account, renewed_hash)
        token = sessions.begin(writing, account, request.headers.get("User-Agent", ""))
    is_new = remember(response, account.sign_in_name)
    event = SecurityEvent.NEW_DEVICE if is_new else SecurityEvent.SIGNED_IN
    security_events.log(event, account_id=account.id, client_ip=request.remote_addr)
    if account.last_community_id is not None:
        community_choice.forget_browser(response)
    _set(response, auth.cookie_name(), token, wired().settings.session_hours * 3600)


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


def _device_name() -> str:
    return "__Host-bridgenote-device" if _is_production() else "bridgenote-device"


_BROWSERS = (
    ("Edge", r"\bEdgA?/|\bEdgiOS/"),
    ("Opera", r"\bOPR/|\bOpera\b"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\bFirefox/|\bFxiOS/"),
    ("Chrome", r"\bChrome/|\bCriOS/|\bChromium/"),
    ("Safari", r"\bSafari/"),
)
_SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMacintosh\b|\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)
"""The order matters: a browser's User-Agent also contains names that are further down the list."""


def device(user_agent: str) -> str:
    """Return a name such as “Firefox on Linux”; for an unknown browser, the first word of its User-Agent."""
    browser, system = _first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or user_agent.split("/")[0].strip()[:40] or "Unknown device"


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for name, pattern in names if re.search(pattern, user_agent)), "")
