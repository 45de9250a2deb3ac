"""What may be answered from the replica: pages, files and lists that only read and may be seconds old.

Each of them is marked where it stands, with ``@may_be_old``; nothing else reads the replica. Who has just written reads
the database itself: a browser for ``WROTE_SECONDS`` after its last write, by a cookie that all processes and machines
see; an API key that may write at all times, for it may have written through any of them. Sign-ins, keys, roles and
whatever a verb decides by are read before and outside, from the database itself.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import wraps
from typing import Any, TypeVar

import flask
from flask import Response

from app.core import replica
from app.core.db import Database, is_unavailable
from app.wiring import wired

WROTE_SECONDS = int(replica.MOST_LAG) * 2
"""Longer than a replica that is read may lag, with the time between two examinations of it."""

View = TypeVar("View", bound=Callable[..., Any])


def may_be_old(view: View) -> View:
    """Mark a view, or a function of one, that only reads and may be seconds old."""

    @wraps(view)
    def read(*args: Any, **values: Any) -> Any:
        database = wired().database
        if database.replica is None or _may_have_written(database):
            return view(*args, **values)
        is_old = False
        try:
            with database.may_be_old() as is_old:
                answer = view(*args, **values)
        except Exception as error:
            if not (is_old and is_unavailable(error)):
                raise
            database.replica.set_aside()
            return view(*args, **values)
        if isinstance(answer, Response) and answer.is_streamed:
            # It is read while it is sent, after this function.
            answer.response = _streamed(database, answer.response)
        return answer

    read.may_be_old = True  # type: ignore[attr-defined]
    return read  # type: ignore[return-value]


def _streamed(database: Database, chunks: Iterable[Any]) -> Iterator[Any]:
    with database.may_be_old():
        yield from chunks


def _may_have_written(database: Database) -> bool:
    if "caller" in flask.g:
        return not flask.g.caller.actor.read_only
    return _cookie() in flask.request.cookies or database.has_written(flask.g.began)


def remember_write(response: Response) -> Response:
    """Remember in the browser that it has just written. An ``after_request`` of the dashboard."""
    database = wired().database
    # What a GET writes, such as that the session is in use, is on no page that is marked.
    is_write = flask.request.method not in {"GET", "HEAD"} and database.has_written(flask.g.began)
    if database.replica is not None and is_write:
        is_secure = _cookie().startswith("__Host-")
        response.set_cookie(
            _cookie(), "1", max_age=WROTE_SECONDS, secure=is_secure, httponly=True, samesite="Lax"
        )
    return response


def _cookie() -> str:
    prefix = "__Host-" if wired().settings.environment == "production" else ""
    return f"{prefix}bridgenote-wrote"
