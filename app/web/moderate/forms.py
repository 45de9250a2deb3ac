"""The forms with which moderators decide: one item, several at once, taken back, told to other moderators."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from wtforms import (
    BooleanField,
    Field,
    Form,
    HiddenField,
    RadioField,
    SelectField,
    StringField,
    TextAreaField,
)
from wtforms.validators import InputRequired, ValidationError

from app.core import limits
from app.core.errors import Conflict, IllegalMove, Invalid
from app.core.ids import parse_id
from app.core.review import saved_filters
from app.core.vocabulary import HELD_VERBS, ActionVerb, ReopenTo
from app.web.categories import category_name
from app.web.filters import state_phrase
from app.web.forms import ReasonForm, at_most, choices, explain, number, whole_lines


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

    def wanted_verb(self) -> ActionVerb | None:
        """The verb, None when no button of ours was pressed."""
        return next((verb for verb in HELD_VERBS if verb.value == self.verb.data), None)


class ReopenForm(ReasonForm):
    """Take up a dismissal again; ``to`` says where it goes."""

    to = RadioField("What happens next", [InputRequired("Choose where it goes.")], validate_choice=False)
    template = HiddenField()

    def offer(self, effect: str) -> None:
        """Offer where it can go; ``effect`` is what the platform would do, in words."""
        self.to.choices = choices(
            {
                ReopenTo.COMMUNITY: "Members review it again",
                ReopenTo.STAFF: "Moderators review it again",
                ReopenTo.ACT: f"Act at once: {effect.removesuffix('.')}",
            }
        )

    def wanted_to(self) -> ReopenTo | None:
        """The choice, None when it is none of ours."""
        return next((to for to in ReopenTo if to.value == self.to.data), None)


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
        [InputRequired("Write a message."), at_most(limits.REASON_MAX, "The message")],
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
        self.data = [one for one in map(parse_id, valuelist[: limits.BULK_MAX]) if one is not None]

    def _value(self) -> str:
        return ""


class UndoForm(Form):
    """Decisions to take back."""

    hold = IdsField("Decisions", default=list)


class BulkForm(Form):
    """Dismiss several items for one reason. ``verb`` is empty after Enter on a box, which chooses nothing."""

    verb = StringField("What to do")
    reason = TextAreaField(
        "Reason",
        [InputRequired("Enter a reason."), at_most(limits.REASON_MAX, "Reason")],
        filters=[whole_lines],
    )
    template = HiddenField()
    item = ChoicesField("Items", default=list)
    unseen = StringField("Hidden posts")
    hidden_ticked = 0
    """How many of the ticked rows are behind "Show content"; whoever dismisses them unseen says so with this number."""

    @property
    def says_unseen(self) -> bool:
        """Whether the sender knows that so many of the ticked posts were never shown to them."""
        return (number(self.unseen.data) or 0) >= self.hidden_ticked

    def ask_about_hidden(self) -> None:
        """Refuse to dismiss posts that were never shown, until the sender says that they mean to."""
        these = "1 post is" if self.hidden_ticked == 1 else f"{self.hidden_ticked} posts are"
        self.unseen.errors = [
            f"{these} hidden by your settings, so you have not seen them. Tick the box to go on."
        ]

    def validate_verb(self, field: StringField) -> None:
        if field.raw_data and field.data != ActionVerb.DISMISS:
            raise ValidationError("Choose what to do with the items that you ticked.")

    def validate_item(self, field: ChoicesField) -> None:
        if not field.data:
            raise ValidationError("Tick the items to dismiss.")
        if len(field.data) > limits.BULK_MAX:
            raise ValidationError(f"Tick at most {limits.BULK_MAX} items.")


def version_of(form: ReasonForm) -> int | None:
    """The version of the page that was decided on; None when it carries none."""
    return number((form.version.data or "").strip())


def refused(form: ReasonForm, refusal: Invalid | Conflict) -> tuple[int, str | None]:
    """The status and the alert with which a refused decision is answered; what is wrong in the form stands in it."""
    if isinstance(refusal, IllegalMove):
        return 409, f"By now this is {state_phrase(refusal.current)}. Your text is kept below."
    if isinstance(refusal, Conflict):
        return 409, f"{refusal.detail}. Your text is kept below."
    explain(form, refusal)
    return 422, None
