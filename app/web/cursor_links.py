"""Links between the pages of a list: the cursors ``?after=…`` and ``?before=…`` and the list's other parameters."""

from collections.abc import Callable
from typing import Any, TypedDict

from app.core.paging import Page
from app.core.texts import gettext as _
from app.web import forms
from app.web.filter_forms import encoded
from app.web.page import PageLinks


class Cursors(TypedDict):
    """Where a page begins or ends; both are None on the first page."""

    after: str | None
    before: str | None


def cursors() -> Cursors:
    """Return the cursors in the URL. ``paginate`` refuses invalid ones with 422."""
    return {"after": forms.query_arg("after") or None, "before": forms.query_arg("before") or None}


def links(path: str, page: Page[Any], counted: Callable[[int], str], **query: str | list[str]) -> PageLinks:
    """Return the links to the pages before and after; non-empty parameters of ``query`` are kept.

    ``counted`` names so many rows: "3 posts".
    """

    def url(name: str, cursor: str | None) -> str | None:
        kept = {key: value for key, value in query.items() if value}
        return f"{path}?{encoded({**kept, name: cursor})}" if cursor is not None else None

    return PageLinks(
        previous=url("before", page.previous),
        next=url("after", page.next),
        summary=total(page, counted),
    )


def total(page: Page[Any], counted: Callable[[int], str]) -> str:
    """How many rows the list has, in words; "More than" where not all were counted."""
    rows = counted(page.count)
    return _("More than %(rows)s", rows=rows) if page.is_more else rows
