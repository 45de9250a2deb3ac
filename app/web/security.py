"""Security headers of every response, and origin and token checks of unsafe requests (docs/run/reliability.md)."""

# flask-wtf and flask-login have no types.
# mypy: disallow-untyped-calls=False

import uuid
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Request, Response, current_app, g, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask_compress import Compress
from flask_login import current_user
from flask_wtf.csrf import generate_csrf, validate_csrf
from itsdangerous import BadSignature, URLSafeTimedSerializer
from jinja2 import StrictUndefined
from werkzeug.exceptions import BadRequest
from wtforms.validators import ValidationError

from app.core import limits, security_events
from app.core.errors import Forbidden
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.settings import Settings
from app.web import icons
from app.web.blueprint import web
from app.wiring import base_url

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
YEAR = 31_536_000

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        # Pico's ticks and arrows are data: images.
        "img-src 'self' data:",
        "media-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "object-src 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "X-Frame-Options": "DENY",
}


class StaleToken(BadRequest):
    """The token of a form is missing, or belongs to another browser or another person."""

    description = lazy_gettext(
        "This form was opened by another person or in another browser, or your browser refuses cookies. "
        "Nothing was changed. Copy what you typed before you reload the form."
    )


class _FormSessions(SecureCookieSessionInterface):
    """Flask's sessions, but without creating the signer if there is no session cookie, as in all API calls."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if self.get_cookie_name(app) not in request.cookies:
            return self.session_class()
        return super().open_session(app, request)


def register(app: Flask, settings: Settings) -> None:
    """Configure cookies, tokens, headers, compression and strict templates for the whole application."""
    production = settings.environment == "production"
    app.config.update(
        SESSION_COOKIE_NAME="__Host-bridgenote-form" if production else "bridgenote-form",
        SESSION_COOKIE_SECURE=production,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SEND_FILE_MAX_AGE_DEFAULT=YEAR,
        # Tokens do not expire, so that an old form does not lose its text.
        WTF_CSRF_TIME_LIMIT=None,
        COMPRESS_MIMETYPES=["text/html", "text/css", "text/javascript", "image/svg+xml", "text/csv"],
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_BR_LEVEL=5,
    )
    app.session_interface = _FormSessions()
    # ``auth.guard`` checks the token on the dashboard's routes. The API reads no cookies and needs no token.
    app.jinja_env.globals["csrf_token"] = csrf_token
    Compress(app)
    icons.register(app)
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.autoescape = True

    @app.after_request
    def add_headers(response: Response) -> Response:
        if policy := g.get("referrer_policy"):
            response.headers["Referrer-Policy"] = policy
        # Scan the header names once; ``setdefault`` would scan them for each header.
        present = {name.lower() for name, _ in response.headers}
        response.headers.extend([pair for pair in HEADERS.items() if pair[0].lower() not in present])
        if production and request.is_secure:
            response.headers.setdefault("Strict-Transport-Security", f"max-age={YEAR}")
        if request.endpoint in {"static", "static_module"} and response.status_code in {200, 304}:
            # The content of a URL with a version never changes.
            versioned = "v" in request.args or request.path.startswith("/static/vendor/")
            if request.endpoint == "static_module":
                versioned = (request.view_args or {})["version"] == icons.script_version()
            response.headers["Cache-Control"] = (
                f"public, max-age={YEAR}, immutable" if versioned else "public, max-age=300"
            )
        return response


@web.after_request
def keep_no_copy(response: Response) -> Response:
    """Forbid caching of all dashboard pages; stored files of posts may stay in the reader's own browser a while."""
    response.headers["Cache-Control"] = g.get("cache_control", "no-store")
    return response


def limit_body() -> None:
    """Set the size limit of request bodies: the API's limit, more for a dataset file. Reading a longer body is 413."""
    most = limits.BODY_MAX_BYTES
    if request.endpoint == "web.import_dataset":
        # The form also sends its other fields and the multipart boundaries.
        most = limits.DATASET_FILE_BYTES + limits.METADATA_MAX_BYTES
    elif request.endpoint in {"web.sign_in_submit", "web.sign_in_with_passkey", "web.second_step_submit"}:
        # A form that was sent signed out comes along as JSON, where a quotation mark takes twice the space.
        most = 2 * limits.BODY_MAX_BYTES + limits.METADATA_MAX_BYTES
    request.max_content_length = most


def check_origin(*, null_is_ours: bool) -> None:
    """Refuse unsafe requests from other sites, if the browser tells where the request comes from.

    Pages without a referrer send ``Origin: null``. Then ``Sec-Fetch-Site`` must be ``same-origin``. Over plain http,
    some browsers do not send it; with ``null_is_ours`` it may be missing.

    Raises:
        Forbidden: ``Sec-Fetch-Site`` or ``Origin`` name another site.
    """
    if request.method in SAFE_METHODS:
        return
    site = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    foreign = site is not None and site not in {"same-origin", "none"}
    if origin == "null" and (null_is_ours or site == "same-origin"):
        origin = None
    if origin is not None and not foreign:
        parts, public = urlsplit(origin), urlsplit(base_url())
        is_asked = parts.netloc == request.host and (parts.scheme == "https" or not request.is_secure)
        # A proxy may send another Host than the public one.
        foreign = not is_asked and (parts.scheme, parts.netloc) != (public.scheme, public.netloc)
    if foreign:
        security_events.log(SecurityEvent.CROSS_SITE, refused="origin", client_ip=request.remote_addr)
        raise Forbidden(_("This was sent from another site, so it was not carried out"))


def check_token(*, signs_in: bool) -> None:
    """Check the CSRF token of unsafe requests, in the form field or in ``X-CSRFToken``.

    With ``signs_in`` the form may have been opened before this browser signed in, in another tab.

    Raises:
        StaleToken: the token is missing, or belongs to another browser or to another person.
    """
    if request.method in SAFE_METHODS:
        return
    token = request.form.get("csrf_token") or request.headers.get("X-CSRFToken")
    if not (_is_valid(token, _token_key()) or (signs_in and _is_valid(token, _key_of("")))):
        security_events.log(SecurityEvent.CROSS_SITE, refused="form token", client_ip=request.remote_addr)
        raise StaleToken


def _is_valid(token: str | None, key: str) -> bool:
    try:
        validate_csrf(token, secret_key=key)
    except ValidationError:
        return False
    return True


def is_issued_to(account_id: uuid.UUID, token: str) -> bool:
    """Whether this service once put the token into a form for this account, in whichever browser.

    Enough to give a form back to the person who typed it, never to carry it out.
    """
    try:
        URLSafeTimedSerializer(_key_of(str(account_id)), salt="wtf-csrf-token").loads(token)
    except BadSignature:
        return False
    return True


def csrf_token() -> str:
    """Return the CSRF token for the forms of this page."""
    token: str = generate_csrf(secret_key=_token_key())
    return token


def csrf_token_for(account_id: uuid.UUID) -> str:
    """Return the CSRF token of an account that this very request signs in."""
    g.pop("csrf_token", None)  # where flask-wtf keeps the one for people who are not signed in
    token: str = generate_csrf(secret_key=_key_of(str(account_id)))
    return token


def _token_key() -> str:
    reader: Any = current_user
    return _key_of(reader.get_id() if reader.is_authenticated else "")


def _key_of(account_id: str) -> str:
    """Return the key that signs tokens: a different one for each account, and for people who are not signed in ("").

    So a token that an attacker read or planted before a browser signs in is not valid after the sign-in, and nobody's
    form is taken from another person. The same person's form is still valid after signing in again.
    """
    return f"{current_app.secret_key!r}:{account_id}"
