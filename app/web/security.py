"""What every answer carries and every unsafe request must prove (docs/reliability.md)."""

# flask-wtf and flask-login have no types.
# mypy: disallow-untyped-calls=False

from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Request, Response, current_app, g, request
from flask.sessions import SecureCookieSession, SecureCookieSessionInterface
from flask_compress import Compress
from flask_login import current_user
from flask_wtf.csrf import generate_csrf, validate_csrf
from jinja2 import StrictUndefined
from werkzeug.exceptions import BadRequest
from wtforms.validators import ValidationError

from app.core import limits
from app.core.errors import Forbidden
from app.settings import Settings
from app.web.blueprint import web
from app.wiring import base_url

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
YEAR = 31_536_000

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        # Pico draws its ticks and arrows as data: images.
        "img-src 'self' data:",
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


class _FormSessions(SecureCookieSessionInterface):
    """Flask's sessions, which make the signer only for a cookie that has to be checked: the API's calls bring none."""

    def open_session(self, app: Flask, request: Request) -> SecureCookieSession | None:
        if self.get_cookie_name(app) not in request.cookies:
            return self.session_class()
        return super().open_session(app, request)


def register(app: Flask, settings: Settings) -> None:
    """Cookies, tokens, headers, compression and strict templates for the whole application."""
    production = settings.environment == "production"
    app.config.update(
        SESSION_COOKIE_NAME="__Host-bridgenote-form" if production else "bridgenote-form",
        SESSION_COOKIE_SECURE=production,
        SESSION_COOKIE_HTTPONLY=True,
        SESSION_COOKIE_SAMESITE="Lax",
        SEND_FILE_MAX_AGE_DEFAULT=YEAR,
        # An hour-old form must not lose its text.
        WTF_CSRF_TIME_LIMIT=None,
        COMPRESS_MIMETYPES=["text/html", "text/css", "text/javascript", "image/svg+xml", "text/csv"],
        COMPRESS_ALGORITHM=["br", "gzip"],
        COMPRESS_BR_LEVEL=4,
    )
    app.session_interface = _FormSessions()
    # ``auth.guard`` asks for it on the dashboard's routes; the API reads no cookie and needs none.
    app.jinja_env.globals["csrf_token"] = csrf_token
    Compress(app)
    app.jinja_env.undefined = StrictUndefined
    app.jinja_env.autoescape = True

    @app.after_request
    def add_headers(response: Response) -> Response:
        if policy := g.get("referrer_policy"):
            response.headers["Referrer-Policy"] = policy
        # One look at the names that are there; ``setdefault`` would look once for each.
        present = {name.lower() for name, _ in response.headers}
        response.headers.extend([one for one in HEADERS.items() if one[0].lower() not in present])
        if production and request.is_secure:
            response.headers.setdefault("Strict-Transport-Security", f"max-age={YEAR}")
        if request.endpoint == "static" and response.status_code in {200, 304}:
            # An address with a version never changes its content.
            versioned = "v" in request.args or request.path.startswith("/static/vendor/")
            response.headers["Cache-Control"] = (
                f"public, max-age={YEAR}, immutable" if versioned else "public, max-age=300"
            )
        return response


@web.after_request
def keep_no_copy(response: Response) -> Response:
    """What a signed-in reader saw stays out of every cache."""
    response.headers["Cache-Control"] = "no-store"
    return response


def limit_body() -> None:
    """A form's body is at most as long as the API's, but for a dataset's file; beyond, reading it answers 413."""
    is_dataset = request.endpoint == "web.import_dataset"
    # Beside the file, a form sends its other fields and what parts them.
    request.max_content_length = (
        limits.DATASET_FILE_BYTES + limits.METADATA_MAX_BYTES if is_dataset else limits.BODY_MAX_BYTES
    )


def check_origin(*, null_is_ours: bool = False) -> None:
    """An unsafe request must come from a page of ours, as far as the browser says where it comes from.

    Pages that send no referrer send ``Origin: null``: then ``Sec-Fetch-Site`` has to say that it is ours, or with
    ``null_is_ours``, in browsers that do not send it over plain http, nothing has to.

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
        # A proxy may hand on another host than the one that people use.
        foreign = not is_asked and (parts.scheme, parts.netloc) != (public.scheme, public.netloc)
    if foreign:
        raise Forbidden("This was sent from another site, so it was not carried out")


def check_token(*, signs_in: bool = False) -> None:
    """An unsafe request carries the token of a form of ours, in the field or in ``X-CSRFToken``.

    With ``signs_in`` it may have been shown before this browser signed in, in another tab.

    Raises:
        BadRequest: no token, or one of another browser, or of before this browser last signed in or out.
    """
    if request.method in SAFE_METHODS:
        return
    token = request.form.get("csrf_token") or request.headers.get("X-CSRFToken")
    if not (_holds(token, _token_key()) or (signs_in and _holds(token, _token_key(signed_in=False)))):
        raise BadRequest(
            "This form was opened before you last signed in or out, or your browser refuses cookies. "
            "Go back, reload the page and send it again."
        )


def _holds(token: str | None, key: str) -> bool:
    try:
        validate_csrf(token, secret_key=key)
    except ValidationError:
        return False
    return True


def csrf_token() -> str:
    """The token for the forms of this page."""
    token: str = generate_csrf(secret_key=_token_key())
    return token


def _token_key(*, signed_in: bool = True) -> str:
    """What tokens are signed with: another key for each account, and for people who are not signed in.

    So a token that somebody got, or planted, before a browser signs in is worth nothing in its session.
    """
    reader: Any = current_user
    who: str = reader.get_id() if signed_in and reader.is_authenticated else ""
    return f"{current_app.secret_key!r}:{who}"
