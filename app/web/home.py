"""The start page: what this is, or straight to where the reader's work waits."""

from flask import Response, make_response, redirect, url_for

from app.core.permissions import Permission
from app.web import auth, navigation, page, sign_up
from app.web.blueprint import web


@web.get("/")
@auth.open_to_all
def home() -> Response:
    who = auth.reader()
    if who is None:
        return page.render("home.html", can_sign_up=sign_up.is_open())
    if not who.communities:
        return make_response(redirect(url_for("web.public_communities"), 303))
    community = auth.current_community()
    moderates = auth.may(Permission.SEE_QUEUE, community.id) and navigation.has_page("/review")
    path = "/review" if moderates else "/help-needed"
    return make_response(
        redirect(f"{path}?community={community.slug}" if len(who.communities) > 1 else path, 303)
    )
