"""The end of a session, announced: how long it has left, and a button to stay (static/js/session.js).

Asking how long keeps nothing alive. Staying does, until the session has lasted as long as any may.
"""

from datetime import timedelta

from flask import Response, jsonify

from app.core import clock
from app.core.models import SignIn
from app.core.people import sessions
from app.web import auth
from app.web.blueprint import web
from app.wiring import wired

NOTICE = 60
"""How many seconds before its end a session says so; of a short one a quarter."""


@web.get("/session")
@auth.open_to_all
@auth.passive
def session_left() -> Response:
    who = auth.reader()
    return _answer(*left_of(who.sign_in)) if who is not None else _answer(0, is_last=False)


@web.post("/session/stay")
@auth.passive
def stay() -> Response:
    """Count the session as used now."""
    sign_in = auth.current_reader().sign_in
    with wired().database.writing() as session:
        sessions.mark_seen(session, sign_in)
    sign_in.last_seen_at = clock.now()
    return _answer(*left_of(sign_in))


@web.app_context_processor
def add_session_left() -> dict[str, object]:
    """Add how long the session has left, for ``base.html``."""
    return {"session_left": _left_after_this_page, "session_notice": notice}


def notice() -> int:
    """How many seconds before its end a session says so."""
    return min(NOTICE, wired().settings.session_idle_minutes * 15)


def left_of(sign_in: SignIn) -> tuple[int, bool]:
    """The seconds that a session has left, and whether it cannot be made longer."""
    settings, now = wired().settings, clock.now()
    idle = timedelta(minutes=settings.session_idle_minutes) - (now - sign_in.last_seen_at)
    longest = timedelta(hours=settings.session_hours) - (now - sign_in.created_at)
    return max(0, int(min(idle, longest).total_seconds())), longest <= idle


def _left_after_this_page() -> int | None:
    """The seconds left, at least: the page itself may have counted as a use."""
    who = auth.reader()
    return left_of(who.sign_in)[0] if who is not None else None


def _answer(left: int, is_last: bool) -> Response:
    return jsonify({"left": left, "is_last": is_last})
