"""Where browsers and programs begin: the start and home pages, and paths below ``/.well-known/``."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from flask import Response, make_response, redirect, url_for

from app.core import clock
from app.core.errors import NotFound
from app.core.insights import concerns
from app.core.insights.concerns import Concern, Matter
from app.core.people import invitations
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth, forms, page, reader_zone
from app.web.account import sessions, sign_up
from app.web.administer import first_admin, getting_started
from app.web.blueprint import web
from app.web.moderate import desk as moderators_desk
from app.web.rate import home as raters_home
from app.web.rate import start_card
from app.wiring import base_url, wired


@web.get("/")
@auth.open_to_all
def home() -> Response:
    """Show an introduction; redirect signed-in readers to the page of their work."""
    who = auth.reader()
    if who is None:
        return page.render(
            "home.html",
            card=start_card.card(forms.query_arg("answer")),
            can_sign_up=sign_up.is_open(),
            demo=next((one for one in sessions.demo_sign_ins() if one.role == "moderator"), None),
            contacts=wired().settings.security_contacts,
            first_admin_url=first_admin.shown_url(),
        )
    if not who.communities:
        start = "web.getting_started_page" if who.actor.service_admin else "web.public_communities"
        return make_response(redirect(url_for(start), 303))
    community = auth.current_community()
    slug = community.slug if len(who.communities) > 1 else None
    if getting_started.is_start_page(community):
        return make_response(redirect(url_for("web.getting_started_page", community=slug), 303))
    first = "web.desk" if auth.may(Permission.SEE_QUEUE, community.id) else "web.help_needed"
    return make_response(redirect(url_for(first, community=slug), 303))


@web.get("/desk")
@auth.needs(Permission.RATE)
def desk() -> Response:
    """The home page: what waits for the reader, by role, and what happened since they were last here."""
    actor, community = auth.current_actor(), auth.current_community()
    moderates = auth.may(Permission.SEE_QUEUE, community.id)
    context: dict[str, Any] = {}
    with wired().database.reading() as session:
        if moderates:
            context = moderators_desk.context(
                session, actor, community, auth.current_reader().sign_in.last_visit_at
            )
        else:
            context = raters_home.context(session, actor, community)
        if auth.may(Permission.MANAGE_WEBHOOKS, community.id):
            context["matters"] = _matters(concerns.read(session, actor, community.id))
        if auth.may(Permission.MANAGE_PEOPLE, community.id):
            context["invitations"] = len(invitations.pending(session, actor, community.id))
    return page.render("desk.html", greeting=_greeting(), moderates=moderates, **context)


def _greeting() -> str:
    """Return a greeting by the time of day where the reader is; one that fits always where that is not known."""
    if not reader_zone.is_known():
        return _("Hello.")
    hour = clock.now().astimezone(reader_zone.zone()).hour
    if 4 <= hour < 12:
        return _("Good morning.")
    return _("Good afternoon.") if 12 <= hour < 18 else _("Good evening.")


def _matters(found: Sequence[Matter]) -> Sequence[tuple[str, str, str]]:
    """What an operator should look at, but for what the page says anyway: icon, sentence, address."""
    words = {
        Concern.WEBHOOK_DISABLED: (
            "circle-x",
            lazy_gettext("The webhook to %(place)s is disabled and gets nothing."),
        ),
        Concern.WEBHOOK_FAILING: ("triangle-alert", lazy_gettext("The webhook to %(place)s is failing.")),
    }
    return [
        (
            words[matter.concern][0],
            _(words[matter.concern][1].english, place=urlsplit(matter.name).netloc or matter.name),
            url_for("web.webhook_page", webhook_id=matter.webhook_id),
        )
        for matter in found
        if matter.concern in words
    ]


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
    return make_response(redirect(url_for("web.settings", part="account"), 303))
