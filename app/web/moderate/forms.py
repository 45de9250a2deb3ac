"""Forms of the moderators' lists: decide on several rows, undo decisions, save filters and queues."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from wtforms import BooleanField, Field, Form, HiddenField, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired, ValidationError

from app.core import limits
from app.core.ids import parse_id
from app.core.review import saved_filters
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import ActionVerb
from app.web.filter_forms import typed
from app.web.forms import at_most, choices, number, reason_field
from app.web.item.verb_words import WORDS, OnSeveral


class SaveFilterForm(Form):
    """A name for the filters of the current query string."""

    name = StringField(
        lazy_gettext("Filter name"),
        [
            InputRequired(lazy_gettext("Enter a name.")),
            at_most(saved_filters.NAME_MAX, lazy_gettext("Filter name")),
        ],
    )
    shared = BooleanField(lazy_gettext("Share with all moderators"))


@dataclass(frozen=True)
class Choice:
    """A ticked row, with the version that the page showed."""

    id: uuid.UUID
    version: int


class ChoicesField(Field):
    """Rows: each value is ``<id>.<version>``, or several with "~" between. Values of another form are ignored."""

    data: list[Choice]

    def process_formdata(self, valuelist: Any) -> None:
        self.data = []
        for value in dict.fromkeys("~".join(map(str, valuelist)).split("~")):
            identity, _dot, version = value.partition(".")
            try:
                self.data.append(Choice(uuid.UUID(identity), int(version[:9])))
            except ValueError:
                continue

    def _value(self) -> str:
        return ""


class IdsField(Field):
    """Ids of rows. Values that are not ids are ignored."""

    data: list[uuid.UUID]

    def process_formdata(self, valuelist: Any) -> None:
        parsed = map(parse_id, valuelist[: limits.MATCHING_MAX])
        self.data = [row_id for row_id in parsed if row_id is not None]

    def _value(self) -> str:
        return ""


class QueueSettingsForm(Form):
    """The order of a queue (empty: no queue any more) and whom it is for."""

    position = StringField(lazy_gettext("Order"))
    member = IdsField(lazy_gettext("Members"), default=list)

    @property
    def wanted_position(self) -> int | None:
        """The order; None to make it an ordinary filter again. Call ``validate()`` first."""
        return number(typed(self.position))

    def validate_position(self, field: StringField) -> None:
        if typed(field) and self.wanted_position is None:
            raise ValidationError(
                _("Order must be a whole number from 1 to %(most)s.", most=saved_filters.POSITION_MAX)
            )


class UndoForm(Form):
    """Decisions to undo: these, or with ``every`` all of the moderator's in the community."""

    hold = IdsField(lazy_gettext("Decisions"), default=list)
    every = HiddenField()


class BulkForm(Form):
    """Decide, claim or assign several items. ``verb`` is empty if Enter on a checkbox sent the form.

    ``matching`` is set by the page that shows all items which match the filters; more of them are taken at once.
    ``cut`` is set if still more items match than that page took. ``item`` are the ticked rows, ``shown`` all that
    the page had.
    """

    CLAIM: ClassVar = "claim"
    ASSIGN: ClassVar = "assign"
    NOBODY: ClassVar = "nobody"
    VERBS: ClassVar[Sequence[ActionVerb]] = (ActionVerb.DISMISS, ActionVerb.FORCE_PUBLISH)
    UNNAMED: ClassVar[ActionVerb | None] = ActionVerb.DISMISS
    """The decision of a form without the field ``verb``."""

    verb = StringField(lazy_gettext("What to do"))
    reason = reason_field(required=False)
    matching = HiddenField()
    cut = HiddenField()
    template = HiddenField()
    item = ChoicesField(lazy_gettext("Posts"), default=list)
    shown = ChoicesField(lazy_gettext("Posts shown"), default=list)
    assignee = SelectField(lazy_gettext("Assign to"), validate_choice=False)
    unseen = StringField(lazy_gettext("Hidden posts"))
    hidden_ticked = 0
    """How many ticked rows are behind "Show content". To dismiss them unseen, the moderator sends this number back."""

    @property
    def says_unseen(self) -> bool:
        """Whether the moderator has confirmed that this many of the ticked posts were never shown to them."""
        return (number(self.unseen.data) or 0) >= self.hidden_ticked

    def ask_about_hidden(self) -> None:
        """Add the error that some posts were never shown; it stays until the moderator confirms."""
        self.unseen.errors = [
            ngettext(
                "%(num)s post is hidden by your settings, so you have not seen it. Tick the box to go on.",
                "%(num)s posts are hidden by your settings, so you have not seen them. Tick the box to go on.",
                self.hidden_ticked,
            )
        ]

    @property
    def claims(self) -> bool:
        return self.verb.data == self.CLAIM

    @property
    def assigns(self) -> bool:
        """Whether to give the items to a colleague instead of deciding them."""
        return self.verb.data == self.ASSIGN

    @property
    def decides(self) -> bool:
        return not self.claims and not self.assigns

    def offer_colleagues(self, colleagues: Mapping[uuid.UUID, str]) -> None:
        """Offer whom to assign the items to."""
        named = {str(account_id): name for account_id, name in colleagues.items()}
        self.assignee.choices = choices(
            {"": _("Assign to…"), self.NOBODY: _("Nobody in particular"), **named}
        )

    @property
    def assignee_id(self) -> uuid.UUID | None:
        """The chosen account, or None for nobody. Call ``validate()`` first."""
        return parse_id(self.assignee.data or "")

    @property
    def wanted_verb(self) -> ActionVerb | None:
        """The decision; None to claim or assign, or if no button was pressed."""
        if not self.verb.raw_data:
            return self.UNNAMED
        name, _dot, act_as = (self.verb.data or "").partition(".")
        verb = next((verb for verb in self.VERBS if verb.value == name), None)
        on_several = WORDS[verb].on_several if verb is not None else None
        return verb if on_several is not None and act_as == str(on_several.act_as or "") else None

    @property
    def words(self) -> OnSeveral:
        words = WORDS[self.wanted_verb or self.VERBS[0]].on_several
        assert words is not None  # noqa: S101 - ``VERBS`` has only verbs that have them
        return words

    @property
    def most(self) -> int:
        return limits.MATCHING_MAX if self.matching.data else limits.BULK_MAX

    def validate_verb(self, field: StringField) -> None:
        if self.decides and self.wanted_verb is None:
            raise ValidationError(_("Choose what to do with the posts that you ticked."))

    def validate_reason(self, field: TextAreaField) -> None:
        if self.decides and not (field.raw_data and field.raw_data[0]):
            raise ValidationError(_("Enter a reason."))

    def validate_assignee(self, field: SelectField) -> None:
        if self.assigns and field.data != self.NOBODY and self.assignee_id is None:
            raise ValidationError(_("Choose whom to assign them to."))

    def validate_item(self, field: ChoicesField) -> None:
        if not field.data:
            raise ValidationError(_("Tick at least one post."))
        if len(field.data) > self.most:
            raise ValidationError(
                ngettext("Tick at most %(num)s post.", "Tick at most %(num)s posts.", self.most)
            )


class SecondLookBulkForm(BulkForm):
    """Confirm or overturn several second looks for one reason, or claim them."""

    VERBS = (ActionVerb.CONFIRM, ActionVerb.OVERTURN)
    UNNAMED = None
