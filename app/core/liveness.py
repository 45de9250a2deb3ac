"""Whether a pooled connection to PostgreSQL is still alive, mostly found out without asking the server.

The pool tests a connection each time it hands one out, with a query. That is a fifth of what a small transaction sends.
A server or proxy that ends closes its connections, and then their sockets have something to read. So the query is sent
only if there is, and every ten seconds for connections that broke without a word.
"""

import select
import time
from typing import Any

import sqlalchemy as sa

ASK_SECONDS = 10.0


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
