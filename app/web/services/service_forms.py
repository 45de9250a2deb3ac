"""Forms of connected services: settings, key, state, what happens when one fails. A typed key is never sent back."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from wtforms import BooleanField, FileField, Form, HiddenField, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired, ValidationError

from app.core import limits
from app.core.services.kinds import Kind, Option
from app.core.services.settings import ServiceSettings
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import forms

OPTION = "option_"
REQUIRE = "require_"
IF_IT_FAILS: Mapping[str, str] = {
    "review": lazy_gettext("Ask moderators about the post"),
    "retry": lazy_gettext("Try again for about three minutes, then show the post as failed"),
    "": lazy_gettext("Go on without its scores"),
}


def _reason(field_id: str) -> StringField:
    return StringField(
        lazy_gettext("Reason"),
        [
            InputRequired(lazy_gettext("Enter a reason.")),
            forms.at_most(limits.REASON_MAX, lazy_gettext("Reason")),
        ],
        id=field_id,
    )


def as_number(text: str | None) -> float | None:
    """Read a number with a point or a comma, None for an empty field. Raises ValueError."""
    written = (text or "").strip().replace(",", ".")
    return float(written) if written else None


def _number(form: Form, field: Any) -> None:
    try:
        as_number(field.data)
    except ValueError:
        raise ValidationError(_("%(field)s: enter a number, such as 5.", field=field.label.text)) from None


def _whole(_form: Form, field: Any) -> None:
    written = (field.data or "").strip()
    if written and forms.number(written) is None:
        raise ValidationError(_("%(field)s: enter a whole number, such as 1000.", field=field.label.text))


def _category_lines(_form: Form, field: Any) -> None:
    for number, line in enumerate((field.data or "").split("\n"), start=1):
        if line.strip() and ("=" not in line or not line.rpartition("=")[0].strip()):
            raise ValidationError(
                _("Categories, line %(line)s: write the service’s name = yours.", line=number)
            )


def categories_from(text: str | None) -> dict[str, str | None]:
    """Read lines of ``theirs = ours``; nothing after the sign: stored, not routed."""
    pairs = [line.rpartition("=") for line in (text or "").split("\n") if line.strip()]
    return {theirs.strip(): ours.strip() or None for theirs, _, ours in pairs}


def categories_text(categories: Mapping[str, str | None]) -> str:
    return "\n".join(f"{theirs} = {ours or ''}".rstrip() for theirs, ours in categories.items())


class SettingsForm(Form):
    """A service's settings. ``etag`` is the version of the service that the page showed."""

    kind_options: Sequence[Option] = ()

    url = StringField("URL", [forms.at_most(2_048, "URL")], filters=[forms.trimmed])
    model = StringField(lazy_gettext("Model"), filters=[forms.trimmed])
    categories = TextAreaField(lazy_gettext("Categories"), [_category_lines], filters=[forms.whole_lines])
    may_act = BooleanField(lazy_gettext("Its scores may act by themselves (Tier 1)"))
    deadline = StringField(lazy_gettext("Seconds for one call"), [_number], default="5")
    concurrency = StringField(lazy_gettext("Calls at once"), [_whole], default="4")
    daily_requests = StringField(lazy_gettext("Calls a day, at most"), [_whole])
    price = StringField(lazy_gettext("Price of 1,000 calls"), [_number])
    daily_cost = StringField(lazy_gettext("Cost a day, at most"), [_number])
    consent = BooleanField(lazy_gettext("Posts of this community are sent to this host"))
    reason = _reason("reason")
    etag = HiddenField()

    def settings(self) -> ServiceSettings:
        """Return the typed settings; ``core.services.settings.checked`` checks them."""
        return ServiceSettings(
            url=self.url.data or "",
            model=self.model.data or "",
            options={
                option.name: self[OPTION + option.name].data or option.default for option in self.kind_options
            },
            categories=categories_from(self.categories.data),
            may_act=bool(self.may_act.data),
            deadline=_or(as_number(self.deadline.data), 5.0),
            concurrency=_or(forms.number((self.concurrency.data or "").strip()), 4),
            daily_requests=forms.number((self.daily_requests.data or "").strip()),
            daily_cost=as_number(self.daily_cost.data),
            price=as_number(self.price.data) or 0.0,
        )


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


