"""Who asked last with a sign-in, for requests of open tabs: loaded again only if something about them changed.

What decides about access is read at every request (``known_sign_ins``). Only the requests of a page that works by
itself use this, because requests share the rows: they ask for changes, load pictures, and renew claims.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from flask import current_app

from app.core import tokens
from app.core.people import known_sign_ins
from app.wiring import wired

AnyReader = TypeVar("AnyReader")
_EXTENSION = "bridgenote-readers"
_MOST = 500
"""How many signed-in browsers are remembered; beyond that, all are forgotten."""


def reader(
    token: str, idle: timedelta, longest: timedelta, load: Callable[[], AnyReader | None]
) -> AnyReader | None:
    """The reader of this session token as ``load`` returned it last, if that is still so; else what it returns now."""
    remembered: dict[str, tuple[Any, AnyReader]] = current_app.extensions.setdefault(_EXTENSION, {})
    key = tokens.digest(token)
    with wired().database.looking() as connection:
        stamp = known_sign_ins.stamp(connection, token, idle=idle, longest=longest)
    known = remembered.get(key)
    if stamp is not None and known is not None and known[0] == stamp:
        return known[1]
    loaded = load()
    if stamp is None or loaded is None:
        remembered.pop(key, None)
        return loaded
    if len(remembered) >= _MOST:
        remembered.clear()
    # The stamp was read first: if anything changed since, the next request finds that it differs.
    remembered[key] = stamp, loaded
    return loaded
