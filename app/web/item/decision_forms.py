"""Forms of a decision about one item or note: reasons and their templates, reopening, messages, handing over."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy.orm import Session
from wtforms import BooleanField, Form, HiddenField, RadioField, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired, ValidationError

from app.core import clock, limits
from app.core.errors import Conflict, IllegalMove, Invalid
from app.core.ids import parse_id
from app.core.models import Action, ReasonTemplate
from app.core.permissions import Actor
from app.core.review import assignments, reason_templates, verbs
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import CHOOSABLE, HELD_VERBS, ActionState, ActionType, ActionVerb, ReopenTo
from app.web import forms
from app.web.categories import category_name
from app.web.filters import state_phrase
from app.web.forms import ReasonForm, at_most, choices, explain, number, whole_lines
from app.web.item.silence_forms import SilenceFields
from app.web.item.verb_words import WORDS, effect_name


class DecisionForm(ReasonForm, SilenceFields):
    """A moderator's decision. ``verb`` is the pressed button; ``next`` opens the next item of the queue afterwards.

    ``back``: the moderator goes back to the form from the question about their text to the author.
    """

    verb = HiddenField()
    next = HiddenField()
    policy = SelectField(lazy_gettext("File under"), validate_choice=False)
    author_text = TextAreaField(
        lazy_gettext("Text to the author"),
        [at_most(limits.REASON_MAX, lazy_gettext("Text to the author"))],
        filters=[whole_lines],
    )
    wording = HiddenField()
    template = HiddenField()
    back = HiddenField()
    alike = BooleanField(lazy_gettext("Decide the posts alike too"), default=True)

    @property
    def typed_texts(self) -> list[str]:
        return [*super().typed_texts, *([self.author_text.data] if self.author_text.data else [])]

    def offer(self, categories: Sequence[str], own: str | None) -> None:
        """Offer the community's categories. ``own`` is the item's category; choosing it changes nothing."""
        known = [*([own] if own and own not in categories else []), *categories]
        self.policy.choices = choices(
            {
                **({} if own else {"": _("None in particular")}),
                **{name: category_name(name) for name in known},
            }
        )
        if self.policy.data is None:
            self.policy.data = own or ""

    def wanted_verb(self) -> ActionVerb | None:
        """Return the verb, or None if the form was not sent with one of the decision buttons."""
        name = (self.verb.data or "").partition(".")[0]
        return next((verb for verb in HELD_VERBS if verb.value == name), None)

    def wanted_action(self) -> ActionType | None:
        """Return the action that was chosen instead of the configured one, or None."""
        name = (self.verb.data or "").partition(".")[2]
        return next((action_type for action_type in CHOOSABLE if action_type.value == name), None)

    def details(self, action: Action) -> dict[str, Any]:
        """What ``holds.hold`` takes besides verb and reason."""
        verb, act_as = self.wanted_verb(), self.wanted_action()
        is_carried = verb is not None and verbs.carries_text(verb, action, act_as)
        acts = verb is ActionVerb.FORCE_PUBLISH
        silences = acts and (act_as or action.action_type) is ActionType.SILENCE
        return {
            "category": self.policy.data or None,
            "act_as": act_as,
            "author_text": self.author_text.data if is_carried else None,
            **(self.silence_end() if silences else {}),
        }


class ReopenForm(ReasonForm):
    """Reopen a dismissal. ``to``: who reviews the item next, or that the platform acts at once."""

    to = RadioField(
        lazy_gettext("What happens next"),
        [InputRequired(lazy_gettext("Choose where it goes."))],
        validate_choice=False,
    )
    template = HiddenField()

    def offer(self, effect: str) -> None:
        """Offer the choices of ``to``. ``effect`` says in words what the platform would do."""
        self.to.choices = choices(
            {
                ReopenTo.COMMUNITY: _("Members review it again"),
                ReopenTo.STAFF: _("Moderators review it again"),
                ReopenTo.ACT: _("Act at once: %(effect)s", effect=effect.removesuffix(".")),
            }
        )

    def details(self, _action: Action) -> dict[str, Any]:
        """What ``holds.hold`` takes besides verb and reason. No ``reopen_to`` if the value is unknown."""
        return {"reopen_to": next((to for to in ReopenTo if to.value == self.to.data), None)}


class CommentForm(Form):
    """A message that only moderators read."""

    message = TextAreaField(
        lazy_gettext("Message to other moderators"),
        [
            InputRequired(lazy_gettext("Write a message.")),
            at_most(limits.REASON_MAX, lazy_gettext("The message")),
        ],
        filters=[whole_lines],
    )


class AssignForm(Form):
    """Who is to decide the item (empty: no one), and a word for them."""

    assignee = SelectField(lazy_gettext("Assign to"), validate_choice=False)
    handover = StringField(lazy_gettext("For them"), [at_most(limits.REASON_MAX, lazy_gettext("For them"))])
    version = HiddenField()

    def offer(self, colleagues: Mapping[uuid.UUID, str], assigned_to: uuid.UUID | None) -> None:
        """Offer the colleagues. ``assigned_to`` is chosen if the form was not sent."""
        self.assignee.choices = choices(
            {
                "": _("Nobody in particular"),
                **{str(account_id): name for account_id, name in colleagues.items()},
            }
        )
        if self.assignee.data is None:
            self.assignee.data = str(assigned_to or "")

    @property
    def wanted(self) -> uuid.UUID | None:
        """The chosen account, or None for nobody. Call ``validate()`` first."""
        return parse_id(self.assignee.data or "")

    def validate_assignee(self, field: SelectField) -> None:
        if field.data != "" and self.wanted is None:
            raise ValidationError(_("Choose from the list whom to assign it to."))


class SnoozeForm(Form):
    """For how many hours to put an item aside; empty brings it back."""

    snooze = SelectField(lazy_gettext("Snooze for"), validate_choice=False)
    version = HiddenField()

    def offer(self, *, is_snoozed: bool) -> None:
        """Offer the times, and for an item that is put aside its return."""
        words = {_hours(time): _in_words(time) for time in assignments.SNOOZES}
        self.snooze.choices = choices({**words, "": _("No longer")} if is_snoozed else words)
        if self.snooze.data is None:
            self.snooze.data = "" if is_snoozed else _hours(assignments.SNOOZES[0])

    @property
    def wanted(self) -> timedelta:
        """For how long; zero brings the item back. Call ``validate()`` first."""
        return next((time for time in assignments.SNOOZES if _hours(time) == self.snooze.data), timedelta())

    def validate_snooze(self, field: SelectField) -> None:
        if field.data != "" and not self.wanted:
            raise ValidationError(_("Choose from the list for how long to snooze it."))


def _hours(time: timedelta) -> str:
    return str(int(time / timedelta(hours=1)))


def _in_words(time: timedelta) -> str:
    if time.days:
        return ngettext("%(num)s day", "%(num)s days", time.days)
    return ngettext("%(num)s hour", "%(num)s hours", int(_hours(time)))


@dataclass(frozen=True)
class HandOver:
    """What the item's page shows about its assignee and its return to the queue.

    ``assignee`` is the name of who is to decide the item, or an empty string.
    """

    assign: AssignForm
    snooze: SnoozeForm
    assignee: str
    is_snoozed: bool


def hand_over(
    session: Session, actor: Actor, action: Action, assign: AssignForm | None, snooze: SnoozeForm | None
) -> HandOver | None:
    """Return the forms, as they were filled in if they were sent; None if the item is not under review."""
    if action.action_state is not ActionState.UNDER_REVIEW:
        return None
    colleagues = assignments.colleagues(session, actor, action.community_id)
    assigned = action.assigned_to_id
    is_snoozed = action.snoozed_until is not None and action.snoozed_until > clock.now()
    assign, snooze = assign or AssignForm(), snooze or SnoozeForm()
    assign.offer(colleagues, assigned)
    snooze.offer(is_snoozed=is_snoozed)
    assign.version.data = snooze.version.data = str(action.version)
    assignee = colleagues.get(assigned, _("a former member")) if assigned is not None else ""
    return HandOver(assign, snooze, assignee, is_snoozed)


ReasonOption = tuple[ReasonTemplate, str]
"""A reason template, and the verb whose form begins with it; an empty string for none."""


def reason_options(
    session: Session, actor: Actor, community_id: uuid.UUID, category: str | None = None
) -> Sequence[ReasonOption]:
    """Return the templates in use, those with a category first; if ``category`` is given, without other categories.

    Without a category, only a template for all categories is a default: the form may be about several items.
    """
    templates = reason_templates.in_use(session, actor, community_id)
    options = [
        (template, template.verb or "" if category is not None or template.category is None else "")
        for template in templates
        if category is None or template.category in (None, category)
    ]
    return sorted(options, key=lambda option: option[0].category is None)


def remembered_as(actor: Actor, community_id: uuid.UUID, category: str | None = None) -> str:
    """Under which name the browser's tab remembers the reason that this moderator gave last."""
    return f"{actor.account_id} {community_id} {category or '*'}"


