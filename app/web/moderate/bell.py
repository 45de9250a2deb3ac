"""The bell: the link to the notices with the number of unread ones, in the header of everybody who can have any."""

from typing import Any

from flask import g

from app.core.history import notices
from app.core.permissions import Permission
from app.web import auth
from app.web.blueprint import web
from app.wiring import wired

MOST_SHOWN = 99


@web.app_context_processor
def header_context() -> dict[str, Any]:
    """Give templates of all pages, the API's documents too, the bell as a function: only a header calls it."""
    return {"unread_notices": unread, "bell_count": in_words}


def can_have_notices() -> bool:
    """Whether the reader moderates one of their communities; notices are about all of these."""
    return any(
        auth.may(Permission.SEE_HISTORY, community.id) for community in auth.current_reader().communities
    )


def unread() -> int | None:
    """Count the reader's unread notices. None, without a query, if they can have none or the page shows no bell.

    Where the navigation has counts, it has counted these with them.
    """
    who = None if g.get("bare_page") else auth.reader()
    if who is None or not can_have_notices():
        return None
    if "unread_notices" not in g:
        with wired().database.reading() as session:
            g.unread_notices = notices.unread(session, auth.current_actor())
    count: int = g.unread_notices
    return count


def in_words(count: int) -> str:
    """Return the number, or "99+" above that."""
    return f"{MOST_SHOWN}+" if count > MOST_SHOWN else str(count)
