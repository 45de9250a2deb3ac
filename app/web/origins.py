"""Which list an item was opened from, so that it leads back there and the navigation shows where one is.

The review queue, unless the address says ``from=second-look``. The list's filters go along in the address.
"""

from flask import url_for

from app.web import forms
from app.web.filter_forms import Query, encoded
from app.web.moderate.filters import LookForm, QueueForm

SECOND_LOOK = "second-look"
"""What ``from`` in an item's address says when it was opened from there."""


def is_second_look() -> bool:
    return forms.from_address("from") == SECOND_LOOK


def query() -> Query:
    """What every address of the item carries along."""
    if is_second_look():
        return {**forms.queried(LookForm).query(), "from": SECOND_LOOK}
    return forms.queried(QueueForm).query()


def back(card: str = "") -> tuple[str, str]:
    """The address of the list, at the card of this id, and its name."""
    view, name = ("web.second_look", "Second look") if is_second_look() else ("web.review", "Review queue")
    path = url_for(view)
    carried = {key: text for key, text in query().items() if key != "from"}
    address = f"{path}?{encoded(carried)}" if carried else path
    return (f"{address}#look-{card}" if card and is_second_look() else address), name
