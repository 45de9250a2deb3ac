"""What the dashboard's forms share. Limits are ``core.rules``'; what the core refuses stands on its field."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from email_validator import EmailNotValidError, validate_email
from flask import request
from wtforms import Field, Form, StringField, TextAreaField, ValidationError
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # its types are older
from wtforms.validators import InputRequired

from app.core import limits
from app.core.errors import Invalid
from app.core.history.why import Why

AnyForm = TypeVar("AnyForm", bound=Form)


def posted(form: type[AnyForm], **defaults: Any) -> AnyForm:
    """The form as it was sent; ``defaults`` stand in for fields that were not."""
    return form(request.form, **defaults)


def queried(form: type[AnyForm], **defaults: Any) -> AnyForm:
    """A form of filters, from the address."""
    return form(request.args, **defaults)


def uploaded(name: str, most: int) -> bytes | None:
    """A file that was sent with the form, cut one byte after ``most``; None when none was chosen."""
    given = request.files.get(name)
    if given is None:
        return None
    with given.stream:
        return given.read(most + 1) if given.filename else None


def query_arg(name: str) -> str:
    """One parameter of the address; empty when it has none. NUL, which no database can look for, is left out."""
    return request.args.get(name, "").replace("\x00", "")


def query_args(name: str) -> list[str]:
    """Every value that the address has for this parameter."""
    return [value.replace("\x00", "") for value in request.args.getlist(name)]


def whole_address() -> list[tuple[str, str]]:
    """Every parameter of the address, in its order."""
    return [(name, value.replace("\x00", "")) for name, value in request.args.items(multi=True)]


def all_posted(name: str) -> list[str]:
    """Every value that the form was sent with under this name."""
    return request.form.getlist(name)


def number(raw: str | None, digits: int = 9) -> int | None:
    """A whole number as an address or a hidden field carries it; None for anything else, or of more ``digits``."""
    return int(raw) if raw and raw.isascii() and raw.isdigit() and len(raw) <= digits else None


def explain(form: Form, refusal: Invalid, fields: Mapping[str, str] | None = None) -> None:
    """Put what the core refused beside the field it is about; ``fields`` maps its names to the form's."""
    for problem in refusal.problems:
        name = ".".join(map(str, problem.loc))
        field = form._fields.get((fields or {}).get(name, name))
        if field is None:
            form.form_errors.append(f"{name.replace('_', ' ').capitalize()} {problem.msg}.")
        else:
            field.errors = [*field.errors, f"{field.label.text} {problem.msg}."]


def at_most(most: int, name: str) -> Callable[[Form, Field], None]:
    """A text's length in characters, as ``rules.text`` counts them.

    Not WTForms' ``Length``, which also sets ``maxlength``: browsers would cut a pasted text without a word.
    """

    def check(_form: Form, field: Field) -> None:
        length = len(field.data or "")
        if length > most:
            raise ValidationError(f"{name} must be at most {most:,} characters; it has {length:,}.")

    return check


def mail_address(_form: Form, field: Field) -> None:
    """The shape of an address, one of a local network too. Whether it is somebody's is found out by mailing it."""
    try:
        validate_email(field.data or "", check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError:
        raise ValidationError("Enter an email address such as name@example.org.") from None


def choices(words: Mapping[Any, str]) -> list[SelectChoice]:
    """The options of a select, of radios or of checkboxes: value → what people read."""
    return [SelectChoice(value=str(value), label=label) for value, label in words.items()]


def trimmed(text: str | None) -> str | None:
    """Spaces that a phone's keyboard or a copied address left around it."""
    return text.strip() if text else text


def whole_lines(text: str | None) -> str | None:
    """Browsers send line ends as CR LF; texts are kept, and counted, with LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if text else text


class ReasonForm(Form):
    """Why a moderator or operator decides; shown in the action history."""

    reason = TextAreaField(
        "Reason",
        [InputRequired("Enter a reason."), at_most(limits.REASON_MAX, "Reason")],
        filters=[whole_lines],
    )
    comment = TextAreaField(
        "Comment",
        [at_most(limits.REASON_MAX, "Comment")],
        filters=[whole_lines],
    )
    version = StringField("Version")

    def why(self) -> Why:
        """What was typed, as verbs take it."""
        return Why(self.reason.data or "", self.comment.data or "")