class NewServiceForm(SettingsForm):
    """A service to add: also its name and its key."""

    name = StringField(
        lazy_gettext("Name"),
        [InputRequired(lazy_gettext("Enter a name, such as openai."))],
        filters=[forms.trimmed],
    )
    key = forms.SecretField(lazy_gettext("Key"), filters=[forms.trimmed])


class KeyForm(Form):
    """Another key for a service."""

    key = forms.SecretField(
        lazy_gettext("New key"),
        [InputRequired(lazy_gettext("Enter the new key."))],
        filters=[forms.trimmed],
        id="new-key",
    )
    reason = _reason("key-reason")
    etag = HiddenField(id="key-etag")


class ModeForm(Form):
    """Count a service's scores, only observe it, or switch it off. The pressed button has the mode."""

    if_it_fails = SelectField(
        lazy_gettext("If it fails"), choices=forms.choices(IF_IT_FAILS), default="review"
    )
    mode = HiddenField()
    reason = _reason("mode-reason")
    etag = HiddenField(id="mode-etag")


class MeasureForm(Form):
    """Examples to measure a version of a service on: an uploaded file."""

    examples = FileField(lazy_gettext("Examples"))
    reason = _reason("measure-reason")


class VersionForm(Form):
    """Why another version is put in force."""

    reason = _reason("version-reason")
    etag = HiddenField(id="version-etag")


class RemoveForm(Form):
    """Why a service is removed."""

    reason = _reason("remove-reason")
    etag = HiddenField(id="remove-etag")


class RequireForm(Form):
    """For each category, what happens when the service fails."""

    names: Sequence[str] = ()
    reason = _reason("require-reason")

    def on_error(self) -> dict[str, str | None]:
        return {name: self[REQUIRE + name].data or None for name in self.names}


AnySettingsForm = TypeVar("AnySettingsForm", bound=SettingsForm)


def settings_form(kind: Kind, base: type[AnySettingsForm]) -> type[AnySettingsForm]:
    """Create the form class of a kind, with its own options."""
    fields = {OPTION + option.name: _option_field(option) for option in kind.options}
    return type(base.__name__, (base,), {**fields, "kind_options": tuple(kind.options)})


def _option_field(option: Option) -> Any:
    if option.choices:
        return SelectField(option.label, choices=forms.choices(option.choices), default=option.default)
    if option.long:
        return TextAreaField(option.label, filters=[forms.whole_lines], default=option.default)
    return StringField(option.label, default=option.default, filters=[forms.trimmed])


def require_form(titles: Mapping[str, str], chosen: Mapping[str, str | None]) -> type[RequireForm]:
    """Create the form class for these categories, with what is chosen for each now."""
    fields = {
        REQUIRE + name: SelectField(
            _("%(title)s: if it fails", title=title),
            choices=forms.choices(IF_IT_FAILS),
            default=chosen.get(name) or "",
        )
        for name, title in titles.items()
    }
    return type(RequireForm.__name__, (RequireForm,), {**fields, "names": tuple(titles)})


def form_data(settings: ServiceSettings) -> dict[str, Any]:
    """Return the values of a settings form."""
    return {
        "url": settings.url,
        "model": settings.model,
        "categories": categories_text(settings.categories),
        "may_act": settings.may_act,
        "deadline": f"{settings.deadline:g}",
        "concurrency": str(settings.concurrency),
        "daily_requests": "" if settings.daily_requests is None else str(settings.daily_requests),
        "price": f"{settings.price:g}" if settings.price else "",
        "daily_cost": "" if settings.daily_cost is None else f"{settings.daily_cost:g}",
        **{OPTION + name: value for name, value in settings.options.items()},
    }
