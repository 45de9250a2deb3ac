"""What forms of filters share: they stand in the address, and what cannot be read is as if it were not there."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from flask import g
from wtforms import DateField, Field, Form, SelectMultipleField
from wtforms.validators import ValidationError
from wtforms.widgets import CheckboxInput, ListWidget

ALL = {"": "All"}
"""The choice that filters nothing."""
NAMED = 2
"""Values that a filter of several names while it is closed; more than that are counted."""
Query = dict[str, str | list[str]]
"""Filters as parameters of an address; a list where one stands several times."""


class SeveralField(SelectMultipleField):
    """Checkboxes of which any number is ticked; none means all. The address repeats the parameter for each.

    What an address can hold besides is taken as it comes: blank values (``type=``, the "All" of an older link) and
    repeated ones count for nothing.
    """

    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()
    data: list[str]

    def process_formdata(self, valuelist: Sequence[Any]) -> None:
        # NUL is left out because no database can look for it.
        texts = (str(value).replace("\x00", "").strip() for value in valuelist)
        self.data = list(dict.fromkeys(text for text in texts if text))

    def pre_validate(self, form: Any) -> None:
        known = {value for value, *_ in self.iter_choices()} if self.validate_choice else set(self.data or [])
        for value in self.data or []:
            if value not in known:
                raise ValidationError(f"{self.label.text} cannot be “{value[:50]}”. Choose from the list.")

    @property
    def in_words(self) -> str:
        """What is ticked, in a few words: "All", "Hide", "Hide, Warn", "3 chosen"."""
        chosen = [label for _, label, selected, _ in self.iter_choices() if selected]
        if not self.data:
            return "All"
        return ", ".join(chosen) if len(chosen) <= NAMED else f"{len(chosen)} chosen"


class FilterForm(Form):
    """Filters, in the address of a page."""

    PLAIN: ClassVar[Mapping[str, str]] = {}
    """What a filter stands at when the address does not name it, by field; what is empty then needs no mention."""

    def query(self) -> Query:
        """The filters that are set, as parameters of an address, as they were typed.

        Several values of one filter stand in one order, however they were asked for; a single one stands alone.
        """
        found: Query = {}
        for field in self:
            if isinstance(field, SeveralField):
                values = sorted(field.data or [])
                given: str | list[str] = values if len(values) > 1 else "".join(values)
            else:
                given = (field.raw_data or [""])[0].strip()
            if given and given != self.PLAIN.get(field.name):
                found[field.name] = given
        return found


class Days:
    """What forms with From and To share: whole days of the reader's timezone."""

    from_day: DateField
    to_day: DateField

    def validate_from_day(self, field: DateField) -> None:
        check_year(field)

    def validate_to_day(self, field: DateField) -> None:
        check_year(field)
        if field.data and self.from_day.data and field.data < self.from_day.data:
            raise ValidationError("To must not be before From.")

    @property
    def since(self) -> datetime | None:
        """When the first day begins."""
        return midnight(self.from_day.data) if self.from_day.data else None

    @property
    def until(self) -> datetime | None:
        """When the day after the last begins."""
        return midnight(self.to_day.data + timedelta(days=1)) if self.to_day.data else None


def encoded(query: Mapping[str, str | Sequence[str]]) -> str:
    """The parameters as an address carries them: one that holds several values is repeated."""
    return urlencode(query, doseq=True)


def typed(field: Field) -> str:
    """The words that a field asks for. NUL, which no database can look for, is left out."""
    return (field.data or "").strip().replace("\x00", "")


def check_year(field: DateField) -> None:
    """Refuse a day that no period of ours has."""
    # Midnight in the reader's zone must be a moment that databases can hold.
    if field.data and not 1970 <= field.data.year <= 2999:
        raise ValidationError(f"{field.label.text} must be from 1970 to 2999.")


def midnight(day: date) -> datetime:
    """When a day begins for the reader."""
    return datetime.combine(day, time(), ZoneInfo(g.get("timezone") or "UTC"))
