"""The forms of moderators and operators: the queue's and the history's filters, decisions, thresholds."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from flask import g
from wtforms import (
    BooleanField,
    DateField,
    Field,
    Form,
    HiddenField,
    SearchField,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.validators import InputRequired, Optional, ValidationError

from app.core import rules, saved_filters, second_looks
from app.core.action_history import HistoryFilter
from app.core.ids import parse_id
from app.core.review_queue import QueueFilter, Sort
from app.core.second_looks import LookFilter
from app.core.vocabulary import ActionState, ActionType, HeldVerb
from app.web.filters import state_word
from app.web.forms import ReasonForm, at_most, choices, whole_lines
from app.web.view_models import category_name

SORTS = {
    Sort.OLDEST: "Oldest first",
    Sort.NEWEST: "Newest first",
    Sort.SCORE: "Highest score first",
    Sort.RATINGS: "Most ratings first",
}
LOOK_SORTS = {
    second_looks.Sort.DUE: "Ending first",
    second_looks.Sort.NEWEST: "Newest first",
    second_looks.Sort.OLDEST: "Oldest first",
    second_looks.Sort.SCORE: "Highest score first",
}
CLAIMANTS = {"": "Anyone or nobody", "nobody": "Nobody", "me": "Me"}
ALL = {"": "All"}


class QueueForm(Form):
    """The queue's filters, in the address. ``community`` only goes along."""

    community = HiddenField()
    q = SearchField("Search", [at_most(200, "Search")])
    category = SelectField("Category", validate_choice=False)
    claimed_by = SelectField("Claimed by", choices=choices(CLAIMANTS), default="")
    sort = SelectField("Sort by", choices=choices(SORTS), default=Sort.OLDEST.value)

    def offer(self, categories: Sequence[str]) -> None:
        """Offer the categories that wait; one that is asked for stays although nothing of it waits."""
        _offer(self.category, categories)

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the order is asked for."""
        return any((self.q.data, self.category.data, self.claimed_by.data))

    def wanted(self) -> QueueFilter:
        """What a valid form asks for."""
        return QueueFilter(
            category=self.category.data or "",
            claimed_by=self.claimed_by.data or "",
            search=(self.q.data or "").strip().replace("\x00", ""),
            sort=Sort(self.sort.data),
        )

    def query(self) -> dict[str, str]:
        """The filters that are set, as parameters of an address."""
        plain = {"sort": Sort.OLDEST.value}
        return {name: text for name, text in texts(self).items() if text and text != plain.get(name)}


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


class HistoryForm(Days, Form):
    """The action history's filters, in the address. From and To are whole days of the reader's timezone."""

    q = SearchField("Search", [at_most(200, "Search")])
    type = SelectField(
        "Type",
        choices=choices(ALL | {kind.value: kind.value.capitalize() for kind in ActionType}),
        default="",
    )
    community = HiddenField()
    state = SelectField(
        "State", choices=choices(ALL | {one.value: state_word(one) for one in ActionState}), default=""
    )
    actor = StringField("Actor", [at_most(200, "Actor")])
    author = StringField("Author", [at_most(rules.ID_MAX, "Author")])
    category = SelectField("Category", validate_choice=False)
    from_day = DateField("From", [Optional()], name="from")
    to_day = DateField("To", [Optional()], name="to")

    def offer(self, categories: Sequence[str]) -> None:
        _offer(self.category, categories)

    def wanted(self) -> HistoryFilter:
        """What a valid form asks for."""
        return HistoryFilter(
            action_type=ActionType(self.type.data) if self.type.data else None,
            state=ActionState(self.state.data) if self.state.data else None,
            search=(self.q.data or "").strip().replace("\x00", ""),
            actor=(self.actor.data or "").strip().replace("\x00", ""),
            author=(self.author.data or "").strip().replace("\x00", ""),
            category=self.category.data or "",
            since=self.since,
            until=self.until,
        )

    def query(self) -> dict[str, str]:
        """The filters that are set, as parameters of an address."""
        return {name: text for name, text in texts(self).items() if text}


class LookForm(Form):
    """The filters of the second looks, in the address. ``community`` only goes along."""

    community = HiddenField()
    q = SearchField("Search", [at_most(200, "Search")])
    state = SelectField(
        "State",
        choices=choices(ALL | {one.value: state_word(one) for one in second_looks.STATES}),
        default="",
    )
    category = SelectField("Category", validate_choice=False)
    sort = SelectField("Sort by", choices=choices(LOOK_SORTS), default=second_looks.Sort.DUE.value)

    def offer(self, categories: Sequence[str]) -> None:
        _offer(self.category, categories)

    @property
    def is_narrowed(self) -> bool:
        """Whether anything but the order is asked for."""
        return any((self.q.data, self.state.data, self.category.data))

    def wanted(self) -> LookFilter:
        """What a valid form asks for."""
        return LookFilter(
            state=ActionState(self.state.data) if self.state.data else None,
            category=self.category.data or "",
            search=(self.q.data or "").strip().replace("\x00", ""),
            sort=second_looks.Sort(self.sort.data),
        )

    def query(self) -> dict[str, str]:
        """The filters that are set, as parameters of an address."""
        plain = {"sort": second_looks.Sort.DUE.value}
        return {name: text for name, text in texts(self).items() if text and text != plain.get(name)}


class DecisionForm(ReasonForm):
    """A moderator's decision. ``verb`` is the button pressed; ``next`` goes on to the next item of the queue."""

    verb = HiddenField()
    next = HiddenField()
    policy = SelectField("Policy", validate_choice=False)
    template = HiddenField()

    def offer(self, categories: Sequence[str], own: str | None) -> None:
        """Offer the community's categories; ``own``, the item's, stands for no change."""
        known = [*([own] if own and own not in categories else []), *categories]
        self.policy.choices = choices(
            {**({} if own else {"": "None in particular"}), **{name: category_name(name) for name in known}}
        )
        if self.policy.data is None:
            self.policy.data = own or ""

    def wanted_verb(self) -> HeldVerb | None:
        """The verb, None when no button of ours was pressed."""
        return next((verb for verb in HeldVerb if verb.value == self.verb.data), None)


