"""Whether the database can be used: which errors say that it cannot, and whether a pooled connection is still alive.

The pool of connections to PostgreSQL tests a connection each time it hands one out, with a query. That is a fifth of
what a small transaction sends. A server or proxy that ends closes its connections, and then their sockets have
something to read. So the query is sent only if there is, and every ten seconds for connections that broke without a
word.
"""

import select
import sqlite3
import time
from typing import Any

import sqlalchemy as sa
import sqlalchemy.exc as sa_exc

ASK_SECONDS = 10.0
_READ_ONLY = "25006"
"""SQLSTATE of a write in a database that only reads; its exception is not one of those below."""
_UNAVAILABLE = (
    sa_exc.OperationalError,
    sa_exc.InterfaceError,
    sa_exc.TimeoutError,
    sa_exc.DisconnectionError,
    sqlite3.OperationalError,
)


def is_unavailable(error: BaseException) -> bool:
    """Whether the error says that the database is away, full, locked or read-only, and nothing of the statement."""
    lost = isinstance(error, sa_exc.DBAPIError) and error.connection_invalidated
    is_read_only = getattr(getattr(error, "orig", None), "sqlstate", None) == _READ_ONLY
    return lost or is_read_only or isinstance(error, _UNAVAILABLE)


def ask_rarely(engine: sa.Engine) -> None:
    """Let the pool of this engine, which is for PostgreSQL and tests connections, send its query only when in doubt."""
    dialect: Any = engine.dialect
    ask = dialect.do_ping

    def answers(connection: Any) -> bool:
        now = time.monotonic()
        if now - getattr(connection, "asked_at", -ASK_SECONDS) < ASK_SECONDS and _is_silent(connection):
            return True
        answered: bool = ask(connection)
        connection.asked_at = now
        return answered

    dialect.do_ping = answers


def _is_silent(connection: Any) -> bool:
    if connection.closed:
        return False
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    return not poll.poll(0)
