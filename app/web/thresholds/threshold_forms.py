"""The form of the thresholds page: a row of fields for each current category, and one to add another."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from wtforms import BooleanField, Field, Form, HiddenField, SelectField, StringField, TextAreaField
from wtforms.validators import InputRequired, ValidationError

from app.core import texts
from app.core.errors import Invalid
from app.core.models import Category
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, number
from app.core.thresholds import outcomes
from app.core.thresholds.drafts import FIELDS, CategoryDraft, CategoryField, draft_of, new_name
from app.core.thresholds.routing import default_target
from app.web.categories import category_name
from app.web.forms import ReasonForm, at_most, choices, whole_lines

PARTS = (*(name for name, declared in FIELDS.items() if declared.label), "remove")
LIVE, OF_CATEGORY = "live", "of-"
"""Values of ``preview``: asked by the page itself; and, before a category's name, to show it."""
ADD = "add-"
"""Prefix of the fields of a new category. It cannot be a category's name, which has no hyphen."""


def as_number(declared: CategoryField, text: str | None) -> Any:
    """Parse a typed number, with a decimal point or comma; None if it is empty.

    Raises:
        ValueError: it is not a number, not whole where it must be, or out of bounds.
    """
    written = (text or "").strip().replace(",", ".")
    if not written:
        return None
    least, most = declared.bounds or (0.0, 1.0)
    is_digits = written.isascii() and written.isdigit()
    value = int(written) if is_digits and declared.is_whole else float(written)
    if not least <= value <= most or (declared.is_whole and not is_digits):
        raise ValueError(written)
    return value


def _asked(declared: CategoryField, label: str) -> str:
    """What an error asks for. It names the row, for the summary of errors."""
    least, most = (number(bound) for bound in declared.bounds or (0, 1))
    if declared.is_whole:
        return _(
            "%(field)s: enter a whole number from %(least)s to %(most)s.", field=label, least=least, most=most
        )
    return _("%(field)s: enter a number from %(least)s to %(most)s.", field=label, least=least, most=most)


class _IsNumber:
    """Validator of a typed number."""

    def __init__(self, declared: CategoryField) -> None:
        self._declared = declared

    def __call__(self, form: Form, field: Any) -> None:
        try:
            as_number(self._declared, field.data)
        except ValueError:
            raise ValidationError(_asked(self._declared, field.label.text)) from None