class SaveFilterForm(Form):
    """A name for the filters that the address carries."""

    name = StringField(
        "Filter name", [InputRequired("Enter a name."), at_most(saved_filters.NAME_MAX, "Filter name")]
    )
    shared = BooleanField("Share with all moderators")


class CommentForm(Form):
    """A message that only moderators read."""

    message = TextAreaField(
        "Message to other moderators",
        [InputRequired("Write a message."), at_most(rules.REASON_MAX, "The message")],
        filters=[whole_lines],
    )


@dataclass(frozen=True)
class Choice:
    """A row that was chosen, with the version it was shown in."""

    id: uuid.UUID
    version: int


class ChoicesField(Field):
    """Ticked rows: each value is ``<id>.<version>``. What is neither is no row of ours and is left out."""

    data: list[Choice]

    def process_formdata(self, valuelist: Any) -> None:
        self.data = []
        for value in dict.fromkeys(valuelist):
            identity, _, version = str(value).partition(".")
            try:
                self.data.append(Choice(uuid.UUID(identity), int(version[:9])))
            except ValueError:
                continue

    def _value(self) -> str:
        return ""


class IdsField(Field):
    """Ids of rows; what is none is left out."""

    data: list[uuid.UUID]

    def process_formdata(self, valuelist: Any) -> None:
        self.data = [one for one in map(parse_id, valuelist[: rules.BULK_MAX]) if one is not None]

    def _value(self) -> str:
        return ""


class UndoForm(Form):
    """Decisions to take back."""

    hold = IdsField("Decisions", default=list)


class BulkForm(Form):
    """Dismiss several items for one reason."""

    reason = TextAreaField(
        "Reason",
        [InputRequired("Enter a reason."), at_most(rules.REASON_MAX, "Reason")],
        filters=[whole_lines],
    )
    template = HiddenField()
    item = ChoicesField("Items", default=list)

    def validate_item(self, field: ChoicesField) -> None:
        if not field.data:
            raise ValidationError("Tick the items to dismiss.")
        if len(field.data) > rules.BULK_MAX:
            raise ValidationError(f"Tick at most {rules.BULK_MAX} items.")


def page_number(raw: str | None) -> int:
    """A page's number from an address; anything else is the first page."""
    return int(raw) if raw and raw.isascii() and raw.isdigit() and len(raw) <= 6 and int(raw) > 0 else 1


def version_of(form: DecisionForm) -> int | None:
    """The version of the page that was decided on; None when it carries none."""
    raw = (form.version.data or "").strip()
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) <= 9 else None


def _offer(field: SelectField, categories: Sequence[str]) -> None:
    known = list(categories)
    if field.data and field.data not in known:
        known.append(field.data)
    field.choices = choices(ALL | {name: category_name(name) for name in known})


def texts(form: Form) -> dict[str, str]:
    """What was sent of a form, as it was typed."""
    return {field.name: (field.raw_data or [""])[0].strip() for field in form if field.raw_data}


def check_year(field: DateField) -> None:
    """Refuse a day that no period of ours has."""
    # Midnight in the reader's zone must be a moment that databases can hold.
    if field.data and not 1970 <= field.data.year <= 2999:
        raise ValidationError(f"{field.label.text} must be from 1970 to 2999.")


def midnight(day: date) -> datetime:
    """When a day begins for the reader."""
    return datetime.combine(day, time(), ZoneInfo(g.get("timezone") or "UTC"))
