"""Forms of the classifiers pages: a rule, a rule pack, a reason, a text to test."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy.orm import Session
from wtforms import BooleanField, FileField, Form, HiddenField, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired, ValidationError

from app.core import limits, texts
from app.core.classify import facts
from app.core.classify.checks import CHECKS
from app.core.classify.rules import FACTS_ONLY, KINDS
from app.core.errors import Invalid
from app.core.permissions import Actor
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth, forms
from app.wiring import wired

P = ParamSpec("P")
T = TypeVar("T")


def write(verb: Callable[Concatenate[Session, Actor, uuid.UUID, P], T], *args: P.args, **more: P.kwargs) -> T:
    """Call a verb for the current account and community, in one transaction."""
    with wired().database.writing() as session:
        return verb(session, auth.current_actor(), auth.current_community().id, *args, **more)


KIND_WORDS = {
    "word": lazy_gettext("Word"),
    "phrase": lazy_gettext("Phrase"),
    "regex": lazy_gettext("Regular expression (RE2)"),
    "domain": lazy_gettext("Domain and its subdomains"),
    FACTS_ONLY: lazy_gettext("No words: facts only"),
}
CHECK_WORDS = {
    "luhn": lazy_gettext("Card number of any issuer (Luhn)"),
    "card": lazy_gettext("Payment card"),
    "iban": lazy_gettext("Bank account (IBAN)"),
    "ssn": lazy_gettext("Social security number (US)"),
    "phone": lazy_gettext("Telephone number"),
    "ip": lazy_gettext("IP address"),
    "address": lazy_gettext("Postal address"),
    "apart": lazy_gettext("Anything outside links"),
}
_BOUNDS = {facts.AT_LEAST: lazy_gettext("is at least"), facts.BELOW: lazy_gettext("is below")}


def _needs_pattern(form: Form, field: Any) -> None:
    if form["kind"].data != FACTS_ONLY and not (field.data or "").strip():
        raise ValidationError(_("Enter what to look for."))


def _weight(_form: Form, field: Any) -> None:
    try:
        value = float((field.data or "").strip().replace(",", "."))
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 1.0:
        raise ValidationError(_("Weight: enter a number from 0 to 1, such as 0.8."))


class RuleForm(Form):
    """A rule of the community's own pack. ``etag`` is the version of the draft that the page showed."""

    id = StringField(
        lazy_gettext("Name"), [InputRequired(lazy_gettext("Enter a name, such as spam.cheap-watches."))]
    )
    category = StringField(
        lazy_gettext("Category"), [InputRequired(lazy_gettext("Enter a category, such as spam."))]
    )
    kind = SelectField(
        lazy_gettext("Kind"), choices=forms.choices({kind: KIND_WORDS[kind] for kind in KINDS})
    )
    pattern = TextAreaField(lazy_gettext("Pattern"), [_needs_pattern], filters=[forms.whole_lines])
    weight = StringField(
        lazy_gettext("Weight"),
        [InputRequired(lazy_gettext("Enter a weight from 0 to 1.")), _weight],
        default="0.6",
    )
    unless = TextAreaField(lazy_gettext("Unless"), filters=[forms.whole_lines])
    languages = StringField(lazy_gettext("Languages"))
    check = SelectField(
        lazy_gettext("Check"),
        choices=forms.choices({"": lazy_gettext("None"), **{name: CHECK_WORDS[name] for name in CHECKS}}),
        default="",
    )
    enabled = BooleanField(lazy_gettext("On"), default=True)
    note = TextAreaField(
        lazy_gettext("Note", "of a rule"),
        [forms.at_most(limits.REASON_MAX, lazy_gettext("Note", "of a rule"))],
        filters=[forms.whole_lines],
    )
    etag = HiddenField()

    def rule(self) -> dict[str, Any]:
        """Return the typed rule in the format of a pack, without empty members."""
        pattern = (self.pattern.data or "").strip("\n")
        members: dict[str, Any] = {
            "id": (self.id.data or "").strip(),
            "category": (self.category.data or "").strip(),
            "kind": self.kind.data,
            "pattern": pattern if self.kind.data == "regex" else pattern.strip(),
            "weight": float((self.weight.data or "").strip().replace(",", ".")),
            "when": self._when(),
            "unless": [line for line in (self.unless.data or "").split("\n") if line.strip()],
            "languages": (self.languages.data or "").replace(",", " ").split(),
            "enabled": bool(self.enabled.data),
            "note": (self.note.data or "").strip(),
            "check": self.check.data or None,
        }
        return {name: value for name, value in members.items() if value not in ([], {}, "", None)}

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        for number, (fact, bound, count) in enumerate(self.conditions, start=1):
            fact.label.text = _("Fact %(number)s", number=number)
            bound.label.text = _("Fact %(number)s is", number=number)
            count.label.text = _("Fact %(number)s, number", number=number)

    @property
    def conditions(self) -> list[tuple[Any, Any, Any]]:
        """The fields of each condition: the fact, at least or below, and the number."""
        return [
            (self[f"fact_{number}"], self[f"bound_{number}"], self[f"number_{number}"])
            for number in range(1, facts.BOUNDS_MAX + 1)
        ]

    def validate(self, *args: Any, **more: Any) -> bool:
        is_valid = super().validate(*args, **more)
        seen = set()
        for fact, bound, number in self.conditions:
            if not fact.data:
                continue
            if forms.number((number.data or "").strip()) is None:
                number.errors = [_("Enter a whole number.")]
            if (fact.data, bound.data) in seen:
                fact.errors = [_("This is asked twice; change or remove one of them.")]
            seen.add((fact.data, bound.data))
        return is_valid and not any(field.errors for fields in self.conditions for field in fields)

    def _when(self) -> dict[str, dict[str, int]]:
        when: dict[str, dict[str, int]] = {}
        for fact, bound, number in self.conditions:
            if fact.data:
                when.setdefault(fact.data, {})[bound.data] = int((number.data or "0").strip())
        return when

    def explain(self, refusal: Invalid) -> None:
        """Add each problem of ``classify.rules`` to the field that it names."""
        for problem in refusal.problems:
            name = str(problem.loc[-1])
            matching = self._fields.get("fact_1" if name == "when" else name)
            message = problem.msg.removeprefix("rule " + (self.id.data or "").strip() + ": ")
            if matching is None:
                self.form_errors = [*self.form_errors, f"{name.capitalize()} {message}."]
            else:
                matching.errors = [*matching.errors, f"{matching.label.text}: {message}."]