def compose_reason(
    session: Session, actor: Actor, community_id: uuid.UUID, form: Form, *, with_text: bool = False
) -> None:
    """Put the text of the chosen template before the typed reason, unless JavaScript has already inserted it.

    A template that is no longer in use adds nothing. The choice is cleared, because the reason now has its text.
    ``with_text``: the same with the text to the author.
    """
    for choice, name in (("template", "reason"), ("wording", "author_text"))[: 1 + with_text]:
        chosen = parse_id(form[choice].data or "")
        form[choice].data = ""
        if chosen is None:
            continue
        templates = reason_templates.in_use(session, actor, community_id)
        text = next((template.text for template in templates if template.id == chosen), "")
        field = form[name]
        typed = field.data or ""
        if text and text not in typed:
            whole = f"{text}\n{typed}" if typed.strip() else text
            field.data, field.raw_data = whole, [whole]


WITHOUT = "without_text"
"""In the query string of a form that was sent after the question."""


@dataclass(frozen=True)
class TextQuestion:
    """What was pressed: its name, the endpoint that it is sent to, and the button's value, empty for no decision."""

    name: str
    endpoint: str
    value: str = ""


def text_question(
    form: DecisionForm | ReopenForm, action: Action, at_once: TextQuestion | None
) -> TextQuestion | None:
    """Return what to ask before this decision; None if it carries the text, there is none, or it was asked already.

    ``at_once`` is the question of a verb that decides nothing and so never carries a text.
    """
    if not isinstance(form, DecisionForm) or not form.author_text.data or forms.query_arg(WITHOUT):
        return None
    if at_once is not None:
        return at_once
    verb, act_as = form.wanted_verb(), form.wanted_action()
    if verb is None or verbs.carries_text(verb, action, act_as):
        return None
    does = verb is ActionVerb.FORCE_PUBLISH
    name = effect_name(act_as or action.action_type) if does else WORDS[verb].name
    return TextQuestion(name, "web.decide", form.verb.data or "")


def version_of(form: ReasonForm | AssignForm | SnoozeForm) -> int | None:
    """Return the version of the object that the page showed, or None if the form has none."""
    return number((form.version.data or "").strip())


def refused(form: Form, refusal: Invalid | Conflict) -> tuple[int, str | None]:
    """Return status and alert of the answer to a refused decision. For Invalid, the form gets the errors instead."""
    if isinstance(refusal, IllegalMove):
        return 409, _(
            "By now this is %(state)s. Your text is kept below.", state=state_phrase(refusal.current)
        )
    if isinstance(refusal, Conflict):
        return 409, _("%(why)s. Your text is kept below.", why=refusal.detail)
    explain(form, refusal)
    return 422, None
