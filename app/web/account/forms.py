"""Forms of the account pages. They check for missing values; ``core`` checks passwords and addresses."""

from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session
from wtforms import (
    BooleanField,
    EmailField,
    Field,
    Form,
    HiddenField,
    PasswordField,
    StringField,
    ValidationError,
)
from wtforms.validators import DataRequired, InputRequired

from app.core import limits
from app.core.models import Account
from app.core.people import dashboard, passwords
from app.core.permissions import Permission
from app.core.thresholds import threshold_sets
from app.web import auth, forms
from app.web.categories import category_name
from app.web.filter_forms import SeveralField
from app.web.item.note_forms import MultiCheckboxField
from app.web.languages import OFFERED, language_name

ADDRESS = [InputRequired("Enter your email address."), forms.mail_address]


class NameForm(Form):
    """Change the display name."""

    display_name = StringField(
        "Name", [DataRequired("Enter a name."), forms.at_most(limits.NAME_MAX, "Name")]
    )


class SignUpForm(NameForm):
    """Create an account."""

    email = EmailField("Email", ADDRESS, filters=[forms.trimmed])
    password = PasswordField("Password", [InputRequired("Enter a password.")])


class JoinForm(NameForm):
    """Create the account for an invitation; its address is already known."""

    password = PasswordField("Password", [InputRequired("Enter a password.")])


class ForgotForm(Form):
    """Request a link for choosing a new password."""

    email = EmailField("Email", ADDRESS, filters=[forms.trimmed])


class ResetForm(Form):
    """Choose a new password. ``username`` is only for password managers; the server does not read it."""

    username = HiddenField()
    password = PasswordField("New password", [InputRequired("Enter a new password.")])


class NewEmailForm(Form):
    """Change the address for signing in."""

    email = EmailField("New email", ADDRESS, filters=[forms.trimmed])
    email_password = PasswordField("Current password", [InputRequired("Enter your current password.")])


class NewPasswordForm(Form):
    """Change the password."""

    current_password = PasswordField("Current password", [InputRequired("Enter your current password.")])
    new_password = PasswordField("New password", [InputRequired("Enter a new password.")])


class DeleteForm(Form):
    """Delete the account."""

    delete_password = PasswordField("Password", [InputRequired("Enter your password.")])
    note_texts = BooleanField("Erase the texts of my notes too")


@dataclass
class AccountForms:
    """The account forms of the settings page. A form that was posted and refused has its errors."""

    name: NameForm = field(default_factory=NameForm)
    email: NewEmailForm = field(default_factory=NewEmailForm)
    password: NewPasswordForm = field(default_factory=NewPasswordForm)
    delete: DeleteForm = field(default_factory=DeleteForm)

    def __post_init__(self) -> None:
        """Leave out the current password where there is none: such an account proves itself in another way."""
        if not has_password():
            current = (
                (self.email, "email_password"),
                (self.password, "current_password"),
                (self.delete, "delete_password"),
            )
            for form, name in current:
                if name in form:
                    del form[name]

    @property
    def errors(self) -> bool:
        return any(form.errors for form in (self.name, self.email, self.password, self.delete))


def has_password() -> bool:
    """Whether the reader's account has a password; one that a provider made has none."""
    return auth.current_reader().account.password_hash != passwords.NO_PASSWORD


def field_name(key: str) -> str:
    """Return the form's field for the key."""
    return f"key_{'slash' if key == '/' else key}"


class KeysForm(Form):
    """A field for each key that can be changed, by the name that ``field_name`` gives it."""

    def pressed(self) -> dict[str, str]:
        """Return the typed keys by the key that each has at first. An empty field brings that back."""
        typed = {key: (self[field_name(key)].data or "").strip() for key in dashboard.KEYS}
        return {key: new for key, new in typed.items() if new}

    @property
    def fields(self) -> list[Field]:
        """The fields in their order."""
        return list(self)


for _key, _what in dashboard.KEYS.items():
    setattr(KeysForm, field_name(_key), StringField(_what))


def keys_form(account: Account) -> KeysForm:
    """Return the form with the keys that this person presses."""
    pressed = dashboard.keys_in_force(account)
    present: dict[str, Any] = {
        field_name(key): dashboard.shown_as(pressed.get(key, key)) for key in dashboard.KEYS
    }
    return KeysForm(**present)


class LanguagesField(SeveralField):
    """Languages of which none ticked means those of the browser."""

    @property
    def in_words(self) -> str:
        return super().in_words if self.data else "As my browser asks"


class RunForm(Form):
    """What the reader is asked in their run. No language means those of the browser."""

    languages = LanguagesField("Languages I read", choices=[])
    avoided = MultiCheckboxField("Posts I prefer not to see", validate_choice=False)
    break_after_severe = StringField("Severe posts before a break")

    def validate_break_after_severe(self, field: StringField) -> None:
        """Check the number. Empty means the usual one."""
        text = (field.data or "").strip()
        number = forms.number(text)
        if text and (number is None or number > limits.BREAK_AFTER_SEVERE_MAX):
            raise ValidationError(
                f"Severe posts before a break must be a whole number from 0 to {limits.BREAK_AFTER_SEVERE_MAX}."
            )


def run_form(session: Session, account: Account) -> RunForm:
    """Return the form with the account's preferences."""
    number = account.break_after_severe
    form = RunForm(
        languages=account.languages,
        avoided=account.avoided_categories,
        break_after_severe="" if number is None else str(number),
    )
    offer_choices(session, form)
    return form


def offer_choices(session: Session, form: RunForm) -> set[str]:
    """Offer languages, and the categories of the reader's community, the sensitive ones, and what was chosen before;
    return the categories."""
    form.languages.choices = forms.choices({tag: language_name(tag) for tag in OFFERED})
    names = {*threshold_sets.SENSITIVE, *auth.current_reader().account.avoided_categories}
    community = auth.community_or_none()
    if community is not None and auth.may(Permission.RATE, community.id):
        current = threshold_sets.current(session, community.id)
        names |= {category.name for category in current.categories if category.enabled}
    words = {name: category_name(name) for name in names}
    form.avoided.choices = forms.choices(dict(sorted(words.items(), key=lambda pair: pair[1])))
    return names
