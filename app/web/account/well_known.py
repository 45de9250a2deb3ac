"""Paths below ``/.well-known/`` where programs look: whom to tell of a vulnerability, where to change a password."""

from datetime import timedelta

from flask import Response, make_response, redirect, url_for

from app.core import clock
from app.core.errors import NotFound
from app.web import auth
from app.web.blueprint import web
from app.wiring import base_url, wired

EXPIRES_AFTER = timedelta(days=180)
"""RFC 9116 wants less than a year. The service writes the file at each call, so it does not expire while it runs."""


@web.get("/.well-known/security.txt")
@auth.open_to_all
def security_txt() -> Response:
    contacts = wired().settings.security_contacts
    if not contacts:
        raise NotFound("security.txt")
    lines = [
        *(f"Contact: {contact}" for contact in contacts),
        f"Expires: {clock.now() + EXPIRES_AFTER:%Y-%m-%dT00:00:00Z}",
        f"Canonical: {base_url()}{url_for('web.security_txt')}",
    ]
    return Response("\n".join(lines) + "\n", mimetype="text/plain")


@web.get("/.well-known/change-password")
def change_password_page() -> Response:
    """Lead password managers to the form (https://www.w3.org/TR/change-password-url/), by way of the sign-in."""
    return make_response(redirect(url_for("web.settings", _anchor="account-title"), 303))
