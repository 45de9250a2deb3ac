"""The two lists of the desk that consist of the same rows: the review queue and the second looks."""

import uuid
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import url_for
from sqlalchemy.orm import Session

from app.core import texts
from app.core.models import Action
from app.core.permissions import Actor
from app.core.review import claims, queue, second_looks
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState
from app.web import auth, forms, list_filters
from app.web.filter_forms import Query, encoded, with_query
from app.web.item import answering
from app.web.list_filters import QueueForm, SecondLookForm

PAGING = ("after", "before", "page")
"""Parameters that name the page of a list."""
Newer = Callable[[Session, Actor, uuid.UUID, datetime, Any], int]
Count = Callable[[Session, Actor, uuid.UUID, Any], tuple[int, int, bool]]
ClaimNext = Callable[..., Action | None]
"""Takes session, actor, community's id, filters and ``after``, as ``claims.claim_next`` does."""


@dataclass(frozen=True)
class RowList:
    """One of the lists. ``at`` is what the forms in its rows say about where they were sent from.

    ``states`` are those of its open items; ``origin`` are the parameters by which an item's page knows the list.
    ``form`` reads the filters; ``newer`` counts the items that match since a moment, ``count`` all rows that match
    and the posts they stand for, and says whether there are more than it counted.
    """

    at: str
    name: str
    view: str
    poll_view: str
    settled_view: str
    states: Collection[ActionState]
    form: type[QueueForm] | type[SecondLookForm]
    newer: Newer
    count: Count
    claim_next: ClaimNext
    origin: Query
    claim_key: str | None = None
    may_assign: bool = False

    def query(self) -> Query:
        """The filters of the current query string, as parameters."""
        return forms.queried(self.form).query()

    def filters(self) -> Any:
        """The filters of the current query string: ``QueueFilter`` or ``SecondLookFilter``."""
        return forms.queried(self.form).wanted()

    def url(self, **more: str) -> str:
        """URL of the list with the current filters."""
        return with_query(url_for(self.view), {**self.query(), **more})

    def url_at(self, row_id: uuid.UUID) -> str:
        """URL of the list with the current filters, on the current page and at a row."""
        return f"{with_query(url_for(self.view), self._place())}#row-{row_id}"

    def _place(self) -> Query:
        """The filters of the current query string, and the page of the list."""
        pages = {name: text for name in PAGING if (text := forms.query_arg(name))}
        return {**self.query(), **pages}

    def context(self) -> dict[str, Any]:
        """Template variables for every row: query strings with the filters in use, and how many ratings are needed."""
        query = self.query()
        return {
            "list": self,
            "query": with_query("", query),
            "page_query": with_query("", self._place()),
            "item_query": with_query("", {**query, **self.origin}),
            "row_query": "?" + encoded({**self._place(), "at": self.at}),
            "settled_url": with_query(url_for(self.settled_view), query),
            "needed": answering.ratings_needed(),
            "is_roomy": auth.current_reader().account.roomy_rows,
            "out_of_band": False,
        }


def _count_queue(*listed: Any) -> tuple[int, int, bool]:
    found = queue.queue(*listed, size=1)
    return found.count, found.posts, False


def _count_second_looks(*listed: Any) -> tuple[int, int, bool]:
    found = second_looks.waiting(*listed, limit=1)
    return found.count, found.count, found.is_more


QUEUE = RowList(
    "queue",
    lazy_gettext("Review queue"),
    "web.review",
    "web.new_count",
    "web.settled",
    (ActionState.UNDER_REVIEW,),
    QueueForm,
    queue.newer_than,
    _count_queue,
    claims.claim_next,
    {},
    claim_key="C",
    may_assign=True,
)
SECOND_LOOKS = RowList(
    "second-look",
    lazy_gettext("Second look"),
    "web.second_look",
    "web.new_looks",
    "web.settled_looks",
    second_looks.STATES,
    SecondLookForm,
    second_looks.newer_than,
    _count_second_looks,
    second_looks.claim_next,
    {"from": list_filters.SECOND_LOOK},
)
"""C confirms here, so no key claims."""


def sent_from() -> RowList | None:
    """The list whose row sent the form, or None if no row did."""
    return {QUEUE.at: QUEUE, SECOND_LOOKS.at: SECOND_LOOKS}.get(forms.query_arg("at"))


def origin() -> RowList:
    """The list that the item's page was opened from."""
    return SECOND_LOOKS if list_filters.is_second_look() else QUEUE


def shows_waves(row_list: RowList) -> bool:
    """Whether a row of the list stands for all posts alike; a search lists each of them."""
    return row_list is QUEUE and not forms.queried(QueueForm).wanted().search


def span_words(first: int, last: int, count: int, *, is_more: bool = False) -> str:
    """Say which rows a page shows: "51 to 100 of 120"."""
    rows = {"first": texts.number(first), "last": texts.number(last), "count": texts.number(count)}
    return (
        _("%(first)s to %(last)s of more than %(count)s", **rows)
        if is_more
        else _("%(first)s to %(last)s of %(count)s", **rows)
    )
