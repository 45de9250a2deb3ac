"""The cookie of a signed-in browser. It holds a token; the session is a database row (docs/run/reliability.md)."""

from flask import Response, request, session
from sqlalchemy.orm import Session

from app.core import security_events
from app.core.models import Account
from app.core.people import accounts, sessions
from app.core.security_events import SecurityEvent
from app.web import auth, community_choice
from app.web.account import device_cookie
from app.wiring import wired


def begin(response: Response, account: Account, renewed_hash: str | None = None) -> None:
    """Sign this browser in with a new token. A session that the browser already had ends.

    ``renewed_hash``: a hash of the password to store in the place of the account's (``accounts.renewed_hash``).
    """
    with wired().database.writing() as writing:
        _end(writing)
        if renewed_hash is not None:
            accounts.renew_hash(writing, account, renewed_hash)
        token = sessions.begin(writing, account, request.headers.get("User-Agent", ""))
    is_new = device_cookie.remember(response, account.sign_in_name)
    event = SecurityEvent.NEW_DEVICE if is_new else SecurityEvent.SIGNED_IN
    security_events.log(event, account_id=account.id, client_ip=request.remote_addr)
    if account.last_community_id is not None:
        community_choice.forget_browser(response)
    settings = wired().settings
    response.set_cookie(
        auth.cookie_name(),
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
    response.delete_cookie(auth.cookie_name(), path="/", secure=secure, httponly=True, samesite="Lax")


def _end(writing: Session) -> None:
    token = request.cookies.get(auth.cookie_name())
    if token:
        sessions.end(writing, token)
