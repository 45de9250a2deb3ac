"""Numbers of waiting items, in words for the navigation and for the title of the queue."""

from typing import Any

from flask import g
from sqlalchemy.orm import Session

from app.core.models import Community
from app.core.permissions import Permission
from app.core.review import conditions
from app.core.review.conditions import MOST_COUNTED, OpenCounts
from app.core.texts import gettext as _
from app.web import auth
from app.wiring import wired


def in_navigation(community: Community | None) -> dict[str, tuple[str, str]]:
    """Return for each list of the moderators, by view, how many items wait there and what is counted."""
    if community is None or not auth.may(Permission.SEE_QUEUE, community.id):
        return {}
    if "open_counts" not in g:
        with wired().database.reading() as session:
            read(session, community)
    counts: OpenCounts = g.open_counts
    return {
        "web.review": (in_words(counts.review), _("waiting")),
        "web.second_look": (in_words(counts.second_looks), _("waiting")),
    }


def read(session: Session, community: Community) -> None:
    """Read the counts that this request will show, the bell's too, if the caller has a connection open."""
    g.open_counts = conditions.open_counts(session, auth.current_actor(), community.id)
    g.unread_notices = g.open_counts.notices


def in_words(count: int) -> str:
    """Return the number, "999+" above the highest counted one, and nothing for 0."""
    if count > MOST_COUNTED:
        return f"{MOST_COUNTED}+"
    return str(count) if count else ""


def waiting(view: str) -> str:
    """Return the number of items in the list of this view, in words."""
    return in_navigation(auth.current_community())[view][0]


def context(community: Community) -> dict[str, Any]:
    """Template variables of the lists: every count of the navigation by element id."""
    counts = in_navigation(community)
    return {"nav_counts": {element_id(view): counted for view, counted in counts.items()}}


def element_id(view: str) -> str:
    """Return the id of the element that shows this view's count."""
    return f"count-{view.removeprefix('web.').replace('_', '-')}"
