"""Remembers in a browser which accounts have signed in there: a signed cookie, without a database row.

Attempts to sign in from such a browser are counted by themselves, so that failed attempts from elsewhere do not lock
the owner out (OWASP: "Slow down online guessing attacks with device cookies"). The cookie signs nobody in.
"""

import secrets
from typing import Any

from flask import Response, current_app, request
from itsdangerous import BadSignature, URLSafeTimedSerializer

from app.core import tokens
from app.web.security import YEAR
from app.wiring import wired

ACCOUNTS_MAX = 5
"""Accounts remembered in one browser; the one that signed in longest ago is forgotten first."""


def device_for(sign_in_name: str) -> str | None:
    """The id of this browser, if the account with this sign-in name has signed in here; else None."""
    remembered = _read()
    return str(remembered["device"]) if _digest(sign_in_name) in remembered["accounts"] else None


def remember(response: Response, sign_in_name: str) -> bool:
    """Remember that an account signed in here. Return whether it is the first time in this browser."""
    remembered, digest = _read(), _digest(sign_in_name)
    others = [account for account in remembered["accounts"] if account != digest]
    accounts = [digest, *others][:ACCOUNTS_MAX]
    response.set_cookie(
        _name(),
        _serializer().dumps({"device": remembered["device"], "accounts": accounts}),
        max_age=YEAR,
        secure=_is_production(),
        httponly=True,
        samesite="Lax",
        path="/",
    )
    return digest not in remembered["accounts"]


def _read() -> dict[str, Any]:
    try:
        remembered: dict[str, Any] = _serializer().loads(request.cookies.get(_name(), ""), max_age=YEAR)
    except BadSignature:
        return {"device": secrets.token_urlsafe(16), "accounts": []}
    return remembered


def _serializer() -> URLSafeTimedSerializer:
    key = current_app.secret_key
    assert key is not None  # noqa: S101 - the settings have one; narrows the type
    return URLSafeTimedSerializer(key, salt="bridgenote device")


def _digest(sign_in_name: str) -> str:
    return tokens.digest(sign_in_name)[:16]


def _is_production() -> bool:
    return wired().settings.environment == "production"


def _name() -> str:
    return "__Host-bridgenote-device" if _is_production() else "bridgenote-device"