class ThresholdsForm(ReasonForm):
    """Reason, and the version of the values that the page showed. ``form_for`` adds the fields of the categories.

    ``preview`` says which button asked what the values would do, and ``shown`` which category is on show.
    """

    version = HiddenField()
    preview = HiddenField()
    shown = HiddenField()
    suggest = HiddenField()
    suggest_for = SelectField(lazy_gettext("Category"), validate_choice=False)
    precision = StringField(lazy_gettext("Precision"), default="0.95")

    names: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether the page asks by itself, because a line was dragged or a value typed."""
        return bool(self.preview.data == LIVE)

    @property
    def chosen(self) -> str:
        """The category that was just chosen to be shown; empty for none."""
        asked: str = self.preview.data or ""
        return asked.removeprefix(OF_CATEGORY) if asked.startswith(OF_CATEGORY) else ""

    def __iter__(self) -> Iterator[Field]:
        """Iterate in the order of the page: categories before the reason, also in the list of errors."""
        return iter(sorted(self._fields.values(), key=lambda field: field.name in ReasonForm()))

    def process(self, formdata: Any = None, *args: Any, **kwargs: Any) -> None:
        """Keep the values of a category that the page did not have, because it was added meanwhile."""
        super().process(formdata, *args, **kwargs)
        self.suggest_for.choices = choices({name: category_name(name) for name in self.names})
        if not formdata:
            return
        for name in self.names:
            if f"{name}_tier2" not in formdata:
                for part in PARTS:
                    field = self[f"{name}_{part}"]
                    field.process_data(field.default)
                    field.raw_data = [field.default]

    def drafts(self, categories: Iterable[Category]) -> list[CategoryDraft]:
        """Return the typed categories: without the removed ones, with the added one."""
        kept_drafts = [
            self._draft(draft_of(category)) for category in categories if not self._removed(category.name)
        ]
        name = (self[f"{ADD}name"].data or "").strip()
        return [*kept_drafts, self._typed(CategoryDraft(name, 0.55), ADD)] if name else kept_drafts

    def _removed(self, name: str) -> bool:
        return name in self.names and bool(self[f"{name}_remove"].data)

    def _draft(self, was: CategoryDraft) -> CategoryDraft:
        return self._typed(was, f"{was.name}_") if was.name in self.names else was

    def _typed(self, was: CategoryDraft, prefix: str) -> CategoryDraft:
        read = {
            name: self._value(declared, self[f"{prefix}{name}"].data)
            for name, declared in FIELDS.items()
            if f"{prefix}{name}" in self
        }
        kept = {name for name, value in read.items() if value is None and not FIELDS[name].empty}
        return replace(was, **{name: value for name, value in read.items() if name not in kept})

    def _value(self, declared: CategoryField, typed: Any) -> Any:
        """What was typed; None if it is empty."""
        if declared.bounds is not None:
            return as_number(declared, typed)
        if declared.most is not None:
            return (typed or "").strip() or None
        return next((value for value in declared.choices or () if str(value) == str(typed)), None)

    def validate(self, extra_validators: Mapping[str, Any] | None = None) -> bool:
        """Validate each field, then that Tier 2 is at most Tier 1 in each row."""
        holds = super().validate(extra_validators)
        rows = [self._row_holds(f"{name}_") for name in self.names if not self._removed(name)]
        return all([*rows, self._addition_holds(), holds])

    def validate_thresholds(self) -> bool:
        """Like ``validate``, but the reason may be missing: a preview needs none."""
        self.validate()
        self.reason.errors = []
        return not self.errors

    def _row_holds(self, prefix: str) -> bool:
        tier2, tier1 = self[f"{prefix}tier2"], self[f"{prefix}tier1"]
        if tier2.errors or tier1.errors:
            return False
        low, high = (
            as_number(FIELDS[tier], field.data) for tier, field in (("tier2", tier2), ("tier1", tier1))
        )
        if low is not None and high is not None and low > high:
            tier2.errors = [
                _(
                    "%(field)s must be at most %(tier1)s, above which it acts by itself.",
                    field=tier2.label.text,
                    tier1=texts.short_number(high),
                )
            ]
            return False
        return True

    def _addition_holds(self) -> bool:
        name = self[f"{ADD}name"]
        if not (name.data or "").strip():
            return True
        holds = self._row_holds(ADD)
        if name.data.strip() in self.names:
            name.errors = [_("%(category)s is there already.", category=category_name(name.data.strip()))]
            return False
        return holds


def precision_of(form: ThresholdsForm) -> float:
    """Return the typed precision. An error is also added to its field.

    Raises:
        ValidationError: it is not a number that ``suggestions.suggest`` accepts.
    """
    least, most = outcomes.LEAST_PRECISION, outcomes.MOST_PRECISION
    try:
        value = float((form.precision.data or "").strip().replace(",", "."))
    except ValueError:
        value = 0.0
    if not least <= value <= most:
        refusal = _(
            "Precision: enter a number from %(least)s to %(most)s, such as 0.95.",
            least=texts.short_number(least),
            most=texts.short_number(most),
        )
        form.precision.errors = [refusal]
        raise ValidationError(refusal)
    return value


def form_for(categories: Sequence[Category]) -> type[ThresholdsForm]:
    """Create the form class for these categories."""
    fields: dict[str, Any] = {}
    names = []
    for category in categories:
        name, title = category.name, category_name(category.name)
        names.append(name)
        for part, field in _fields(draft_of(category), title).items():
            fields[f"{name}_{part}"] = field
        fields[f"{name}_remove"] = BooleanField(_("Remove %(category)s", category=title), default=False)
    new = _fields(CategoryDraft("new", 0.55), _("New category"), is_new=True)
    fields |= {f"{ADD}{part}": field for part, field in new.items()}
    fields[f"{ADD}name"] = StringField(_("New category, name"), [_category_name])
    return type(ThresholdsForm.__name__, (ThresholdsForm,), {**fields, "names": tuple(names)})


def _category_name(form: Form, field: Any) -> None:
    written = (field.data or "").strip()
    if written:
        try:
            new_name(written)
        except Invalid as refused:
            raise ValidationError(
                _("New category, name: %(problem)s.", problem=refused.problems[0].msg)
            ) from None


def _fields(draft: CategoryDraft, title: str, *, is_new: bool = False) -> dict[str, Any]:
    shown = {name: declared for name, declared in FIELDS.items() if declared.label}
    if is_new:
        del shown["enabled"]  # a new category is on
    return {name: _field(draft, name, declared, title, is_new=is_new) for name, declared in shown.items()}


def _field(draft: CategoryDraft, name: str, declared: CategoryField, title: str, *, is_new: bool) -> Any:
    value, label = getattr(draft, name), f"{title}, {declared.words}"
    if isinstance(value, bool):
        return BooleanField(f"{title}: {declared.label}", default=value)
    if declared.choices is not None:
        return SelectField(label, choices=choices(declared.choices), default=value.value)
    if declared.most is not None:
        return TextAreaField(
            label, [at_most(declared.most, label)], filters=[whole_lines], default=value or ""
        )
    needed = [] if is_new or name != "tier2" else [InputRequired(_asked(declared, label))]
    empty = str(default_target(draft.severity)) if name == "target_minutes" else declared.empty
    return StringField(
        label,
        [*needed, _IsNumber(declared)],
        default="" if value is None else f"{value:g}",
        render_kw={"placeholder": empty} if empty else {},
    )
