"""Shared parts of the dashboard's forms. Limits come from ``core.limits``; the core's errors are shown at the field."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from email_validator import EmailNotValidError, validate_email
from flask import request
from werkzeug.datastructures import MultiDict
from wtforms import Field, Form, SelectMultipleField, StringField, TextAreaField, ValidationError
from wtforms.fields.choices import SelectChoice  # type: ignore[attr-defined]  # its type stubs are older
from wtforms.validators import InputRequired
from wtforms.widgets import CheckboxInput, ListWidget

from app.core import limits, texts
from app.core.errors import Invalid
from app.core.history.reason import Reason
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

AnyForm = TypeVar("AnyForm", bound=Form)


class MultiCheckboxField(SelectMultipleField):
    """A multiple choice as checkboxes."""

    widget = ListWidget(prefix_label=False)
    option_widget = CheckboxInput()


class SecretField(StringField):
    """A text field for a secret, which is never sent back. Not a password field: browsers offer to save those."""

    def _value(self) -> str:
        return ""


def posted(form: type[AnyForm], **defaults: Any) -> AnyForm:
    """Return the form with the posted data; ``defaults`` are used for fields that were not posted."""
    return form(request.form, **defaults)


def queried(form: type[AnyForm], **defaults: Any) -> AnyForm:
    """Return a filter form with the data of the URL's query, without NUL (``query_arg``)."""
    return form(MultiDict(all_query_args()), **defaults)


def uploaded(name: str, most: int) -> bytes | None:
    """Return the content of an uploaded file, at most ``most`` + 1 bytes of it; None if no file was chosen."""
    file = request.files.get(name)
    if file is None:
        return None
    with file.stream:
        return file.read(most + 1) if file.filename else None


def uploaded_name(name: str) -> str:
    """Return the name of an uploaded file without its folders, cut to what can be stored."""
    file = request.files.get(name)
    given = (file.filename or "") if file is not None else ""
    plain = given.replace("\\", "/").rsplit("/", 1)[-1].replace("\x00", "")
    return plain.encode("utf-8", "replace").decode()[:200] or "file"


def query_arg(name: str) -> str:
    """Return a query parameter, or an empty string. NUL is removed, because databases cannot search for it."""
    return request.args.get(name, "").replace("\x00", "")


def query_args(name: str) -> list[str]:
    """Return all values of a query parameter."""
    return [value.replace("\x00", "") for value in request.args.getlist(name)]


def all_query_args() -> list[tuple[str, str]]:
    """Return all query parameters of the URL in their order."""
    return [(name, value.replace("\x00", "")) for name, value in request.args.items(multi=True)]


def posted_values(name: str) -> list[str]:
    """Return all posted values of a form field."""
    return request.form.getlist(name)


def number(raw: str | None, digits: int = 9) -> int | None:
    """Parse a whole number from a URL or a hidden field. Returns None for other text or more than ``digits`` digits."""
    return int(raw) if raw and raw.isascii() and raw.isdigit() and len(raw) <= digits else None


def explain(
    form: Form,
    refusal: Invalid,
    fields: Mapping[str, str] | None = None,
    *,
    sentences: Collection[str] = (),
) -> None:
    """Add the core's errors to the fields they are about. ``fields`` maps the core's field names to the form's.

    Errors of the core's fields in ``sentences`` are whole sentences, so they do not begin with the field's label.
    """
    for problem in refusal.problems:
        name = ".".join(map(str, problem.loc))
        field = form._fields.get((fields or {}).get(name, name))
        if field is None:
            form.form_errors.append(f"{name.replace('_', ' ').capitalize()} {problem.msg}.")
        else:
            field.errors = [
                *field.errors,
                f"{problem.msg}."
                if name in sentences
                else _("%(field)s %(problem)s.", field=field.label.text, problem=problem.msg),
            ]


def at_most(most: int, name: str) -> Callable[[Form, Field], None]:
    """Return a validator of a text's length in characters, counted like ``limits.text``.

    WTForms' ``Length`` is not used because it also sets ``maxlength``, and browsers then cut pasted text silently.
    """

    def check(_form: Form, field: Field) -> None:
        length = len(field.data or "")
        if length > most:
            raise ValidationError(
                _(
                    "%(field)s must be at most %(most)s characters; it has %(length)s.",
                    field=name,
                    most=texts.number(most),
                    length=texts.number(length),
                )
            )

    return check


def mail_address(_form: Form, field: Field) -> None:
    """Validate the syntax of an e-mail address, also of local networks. Only a mail can tell whether it exists."""
    try:
        validate_email(field.data or "", check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError:
        raise ValidationError(_("Enter an email address such as name@example.org.")) from None


def choices(words: Mapping[Any, str]) -> list[SelectChoice]:
    """Return the options of a select, of radio buttons or of checkboxes. ``words`` maps values to labels."""
    return [SelectChoice(value=str(value), label=label) for value, label in words.items()]


def trimmed(text: str | None) -> str | None:
    """Remove spaces around a text, which phone keyboards and copying often add."""
    return text.strip() if text else text


def whole_lines(text: str | None) -> str | None:
    """Convert line ends to LF: browsers send CR LF, but we store and count texts with LF."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if text else text


REASON = lazy_gettext("Reason")
_MISSING: Mapping[str, str] = {
    REASON: lazy_gettext("Enter a reason."),
    "Reason for the change": lazy_gettext("Enter a reason for the change."),
    "Reason for the strike": lazy_gettext("Enter a reason for the strike."),
    "Reason to lift it": lazy_gettext("Enter a reason to lift it."),
    "Reason to revert": lazy_gettext("Enter a reason to revert."),
}
"""What is said where the reason is missing, by the field's label."""


def reason_field(label: str = REASON, *, required: bool = True, **more: Any) -> TextAreaField:
    """Return a field for the reason of a change; ``label`` is one of ``_MISSING``."""
    wanted = [InputRequired(_MISSING[label])] if required else []
    return TextAreaField(label, [*wanted, at_most(limits.REASON_MAX, label)], filters=[whole_lines], **more)


class WhyForm(Form):
    """Why something is done that has nothing else to fill in."""

    reason = reason_field()


class ReasonForm(Form):
    """The reason and comment of a decision; shown in the action history."""

    reason = reason_field()
    comment = TextAreaField(
        lazy_gettext("Comment"),
        [at_most(limits.REASON_MAX, lazy_gettext("Comment"))],
        filters=[whole_lines],
    )
    version = StringField()

    @property
    def typed_texts(self) -> list[str]:
        """The texts that were typed, for a page that has no field for them any more."""
        return [text for text in (self.reason.data, self.comment.data) if text]

    def typed_reason(self) -> Reason:
        """What was typed, as verbs take it."""
        return Reason(self.reason.data or "", self.comment.data or "")
