"""Forms of the parts of Settings. Each takes the account's values, and stores what was typed."""

from collections.abc import Mapping
from typing import Any
from zoneinfo import available_timezones

from sqlalchemy.orm import Session
from wtforms import BooleanField, Field, Form, RadioField, SelectField, StringField, ValidationError
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # its type stubs are older

from app.core import limits, texts
from app.core.models import Account
from app.core.people import credentials, dashboard
from app.core.permissions import Permission
from app.core.raters import digests, run
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.core.vocabulary import MediaVeil
from app.web import auth, forms
from app.web.account.forms import NameForm
from app.web.categories import category_name
from app.web.filter_forms import SeveralField
from app.web.languages import OFFERED, language_name

THEME_WORDS = {
    "system": lazy_gettext("As my device is set"),
    "light": lazy_gettext("Light"),
    "dark": lazy_gettext("Dark"),
}
DIGEST_WORDS = {
    "off": lazy_gettext("Never"),
    "daily": lazy_gettext("At most once a day"),
    "weekly": lazy_gettext("At most once a week"),
}
MEDIA_WORDS = {
    MediaVeil.BLUR.value: lazy_gettext("Blurred and grey until I open them"),
    MediaVeil.GREYSCALE.value: lazy_gettext("Grey until I open them"),
    MediaVeil.NEITHER.value: lazy_gettext("As they are"),
}
DEVICE_ZONE = "UTC"
"""Default of a new account: ``auth`` then uses the browser's time zone. For real UTC there is Etc/UTC."""


def _zones() -> list[SelectChoice]:
    places = sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))
    return [
        SelectChoice(value=DEVICE_ZONE, label=lazy_gettext("As my device is set")),
        SelectChoice(value="Etc/UTC", label="UTC"),
        *(SelectChoice(value=name, label=name.replace("_", " ")) for name in places),
    ]


def moderates_here() -> bool:
    """Whether the reader moderates the community of the page."""
    community = auth.community_or_none()
    return community is not None and auth.may(Permission.MODERATE, community.id)


def operates() -> bool:
    """Whether the reader is an operator of any community."""
    return any(
        auth.may(Permission.MANAGE_WEBHOOKS, community.id) for community in auth.current_reader().communities
    )


class YouForm(NameForm):
    """Who the reader is, and how pages look to them."""

    timezone = SelectField(lazy_gettext("Timezone"), choices=_zones())
    theme = RadioField(lazy_gettext("Theme"), choices=forms.choices(THEME_WORDS))
    undo_seconds = StringField(lazy_gettext("Seconds to undo a decision"))

    @staticmethod
    def values(account: Account) -> dict[str, Any]:
        return {
            "display_name": account.display_name,
            "timezone": account.timezone or DEVICE_ZONE,
            "theme": account.theme,
            "undo_seconds": str(account.undo_seconds or ""),
        }

    def offer(self, _session: Session) -> None:
        if not moderates_here():
            del self.undo_seconds

    def store(self, session: Session, account: Account) -> None:
        credentials.rename(session, account, self.display_name.data or "")
        dashboard.set_preferences(account, theme=self.theme.data, timezone=self.timezone.data)
        if "undo_seconds" in self:
            seconds = forms.number((self.undo_seconds.data or "").strip())
            dashboard.set_preferences(account, undo_seconds=seconds)

    def validate_undo_seconds(self, field: StringField) -> None:
        """Check the undo window. Empty means the community's setting."""
        least, most = limits.UNDO_SECONDS
        text = (field.data or "").strip()
        seconds = forms.number(text)
        if text and (seconds is None or not least <= seconds <= most):
            raise ValidationError(
                _(
                    "Seconds to undo must be a whole number from %(least)s to %(most)s.",
                    least=least,
                    most=most,
                )
            )


class LanguagesField(SeveralField):
    """Languages of which none ticked means those of the browser."""

    @property
    def in_words(self) -> str:
        return super().in_words if self.data else _("As my browser asks")


