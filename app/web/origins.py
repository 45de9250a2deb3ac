"""From which list an item was opened, for the link back and for the navigation.

It is the review queue, unless the URL has ``from=second-look``. The item's URL also contains the list's filters.
"""

from flask import url_for

from app.web import forms
from app.web.filter_forms import Query, encoded
from app.web.moderate.filters import LookForm, QueueForm

SECOND_LOOK = "second-look"
"""Value of ``from`` in the URL of an item that was opened from Second look."""


def is_second_look() -> bool:
    return forms.query_arg("from") == SECOND_LOOK


def query() -> Query:
    """Return the query parameters to keep in every URL of the item."""
    if is_second_look():
        return {**forms.queried(LookForm).query(), "from": SECOND_LOOK}
    return forms.queried(QueueForm).query()


def back(row: str = "") -> tuple[str, str]:
    """Return the URL of the list, at the row with this id, and the list's name."""
    view, name = ("web.second_look", "Second look") if is_second_look() else ("web.review", "Review queue")
    path = url_for(view)
    carried = {key: text for key, text in query().items() if key != "from"}
    url = f"{path}?{encoded(carried)}" if carried else path
    return (f"{url}#row-{row}" if row and is_second_look() else url), name
