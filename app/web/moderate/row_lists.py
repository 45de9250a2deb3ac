"""The two lists of the desk that consist of the same rows: the review queue and the second looks."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from flask import url_for

from app.core.review import second_looks
from app.core.vocabulary import ActionState
from app.web import forms, origins
from app.web.filter_forms import Query, encoded
from app.web.moderate.filters import LookForm, QueueForm
from app.web.rate import answering


@dataclass(frozen=True)
class RowList:
    """One of the lists. ``at`` is what the forms in its rows say about where they were sent from.

    ``states`` are those of its open items; ``origin`` are the parameters by which an item's page knows the list.
    """

    at: str
    name: str
    view: str
    settled_view: str
    states: Collection[ActionState]
    form: type[QueueForm | LookForm]
    origin: Query
    claim_key: str | None = None

    def query(self) -> Query:
        """The filters of the current query string."""
        return forms.queried(self.form).query()

    def url(self, **more: str) -> str:
        """URL of the list with the current filters."""
        return _with_query(url_for(self.view), {**self.query(), **more})

    def context(self) -> dict[str, Any]:
        """Template variables for every row: query strings with the filters in use, and how many ratings are needed."""
        query = self.query()
        return {
            "list": self,
            "query": _with_query("", query),
            "item_query": _with_query("", {**query, **self.origin}),
            "row_query": "?" + encoded({**query, "at": self.at}),
            "settled_url": _with_query(url_for(self.settled_view), query),
            "needed": answering.ratings_needed(),
            "out_of_band": False,
        }


QUEUE = RowList(
    "queue",
    "Review queue",
    "web.review",
    "web.settled",
    (ActionState.UNDER_REVIEW,),
    QueueForm,
    {},
    claim_key="C",
)
LOOKS = RowList(
    "second-look",
    "Second look",
    "web.second_look",
    "web.settled_looks",
    second_looks.STATES,
    LookForm,
    {"from": origins.SECOND_LOOK},
)
"""C confirms here, so no key claims."""


def sent_from() -> RowList | None:
    """The list whose row sent the form, or None if no row did."""
    return {QUEUE.at: QUEUE, LOOKS.at: LOOKS}.get(forms.query_arg("at"))


def origin() -> RowList:
    """The list that the item's page was opened from."""
    return LOOKS if origins.is_second_look() else QUEUE


def _with_query(path: str, query: Query) -> str:
    return f"{path}?{encoded(query)}" if query else path
