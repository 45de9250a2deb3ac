"""The home page: an introduction, or for signed-in readers a redirect to the page of their work."""

from flask import Response, make_response, redirect, url_for

from app.core.permissions import Permission
from app.web import auth, navigation, page
from app.web.account import sign_up
from app.web.administer import first_admin, getting_started
from app.web.blueprint import web


@web.get("/")
@auth.open_to_all
def home() -> Response:
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
