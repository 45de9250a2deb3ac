"""Links of lists that are paged by cursor: ``?after=…`` and ``?before=…`` beside whatever else the address says."""

from typing import Any, TypedDict
from urllib.parse import urlencode

from app.core.paging import Page
from app.web import forms
from app.web.page import PageLinks


class Cursors(TypedDict):
    """Where a page begins or ends; None at the start."""

    after: str | None
    before: str | None


def cursors() -> Cursors:
    """The cursors of the address. One that is not ours is refused where the page is read, with 422."""
    return {"after": forms.query_arg("after") or None, "before": forms.query_arg("before") or None}


def links(path: str, found: Page[Any], noun: str, **query: str) -> PageLinks:
    """The links around a page; ``query`` is kept where it says something."""

    def url(name: str, cursor: str | None) -> str | None:
        kept = {key: value for key, value in query.items() if value}
        return f"{path}?{urlencode({**kept, name: cursor})}" if cursor is not None else None

    return PageLinks(
        previous=url("before", found.previous),
        next=url("after", found.next),
        summary=f"{found.count:,} {noun}{'' if found.count == 1 else 's'}",
    )
