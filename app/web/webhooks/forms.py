"""Forms for webhooks: register, change, rotate the secret. A typed secret is never sent back."""

from typing import Self

from wtforms import (
    BooleanField,
    Form,
    HiddenField,
    RadioField,
    StringField,
    ValidationError,
)
from wtforms.validators import InputRequired

from app.core import limits
from app.core.models import Webhook
from app.core.outbound import URL_LENGTH
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.webhooks import signing
from app.core.webhooks.catalogue import EVENTS, Receivers, opt_in
from app.web.forms import MultiCheckboxField, SecretField, at_most, choices

GENERATE, TYPED = "generate", "typed"


def event_choices() -> dict[str, str]:
    """The names to which a webhook can subscribe, with their words; the names that only plugins know come last."""
    offered = [kind for kind in EVENTS.values() if kind.receivers is not Receivers.ONE]
    words = {
        kind.name: _("%(event)s, only sent when ticked", event=kind.label)
        if kind.receivers is Receivers.NAMED
        else str(kind.label)
        for kind in offered
    } | dict(kind.alias for kind in offered if kind.alias is not None)
    return {name: f"{words} ({name})" for name, words in words.items()}


def _reason(field_id: str) -> StringField:
    return StringField(
        lazy_gettext("Reason"), [at_most(limits.REASON_MAX, lazy_gettext("Reason"))], id=field_id
    )


class WebhookForm(Form):
    """URL and events of a webhook."""

    url = StringField("URL", [InputRequired(lazy_gettext("Enter a URL.")), at_most(URL_LENGTH, "URL")])
    all_events = BooleanField(lazy_gettext("All events, those that are added later too"))
    events = MultiCheckboxField(lazy_gettext("Events"), choices=lambda: choices(event_choices()))

    @property
    def all_events_hint(self) -> str:
        """The hint of ``all_events``."""
        *others, last = opt_in()
        return _(
            "Except %(others)s and %(last)s. To get those, choose events one by one.",
            others=", ".join(others),
            last=last,
        )

    def validate_events(self, field: MultiCheckboxField) -> None:
        if not self.all_events.data and not field.data:
            raise ValidationError(_("Tick at least one event, or all events."))

    def chosen_events(self) -> list[str] | None:
        """Return the chosen events, or None for all."""
        return None if self.all_events.data else list(self.events.data or ())


class SecretForm(Form):
    """A secret, generated or typed. ``etag`` is the version of the secret that it replaces."""

    how = RadioField(
        lazy_gettext("Secret"),
        choices=choices({GENERATE: lazy_gettext("Make one for me"), TYPED: lazy_gettext("I enter one")}),
        default=GENERATE,
    )
    secret = SecretField(lazy_gettext("Your secret"))
    etag = HiddenField()

    def validate_secret(self, field: SecretField) -> None:
        if self.how.data == TYPED and not field.data:
            raise ValidationError(_("Enter a secret, or let one be generated."))

    def chosen_secret(self) -> tuple[str, str | None]:
        """Return the secret, and again the secret if it was generated and must be shown once, else None."""
        if self.how.data == TYPED:
            return self.secret.data or "", None
        generated = signing.new_secret()
        return generated, generated


class EditForm(WebhookForm):
    """Form to change a webhook; ``reason`` is optional.

    ``version`` is the version of the values that the page showed.
    """

    reason = _reason("reason")
    version = HiddenField()

    @classmethod
    def from_webhook(cls, webhook: Webhook) -> Self:
        """Create the form with the webhook's current values."""
        return cls(
            data={
                "url": webhook.url,
                "all_events": webhook.events is None,
                "events": [str(name) for name in webhook.events or ()],
            }
        )


class StateForm(Form):
    """Why a webhook is enabled or disabled; optional."""

    reason = _reason("state-reason")


class RotationForm(SecretForm):
    """Replace the current secret."""

    secret = SecretField(lazy_gettext("Your secret"), id="rotation-secret")
    reason = _reason("rotation-reason")


class RemovalForm(Form):
    """Why a webhook is removed; optional."""

    reason = _reason("removal-reason")


class RegisterForm(WebhookForm, SecretForm):
    """A new webhook."""
