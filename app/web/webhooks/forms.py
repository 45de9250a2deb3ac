"""The forms of webhooks: registered, changed, given another secret. A secret that was typed is never sent back."""

from collections.abc import Mapping

from wtforms import (
    BooleanField,
    Form,
    HiddenField,
    RadioField,
    SelectMultipleField,
    StringField,
    ValidationError,
)
from wtforms.validators import InputRequired
from wtforms.widgets import CheckboxInput, ListWidget

from app.core import limits
from app.core.models import Webhook
from app.core.vocabulary import EventName
from app.core.webhooks import signing
from app.core.webhooks.payloads import PROPOSED
from app.web.forms import at_most, choices

URL_LENGTH = 2_048
EVENT_WORDS: Mapping[EventName, str] = {
    EventName.DECISION: "Decision about a post",
    EventName.ACTION_CREATED: "Action waits for the platform",
    EventName.ACTION_APPLIED: "Action applied",
    EventName.ACTION_RETRO_REVIEW: "Second look opened",
    EventName.ACTION_CONFIRMED: "Action confirmed",
    EventName.ACTION_OVERTURNED: "Action overturned",
    EventName.ACTION_DISMISSED: "Action dismissed",
    EventName.NOTE_STATUS: "Note has another status",
    EventName.TEST: "Test event",
}
GENERATE, TYPED = "generate", "typed"


class MultiCheckboxField(SelectMultipleField):
    """Several of a list, as checkboxes."""

    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()


class SecretField(StringField):
    """A secret that is typed: what was sent is never sent back. No password field, which browsers want to keep."""

    def _value(self) -> str:
        return ""


class WebhookForm(Form):
    """Where a webhook goes and what it is told."""

    url = StringField("URL", [InputRequired("Enter a URL."), at_most(URL_LENGTH, "URL")])
    all_events = BooleanField("All events, those that are added later too")
    events = MultiCheckboxField(
        "Events",
        choices=choices(
            {one.value: f"{words} ({one})" for one, words in EVENT_WORDS.items() if one is not EventName.TEST}
            | {
                PROPOSED: f"Action waits for the platform, by the name the Discourse plugin knows ({PROPOSED})"
            }
        ),
    )

    def validate_events(self, field: MultiCheckboxField) -> None:
        if not self.all_events.data and not field.data:
            raise ValidationError("Tick at least one event, or all events.")

    def chosen_events(self) -> list[str] | None:
        """The events, None for all of them."""
        return None if self.all_events.data else list(self.events.data or ())


class SecretForm(Form):
    """A secret, made here or typed. ``etag`` is of the one that it replaces."""

    how = RadioField(
        "Secret",
        choices=choices({GENERATE: "Make one for me", TYPED: "I enter one"}),
        default=GENERATE,
    )
    secret = SecretField("Your secret")
    etag = HiddenField()

    def validate_secret(self, field: SecretField) -> None:
        if self.how.data == TYPED and not field.data:
            raise ValidationError("Enter a secret, or let one be made.")

    def chosen_secret(self) -> tuple[str, str | None]:
        """The secret, and what to show of it once: the one that was made, None when it was typed."""
        if self.how.data == TYPED:
            return self.secret.data or "", None
        made = signing.new_secret()
        return made, made


class EditForm(WebhookForm):
    """A webhook as it is set, to be changed; ``reason`` may stay empty.

    ``version`` is the version of the values that the page was made from.
    """

    reason = StringField("Reason", [at_most(limits.REASON_MAX, "Reason")])
    version = HiddenField()

    @classmethod
    def of(cls, webhook: Webhook) -> "EditForm":
        """The form as the webhook is set now."""
        return cls(
            data={
                "url": webhook.url,
                "all_events": webhook.events is None,
                "events": [str(name) for name in webhook.events or ()],
            }
        )


class StateForm(Form):
    """Why a webhook is enabled or disabled; may stay empty."""

    reason = StringField("Reason", [at_most(limits.REASON_MAX, "Reason")], id="state-reason")


class RotationForm(SecretForm):
    """Another secret in place of the present one."""

    reason = StringField("Reason", [at_most(limits.REASON_MAX, "Reason")], id="rotation-reason")


class RemovalForm(Form):
    """Why a webhook is removed; may stay empty."""

    reason = StringField("Reason", [at_most(limits.REASON_MAX, "Reason")], id="removal-reason")


class RegisterForm(WebhookForm, SecretForm):
    """A new webhook."""
