"""The filters that are set, as chips above the queue: each can be removed by itself."""

from collections.abc import Sequence
from dataclasses import dataclass

from wtforms.fields.choices import SelectFieldBase

from app.web.filter_forms import FilterForm, Query, encoded

NOT_SHOWN = frozenset({"community", "sort"})
"""Parameters that narrow nothing down."""


@dataclass(frozen=True)
class Chip:
    """One value of one filter. ``url`` is the list without it."""

    label: str
    value: str
    url: str


def chips(form: FilterForm, path: str) -> Sequence[Chip]:
    """Return a chip for each value that the form filters by, in the order of its fields."""
    query = form.query()
    found = []
    for field in form:
        if field.name in NOT_SHOWN or field.name not in query:
            continue
        for value in _values(query, field.name):
            others = [other for other in _values(query, field.name) if other != value]
            rest: Query = {
                name: others if name == field.name else kept
                for name, kept in query.items()
                if others or name != field.name
            }
            words = value
            if isinstance(field, SelectFieldBase):
                words = next(
                    (str(label) for known, label, *_ in field.iter_choices() if known == value), value
                )
            found.append(Chip(field.label.text, words, f"{path}?{encoded(rest)}" if rest else path))
    return found


def _values(query: Query, name: str) -> list[str]:
    values = query[name]
    return [values] if isinstance(values, str) else values
