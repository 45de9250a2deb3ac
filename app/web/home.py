"""Where browsers and programs begin: the home page, and paths below ``/.well-known/``."""

from datetime import timedelta

from flask import Response, make_response, redirect, url_for

from app.core import clock
from app.core.errors import NotFound
from app.core.permissions import Permission
from app.web import auth, navigation, page
from app.web.account import sign_up
from app.web.administer import first_admin, getting_started
from app.web.blueprint import web
from app.wiring import base_url, wired


@web.get("/")
@auth.open_to_all
def home() -> Response:
    """Show an introduction; redirect signed-in readers to the page of their work."""
    who = auth.reader()
    if who is None:
        return page.render(
            "home.html", can_sign_up=sign_up.is_open(), first_admin_url=first_admin.shown_url()
        )
    if not who.communities:
        start = "web.getting_started_page" if who.actor.service_admin else "web.public_communities"
        return make_response(redirect(url_for(start), 303))
    community = auth.current_community()
    if getting_started.is_start_page(community):
        slug = community.slug if len(who.communities) > 1 else None
        return make_response(redirect(url_for("web.getting_started_page", community=slug), 303))
    moderates = auth.may(Permission.SEE_QUEUE, community.id) and navigation.has_page("web.review")
    slug = community.slug if len(who.communities) > 1 else None
    first = "web.review" if moderates else "web.help_needed"
    return make_response(redirect(url_for(first, community=slug), 303))


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