for _number in range(1, facts.BOUNDS_MAX + 1):
    _choices = {"": lazy_gettext("None"), **{name: fact.label for name, fact in facts.FACTS.items()}}
    setattr(RuleForm, f"fact_{_number}", SelectField("", choices=forms.choices(_choices), default=""))
    setattr(
        RuleForm,
        f"bound_{_number}",
        SelectField("", choices=forms.choices(_BOUNDS), default=facts.AT_LEAST),
    )
    setattr(RuleForm, f"number_{_number}", StringField(""))


def rule_form(rule: Mapping[str, Any]) -> RuleForm:
    """Return the form with the values of a rule."""
    asked = [
        (name, bound, value)
        for name, bounds in rule.get("when", {}).items()
        for bound, value in bounds.items()
    ]
    conditions = {
        f"{part}_{number}": str(value)
        for number, condition in enumerate(asked, start=1)
        for part, value in zip(("fact", "bound", "number"), condition, strict=True)
    }
    return RuleForm(
        data={
            **rule,
            **conditions,
            "weight": f"{rule['weight']:g}",
            "unless": "\n".join(rule.get("unless", ())),
            "languages": ", ".join(rule.get("languages", ())),
            "check": rule.get("check") or "",
            "enabled": rule.get("enabled", True),
        }
    )


class PackForm(Form):
    """A whole pack as JSON: an uploaded file, or text."""

    file = FileField(lazy_gettext("File"))
    pack = TextAreaField(lazy_gettext("Or paste it here"), filters=[forms.whole_lines])
    etag = HiddenField()


class PublishForm(Form):
    """Why the rules change. ``version`` and ``etag`` are the versions of rules and draft that the page showed."""

    reason = forms.reason_field()
    version = HiddenField()
    etag = HiddenField()


class RevertForm(Form):
    """Why an old version is restored. ``version`` is the current version that the page showed."""

    reason = forms.reason_field(lazy_gettext("Reason to revert"), id="revert-reason")
    version = HiddenField(id="revert-version")


class SwitchForm(Form):
    """Switch a rule of the shipped pack off or on."""

    off = HiddenField()
    on = HiddenField()
    etag = HiddenField()


class TextForm(Form):
    """A text to score. ``which``: with the current rules, or with the draft."""

    text = TextAreaField(
        lazy_gettext("Text"),
        [
            InputRequired(lazy_gettext("Enter a text.")),
            forms.at_most(limits.CONTENT_MAX, lazy_gettext("Text")),
        ],
        filters=[forms.whole_lines],
    )
    which = SelectField(
        lazy_gettext("Rules"),
        choices=forms.choices({"in_force": lazy_gettext("In force"), "draft": lazy_gettext("Draft")}),
        default="in_force",
    )


_MOST_PROBLEMS = 20


def problem_lines(refusal: Invalid) -> Sequence[str]:
    """Return the problems of a pack, one line each: the rule, the field, and what to do."""
    lines = []
    for problem in refusal.problems[:_MOST_PROBLEMS]:
        where = [str(part) for part in problem.loc]
        if where[:1] == ["rules"] and len(where) == 3:
            place = _("Rule %(number)s, %(part)s", number=int(where[1]) + 1, part=where[2])
        else:
            place = where[-1].capitalize()
        lines.append(f"{place}: {problem.msg}.")
    omitted = len(refusal.problems) - _MOST_PROBLEMS
    return [*lines, _("… and %(count)s more.", count=texts.number(omitted))] if omitted > 0 else lines
