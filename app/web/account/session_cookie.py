"""The cookie of a signed-in browser. It holds a token; the session itself is a database row (docs/reliability.md)."""

from flask import Response, request, session
from sqlalchemy.orm import Session

from app.core.models import Account
from app.core.people import sessions
from app.web import community_choice
from app.wiring import wired


def begin(response: Response, account: Account) -> None:
    """Sign this browser in with a new token. A session that the browser already had ends."""
    with wired().database.writing() as writing:
        _end(writing)
        token = sessions.begin(writing, account, request.headers.get("User-Agent", ""))
    if account.last_community_id is not None:
        community_choice.forget_browser(response)
    settings = wired().settings
    response.set_cookie(
        name(),
        token,
        max_age=settings.session_hours * 3600,
        secure=settings.environment == "production",
        httponly=True,
        samesite="Lax",
        path="/",
    )


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
    secure = wired().settings.environment == "production"
    response.delete_cookie(name(), path="/", secure=secure, httponly=True, samesite="Lax")


def name() -> str:
    """Return the cookie's name. ``__Host-`` binds it to this host over https; over http browsers would refuse it."""
    return "__Host-bridgenote" if wired().settings.environment == "production" else "bridgenote"


def _end(writing: Session) -> None:
    token = request.cookies.get(name())
    if token:
        sessions.end(writing, token)
