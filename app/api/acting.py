"""The X-Adapter headers: the platform, community and user on whose behalf a call is made (docs/integrate/api.md).

WSGI servers join the values of a repeated header with a comma (PEP 3333), so a comma may mean a repeated header. Only
the username may contain one, because names contain commas; our own server refuses a repeated one before it joins them
(``app/process/framing.py``).
"""

import re
from dataclasses import dataclass

from werkzeug.datastructures import Headers

from app.core import limits
from app.core.errors import Invalid, Malformed

_NAMES = ("Platform", "User-Id", "Username", "Trust-Level", "Admin", "Moderator", "Scope")
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True)
class Asserted:
    """What the integration says about the acting user. None: the header is absent."""

    platform: str | None = None
    user_id: str | None = None
    username: str | None = None
    trust_level: int | None = None
    admin: bool | None = None
    moderator: bool | None = None
    scope: str | None = None

    @property
    def has_user(self) -> bool:
        """Whether any header describes a user. If so, that user acts, and not the key itself."""
        user_headers = (self.user_id, self.username, self.trust_level, self.admin, self.moderator)
        return any(value is not None for value in user_headers)

    @property
    def is_staff(self) -> bool:
        return bool(self.admin or self.moderator)


def read(headers: Headers) -> Asserted:
    """Read and check the headers. Raises ``Malformed``, with the header's name."""
    values = {name: _text(headers, f"X-Adapter-{name}") for name in _NAMES}
    checks = {"Platform": limits.platform, "User-Id": limits.foreign_id, "Scope": limits.foreign_id}
    username = values["Username"]
    try:
        for name, check in checks.items():
            value = values[name]
            if value is not None:
                check(value, f"X-Adapter-{name}")
        if username is not None:
            limits.text(username, "X-Adapter-Username", limits.NAME_MAX, least=0)
    except Invalid as refused:
        problem = refused.problems[0]
        raise Malformed(f"{problem.loc[0]} {problem.msg}") from refused
    return Asserted(
        platform=values["Platform"],
        user_id=values["User-Id"],
        username=username or None,
        trust_level=_level(values["Trust-Level"]),
        admin=_boolean("X-Adapter-Admin", values["Admin"]),
        moderator=_boolean("X-Adapter-Moderator", values["Moderator"]),
        scope=values["Scope"],
    )


def _text(headers: Headers, name: str) -> str | None:
    value = headers.get(name)
    if value is None:
        return None
    if "," in value and name != "X-Adapter-Username":
        raise Malformed(f"{name} is repeated or holds a comma")
    try:
        # WSGI decodes header bytes as Latin-1. Most clients send UTF-8, but some really send Latin-1.
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value


def _level(value: str | None) -> int | None:
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,3}", value) or int(value) > limits.TRUST_LEVEL_MAX:
        raise Malformed(f"X-Adapter-Trust-Level must be a whole number from 0 to {limits.TRUST_LEVEL_MAX}")
    return int(value)


def _boolean(name: str, value: str | None) -> bool | None:
    if value is None:
        return None
    if value not in _BOOLEANS:
        raise Malformed(f"{name} must be exactly true or false")
    return _BOOLEANS[value]
