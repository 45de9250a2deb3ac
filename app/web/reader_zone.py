"""The time zone in which the reader types times and days: the account's own, else that of the browser.

Browsers do not send theirs. Where an account has none, script keeps its name in a cookie (``static/js/app.js``);
without script it is UTC, and ``is_known`` lets pages say so.
"""

from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from flask import g, request

COOKIE = "bridgenote_zone"
"""Holds the name of a zone and nothing else, for as long as the browser is open."""


def name() -> str:
    """Return the zone's IANA name."""
    return _known_name() or "UTC"


def zone() -> ZoneInfo:
    """Return the zone."""
    return ZoneInfo(name())


def is_known() -> bool:
    """Whether the account or the browser said where the reader is."""
    return _known_name() is not None


def is_asked() -> bool:
    """Whether script should say which zone the browser has: the account has none of its own."""
    return not g.get("timezone")


def _known_name() -> str | None:
    chosen: str | None = g.get("timezone")
    name = chosen or request.cookies.get(COOKIE, "")
    return name if name in _all() else None


@cache
def _all() -> frozenset[str]:
    return frozenset(available_timezones())