class ReadingForm(Form):
    """What the reader is asked about, and what they see of it. No language means those of the browser."""

    language = SelectField(lazy_gettext("Language"), choices=[])
    languages = LanguagesField(lazy_gettext("Languages I read"), choices=[])
    content_warnings = BooleanField(lazy_gettext("Hide sensitive posts until I choose “Show content”"))
    media_veil = RadioField(
        lazy_gettext("Pictures and videos of sensitive posts"), choices=forms.choices(MEDIA_WORDS)
    )
    avoided = forms.MultiCheckboxField(lazy_gettext("Posts I prefer not to see"), validate_choice=False)
    break_after_severe = StringField(lazy_gettext("Severe posts before a break"))

    @staticmethod
    def values(account: Account) -> dict[str, Any]:
        number = account.break_after_severe
        return {
            "language": account.language or "",
            "languages": account.languages,
            "content_warnings": account.content_warnings,
            "media_veil": account.media_veil.value,
            "avoided": account.avoided_categories,
            "break_after_severe": "" if number is None else str(number),
        }

    def offer(self, session: Session) -> None:
        """Offer languages, and the categories of the community, the sensitive ones, and those chosen before."""
        self.language.choices = forms.choices({"": _("As my browser asks"), **texts.NAMES})
        self.languages.choices = forms.choices({tag: language_name(tag) for tag in OFFERED})
        names = {*threshold_sets.SENSITIVE, *auth.current_reader().account.avoided_categories}
        community = auth.community_or_none()
        if community is not None and auth.may(Permission.RATE, community.id):
            current = threshold_sets.current(session, community.id)
            names |= {category.name for category in current.categories if category.enabled}
        words = {name: category_name(name) for name in names}
        self.avoided.choices = forms.choices(dict(sorted(words.items(), key=lambda pair: pair[1])))

    def store(self, _session: Session, account: Account) -> None:
        known = {value for value, *_ in self.avoided.iter_choices()}
        run.choose_preferences(
            account,
            languages=self.languages.data or [],
            avoided_categories=[name for name in self.avoided.data or [] if name in known],
            break_after_severe=forms.number((self.break_after_severe.data or "").strip()),
        )
        dashboard.set_preferences(
            account,
            language=self.language.data or None,
            content_warnings=bool(self.content_warnings.data),
            media_veil=MediaVeil(self.media_veil.data),
        )

    def validate_break_after_severe(self, field: StringField) -> None:
        """Check the number. Empty means the usual one."""
        text = (field.data or "").strip()
        number = forms.number(text)
        if text and (number is None or number > limits.BREAK_AFTER_SEVERE_MAX):
            raise ValidationError(
                _(
                    "Severe posts before a break must be a whole number from 0 to "
                    "%(break_after_severe_max)s.",
                    break_after_severe_max=limits.BREAK_AFTER_SEVERE_MAX,
                )
            )


def field_name(key: str) -> str:
    """Return the form's field for the key."""
    return f"key_{'slash' if key == '/' else key}"


KEY_FIELDS: Mapping[str, str] = {key: field_name(key) for key in dashboard.KEYS}


class KeysForm(Form):
    """Whether single keys work, and a field for each that can be changed, by the name that ``field_name`` gives it."""

    shortcuts = BooleanField(lazy_gettext("Single-key shortcuts"))

    @staticmethod
    def values(account: Account) -> dict[str, Any]:
        pressed = dashboard.keys_in_force(account)
        shown = {KEY_FIELDS[key]: dashboard.shown_as(pressed.get(key, key)) for key in dashboard.KEYS}
        return {"shortcuts": account.shortcuts, **shown}

    def offer(self, _session: Session) -> None:
        """Every key is in the form already."""

    def store(self, _session: Session, account: Account) -> None:
        """Store the typed keys; an empty field brings the first one back, and "Reset keys" all of them."""
        typed = {key: (self[name].data or "").strip() for key, name in KEY_FIELDS.items()}
        resets = bool(forms.posted_values("reset"))
        dashboard.bind_keys(account, {} if resets else {key: new for key, new in typed.items() if new})
        dashboard.set_preferences(account, shortcuts=bool(self.shortcuts.data))

    @property
    def fields(self) -> list[Field]:
        """The fields of the keys in their order."""
        return [self[name] for name in KEY_FIELDS.values()]


for _key, _what in dashboard.KEYS.items():
    setattr(KeysForm, field_name(_key), StringField(_what))


class MailForm(Form):
    """What the reader gets mail about."""

    digest = RadioField(lazy_gettext("Mail me when posts need help"), choices=forms.choices(DIGEST_WORDS))
    attention_mail = BooleanField(lazy_gettext("Mail me when something needs an operator"))

    @staticmethod
    def values(account: Account) -> dict[str, Any]:
        return {"digest": account.digest.value, "attention_mail": account.attention_mail}

    def offer(self, _session: Session) -> None:
        if not operates():
            del self.attention_mail

    def store(self, _session: Session, account: Account) -> None:
        digests.choose(account, self.digest.data)
        if "attention_mail" in self:
            dashboard.set_preferences(account, attention_mail=bool(self.attention_mail.data))
