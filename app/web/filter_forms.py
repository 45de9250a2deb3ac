"""What forms of filters share: they stand in the address, and what cannot be read is as if it were not there."""

from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import ClassVar
from zoneinfo import ZoneInfo

from flask import g
from wtforms import DateField, Field, Form
from wtforms.validators import ValidationError

ALL = {"": "All"}
"""The choice that filters nothing."""


class FilterForm(Form):
    """Filters, in the address of a page."""

    PLAIN: ClassVar[Mapping[str, str]] = {}
    """What a filter stands at when the address does not name it, by field; what is empty then needs no mention."""

    def query(self) -> dict[str, str]:
        """The filters that are set, as parameters of an address, as they were typed."""
        given = {field.name: (field.raw_data or [""])[0].strip() for field in self if field.raw_data}
        return {name: text for name, text in given.items() if text and text != self.PLAIN.get(name)}


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
