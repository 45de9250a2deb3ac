"""Forms of the account pages. They check for missing values; ``core`` checks passwords and addresses."""

from dataclasses import dataclass, field

from wtforms import (
    BooleanField,
    EmailField,
    Form,
    HiddenField,
    PasswordField,
    StringField,
)
from wtforms.validators import DataRequired, InputRequired

from app.core import limits
from app.core.people import passwords
from app.core.texts import lazy_gettext
from app.web import auth, forms

ADDRESS = [InputRequired(lazy_gettext("Enter your email address.")), forms.mail_address]


class NameForm(Form):
    """Change the display name."""

    display_name = StringField(
        lazy_gettext("Name"),
        [DataRequired(lazy_gettext("Enter a name.")), forms.at_most(limits.NAME_MAX, lazy_gettext("Name"))],
    )


class SignUpForm(NameForm):
    """Create an account."""

    email = EmailField(lazy_gettext("Email"), ADDRESS, filters=[forms.trimmed])
    password = PasswordField(lazy_gettext("Password"), [InputRequired(lazy_gettext("Enter a password."))])


class JoinForm(NameForm):
    """Create the account for an invitation; its address is already known."""

    password = PasswordField(lazy_gettext("Password"), [InputRequired(lazy_gettext("Enter a password."))])


class ForgotForm(Form):
    """Request a link for choosing a new password."""

    email = EmailField(lazy_gettext("Email"), ADDRESS, filters=[forms.trimmed])


class ResetForm(Form):
    """Choose a new password. ``username`` is only for password managers; the server does not read it."""

    username = HiddenField()
    password = PasswordField(
        lazy_gettext("New password"), [InputRequired(lazy_gettext("Enter a new password."))]
    )


class NewEmailForm(Form):
    """Change the address for signing in."""

    email = EmailField(lazy_gettext("New email"), ADDRESS, filters=[forms.trimmed])
    email_password = PasswordField(
        lazy_gettext("Current password"), [InputRequired(lazy_gettext("Enter your current password."))]
    )


class NewPasswordForm(Form):
    """Change the password."""

    current_password = PasswordField(
        lazy_gettext("Current password"), [InputRequired(lazy_gettext("Enter your current password."))]
    )
    new_password = PasswordField(
        lazy_gettext("New password"), [InputRequired(lazy_gettext("Enter a new password."))]
    )


class DeleteForm(Form):
    """Delete the account."""

    delete_password = PasswordField(
        lazy_gettext("Password"), [InputRequired(lazy_gettext("Enter your password."))]
    )
    note_texts = BooleanField(lazy_gettext("Erase the texts of my notes too"))


@dataclass
class AccountForms:
    """The forms of Settings, Account. A form that was posted and refused has its errors."""

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
    def refused(self) -> Form:
        """The form that has errors, else the first."""
        return next((form for form in (self.email, self.password, self.delete) if form.errors), self.email)


def has_password() -> bool:
    """Whether the reader's account has a password; one that a provider made has none."""
    return auth.current_reader().account.password_hash != passwords.NO_PASSWORD
