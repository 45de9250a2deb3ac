"""Shared parts of filter forms. Filters are query parameters of the page; unreadable values are ignored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode

from wtforms import DateField, Field, Form, HiddenField
from wtforms.fields.choices import SelectFieldBase
from wtforms.validators import ValidationError

from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.web import forms, reader_zone
from app.web.filters import day_words, full_time

ALL = {"": lazy_gettext("All")}
"""The choice without a filter."""
NAMED = 2
"""How many values a closed ``SeveralField`` lists by name; if there are more, it shows their number."""
MOST, LONGEST = 100, 100
"""How many values of a ``SeveralField`` count, and of how many characters at most: no category or language has more.
Each value has a chip whose address names all others."""
NOT_SHOWN = frozenset({"community", "sort", "tab", "days", "rows"})
"""Parameters that narrow nothing down, or that tabs show."""
Query = dict[str, str | list[str]]
"""Filters as query parameters; a list if the parameter is repeated."""


class SeveralField(forms.MultiCheckboxField):
    """Checkboxes of which any number can be ticked; none means all. The URL repeats the parameter for each value.

    Blank values (``type=``, the "All" of older links), duplicates, and values beyond ``MOST`` and ``LONGEST`` are
    ignored.
    """

    data: list[str]

    def process_formdata(self, valuelist: Sequence[Any]) -> None:
        # Remove NUL, because databases cannot search for it.
        texts = (str(value).replace("\x00", "").strip() for value in valuelist)
        known = dict.fromkeys(text for text in texts if 0 < len(text) <= LONGEST)
        self.data = list(known)[:MOST]

    def pre_validate(self, form: Any) -> None:
        known = {value for value, *_ in self.iter_choices()} if self.validate_choice else set(self.data or [])
        for value in self.data or []:
            if value not in known:
                raise ValidationError(
                    _(
                        "%(field)s cannot be “%(value)s”. Choose from the list.",
                        field=self.label.text,
                        value=value[:50],
                    )
                )

    @property
    def in_words(self) -> str:
        """The ticked values in short: "All", "Hide", "Hide, Warn", "3 chosen"."""
        chosen = [str(label) for _, label, selected, _ in self.iter_choices() if selected]
        if not self.data:
            return _("All")
        return (
            ", ".join(chosen)
            if len(chosen) <= NAMED
            else ngettext("%(num)s chosen", "%(num)s chosen", len(chosen))
        )


class MomentField(HiddenField):
    """A moment that a link sets, as an ISO date and time; unreadable values are ignored."""

    @property
    def moment(self) -> datetime | None:
        try:
            moment = datetime.fromisoformat(self.data or "")
        except ValueError:
            return None
        return moment if moment.tzinfo is not None and is_storable(moment) else None

    @property
    def in_words(self) -> str:
        return full_time(self.moment) if self.moment else ""


class ChosenField(HiddenField):
    """A filter that a link sets or leaves out; ``in_words`` is what its chip shows."""

    def __init__(self, label: str, in_words: str, **options: Any) -> None:
        super().__init__(label, **options)
        self.in_words = in_words


class FilterForm(Form):
    """A form of filters, read from the URL."""

    PLAIN: ClassVar[Mapping[str, str]] = {}
    """Default value of a filter by field name, for filters whose default is not empty."""

    def query(self) -> Query:
        """Return the filters that are set as query parameters, as they were typed.

        Several values of one filter are a sorted list; a single value is a plain string.
        """
        query: Query = {}
        for field in self:
            if isinstance(field, SeveralField):
                values = sorted(field.data or [])
                value: str | list[str] = values if len(values) > 1 else "".join(values)
            else:
                value = (field.raw_data or [""])[0].strip()
            if value and value != self.PLAIN.get(field.name):
                query[field.name] = value
        return query

    @property
    def is_narrowed(self) -> bool:
        """Whether any filter is set. The order does not count."""
        return bool(self.query().keys() - NOT_SHOWN)


class Days:
    """Mixin for forms with From and To: whole days in the reader's time zone."""

    from_day: DateField
    to_day: DateField

    def validate_from_day(self, field: DateField) -> None:
        check_year(field)

    def validate_to_day(self, field: DateField) -> None:
        check_year(field)
        if field.data and self.from_day.data and field.data < self.from_day.data:
            raise ValidationError(_("To must not be before From."))

    @property
    def since(self) -> datetime | None:
        """The start of the first day, or None."""
        return midnight(self.from_day.data) if self.from_day.data else None

    @property
    def until(self) -> datetime | None:
        """The start of the day after the last one, or None."""
        return midnight(self.to_day.data + timedelta(days=1)) if self.to_day.data else None


def encoded(query: Mapping[str, str | Sequence[str]]) -> str:
    """Return the URL query string; a parameter with several values is repeated."""
    return urlencode(query, doseq=True)


def with_query(path: str, query: Mapping[str, str | Sequence[str]]) -> str:
    """Return the path with a query string, if there is any."""
    return f"{path}?{encoded(query)}" if query else path


def typed(field: Field) -> str:
    """Return the text of a field, stripped. NUL is removed, because databases cannot search for it."""
    return (field.data or "").strip().replace("\x00", "")


def check_year(field: DateField) -> None:
    """Refuse years outside of 1970 to 2999."""
    if field.data and not is_storable(field.data):
        raise ValidationError(_("%(field)s must be from 1970 to 2999.", field=field.label.text))


def is_storable(day: date) -> bool:
    """Whether databases can store midnight of this day, in whatever time zone."""
    return 1970 <= day.year <= 2999


def reader_day(moment: datetime) -> date:
    """Return the day of a moment in the reader's time zone."""
    return moment.astimezone(reader_zone.zone()).date()


def midnight(day: date) -> datetime:
    """Return the start of a day in the reader's time zone."""
    return datetime.combine(day, time(), reader_zone.zone())


@dataclass(frozen=True)
class Chip:
    """One value of one filter. ``url`` is the list without it."""

    label: str
    value: str
    url: str


def chips(form: FilterForm, path: str) -> Sequence[Chip]:
    """Return a chip for each value that the form filters by, in the order of its fields; none for unreadable ones."""
    query = form.query()
    found = []
    for field in form:
        if field.name in NOT_SHOWN or field.name not in query:
            continue
        for value in _values_of(query, field.name):
            others = [other for other in _values_of(query, field.name) if other != value]
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
            elif isinstance(field, DateField) and field.data:
                words = day_words(field.data)
            elif isinstance(field, (MomentField, ChosenField)):
                words = field.in_words
            if words:
                found.append(Chip(field.label.text, words, with_query(path, rest)))
    return found


def _values_of(query: Query, name: str) -> list[str]:
    values = query[name]
    return [values] if isinstance(values, str) else values
