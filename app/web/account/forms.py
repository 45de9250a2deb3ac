"""Forms of the account pages. They check for missing values; ``core`` checks passwords and addresses."""

from dataclasses import dataclass, field

from wtforms import BooleanField, EmailField, Form, HiddenField, PasswordField, StringField
from wtforms.validators import DataRequired, InputRequired

from app.core import limits
from app.web import forms

ADDRESS = [InputRequired("Enter your email address."), forms.mail_address]


class SignUpForm(Form):
    """Create an account."""

    display_name = StringField(
        "Name", [DataRequired("Enter a name."), forms.at_most(limits.NAME_MAX, "Name")]
    )
    email = EmailField("Email", ADDRESS, filters=[forms.trimmed])
    password = PasswordField("Password", [InputRequired("Enter a password.")])


class JoinForm(Form):
    """Create the account for an invitation; its address is already known."""

    display_name = StringField(
        "Name", [DataRequired("Enter a name."), forms.at_most(limits.NAME_MAX, "Name")]
    )
    password = PasswordField("Password", [InputRequired("Enter a password.")])


class ForgotForm(Form):
    """Request a link for choosing a new password."""

    email = EmailField("Email", ADDRESS, filters=[forms.trimmed])


class ResetForm(Form):
    """Choose a new password. ``username`` is only for password managers; the server does not read it."""

    username = HiddenField()
    password = PasswordField("New password", [InputRequired("Enter a new password.")])


class NameForm(Form):
    """Change the display name."""

    display_name = StringField(
        "Name", [DataRequired("Enter a name."), forms.at_most(limits.NAME_MAX, "Name")]
    )


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

    @property
    def errors(self) -> bool:
        return any(form.errors for form in (self.name, self.email, self.password, self.delete))
