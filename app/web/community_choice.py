"""Chooses the community of a page that shows no single object: the requested one, the last used, or the first.

The last used one is stored in a cookie for this browser, and in the account for sign-ins on other browsers.
"""

import logging
from collections.abc import Sequence
from typing import Any

from flask import Response, current_app, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.core.communities import communities
from app.core.models import Account, Community
from app.web import forms, security
from app.web.blueprint import web
from app.wiring import wired

log = logging.getLogger(__name__)
COOKIE = "bridgenote-community"


def carried() -> dict[str, Any]:
    """The community that the page's URL names, as a query parameter for its links; empty if it names none."""
    community = forms.query_arg("community")
    return {"community": community} if community else {}


def choose(account: Account, communities: Sequence[Community]) -> Community | None:
    """Return the community of this request: from its URL, form, cookie or account, else the first.

    None if the URL or form names an unknown one, or ``communities`` is empty.
    """
    reference = request.args.get("community", request.form.get("community"))
    if reference is not None:
        community = find_by_reference(communities, reference)
        if community is not None:
            remember(account, community, communities)
        return community
    for last_used in (request.cookies.get(COOKIE, ""), str(account.last_community_id)):
        community = find_by_reference(communities, last_used)
        if community is not None:
            return community
    return next(iter(communities), None)


def remember(account: Account, community: Community, communities: Sequence[Community]) -> None:
    """Use this community for later pages whose URL names none. Does nothing if the account has only one."""
    if len(communities) > 1:
        g.worked_in = account, community


def find_by_reference(communities: Sequence[Community], reference: str) -> Community | None:
    """Return the community with this slug or UUID, or None."""
    return next((c for c in communities if reference in {c.slug, str(c.id)}), None)


@web.after_request
def remember_community(response: Response) -> Response:
    """Store the last used community in the account and the cookie. Polling requests do not count."""
    account, community = g.get("worked_in", (None, None))
    view = current_app.view_functions.get(request.endpoint or "")
    if community is None or response.status_code >= 400 or getattr(view, "is_passive", False):
        return response
    if account.last_community_id != community.id:
        try:
            with wired().database.writing() as session:
                communities.record_worked_in(session, account.id, community.id)
        except SQLAlchemyError:
            # The request itself succeeded, so it must not fail here. The cookie below stores the community anyway.
            log.warning("Where account %s works was not remembered.", account.id, exc_info=True)
    if request.cookies.get(COOKIE) != community.slug:
        response.set_cookie(
            COOKIE,
            community.slug,
            max_age=security.YEAR,
            secure=wired().settings.environment == "production",
            httponly=True,
            samesite="Lax",
        )
    return response


def forget_browser(response: Response) -> None:
    """Delete the cookie at sign-in: it may be another person's, and the account has its own last used community."""
    response.delete_cookie(COOKIE)
