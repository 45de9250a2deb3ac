"""Which community a page is about when no object says so: the one asked for, the one last worked in, or the first.

The cookie knows it for this browser; the account for the next sign-in, wherever that is.
"""

import logging
from collections.abc import Sequence

from flask import Response, current_app, g, request
from sqlalchemy.exc import SQLAlchemyError

from app.core.communities import communities
from app.core.models import Account, Community
from app.web import security
from app.web.blueprint import web
from app.wiring import wired

log = logging.getLogger(__name__)
COOKIE = "bridgenote-community"


def chosen(account: Account, mine: Sequence[Community]) -> Community | None:
    """The one of ``mine`` that this request is about: its address, its form, the cookie, the account, or the first."""
    asked = request.args.get("community", request.form.get("community"))
    if asked is not None:
        community = named(mine, asked)
        if community is not None:
            remember(account, community, mine)
        return community
    last = (request.cookies.get(COOKIE, ""), str(account.last_community_id))
    return next((found for one in last if (found := named(mine, one))), None) or next(iter(mine), None)


def remember(account: Account, community: Community, mine: Sequence[Community]) -> None:
    """This request is work in one of several communities: the next page whose address names none is about it too."""
    if len(mine) > 1:
        g.worked_in = account, community


def named(mine: Sequence[Community], reference: str) -> Community | None:
    """The one of ``mine`` with this slug or UUID."""
    return next((c for c in mine if reference in {c.slug, str(c.id)}), None)


@web.after_request
def remember_community(response: Response) -> Response:
    """Keep the community last worked in. What asks by itself (polling) is no work."""
    account, community = g.get("worked_in", (None, None))
    view = current_app.view_functions.get(request.endpoint or "")
    if community is None or response.status_code >= 400 or getattr(view, "is_passive", False):
        return response
    if account.last_community_id != community.id:
        try:
            with wired().database.writing() as session:
                communities.record_worked_in(session, account.id, community.id)
        except SQLAlchemyError:
            # What was asked for is done and must not be answered as a failure; the cookie below knows it too.
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
    """Somebody signs in: what this browser remembers may be another person's, so the account's own word counts."""
    response.delete_cookie(COOKIE)
