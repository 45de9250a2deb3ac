"""The form of the thresholds page: a row of fields for each current category, and one to add another."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from wtforms import BooleanField, Field, Form, HiddenField, SelectField, StringField
from wtforms.validators import InputRequired, ValidationError

from app.core import limits
from app.core.errors import Invalid
from app.core.models import Category
from app.core.policies import suggestions
from app.core.policies.drafts import SEVERITY_MAX, TARGET_MAX, CategoryDraft, draft_of, new_name
from app.core.policies.routing import default_target
from app.core.vocabulary import ReviewGroup, Verb
from app.web.categories import category_name
from app.web.forms import ReasonForm, choices

_VERBS = {
    Verb.HIDE: "Hide the post",
    Verb.DELETE: "Delete the post",
    Verb.FLAG: "Flag it for review",
    Verb.NOTIFY: "Notify the author",
}
GROUPS = {
    ReviewGroup.COMMUNITY: "Community",
    ReviewGroup.TRUSTED: "Trusted members",
    ReviewGroup.STAFF: "Staff",
}
PARTS = (
    "tier2",
    "tier2_action",
    "tier1",
    "tier1_action",
    "enabled",
    "observe_only",
    "severity",
    "target_minutes",
    "review_group",
    "remove",
)
LIVE, OF_CATEGORY = "live", "of-"
"""Values of ``preview``: asked by the page itself; and, before a category's name, to show its histogram."""
ADD = "add-"
"""Prefix of the fields of a new category. It cannot be a category's name, which has no hyphen."""


def as_threshold(text: str | None) -> float | None:
    """Parse a typed threshold, with a decimal point or comma; None if it is empty.

    Raises:
        ValidationError: it is not a number from 0 to 1.
    """
    stripped = (text or "").strip().replace(",", ".")
    if not stripped:
        return None
    try:
        value = float(stripped)
        limits.threshold("threshold", value)
    except (ValueError, Invalid):
        raise ValidationError("Enter a number from 0 to 1, such as 0.85.") from None
    return value


def as_severity(text: str | None) -> int | None:
    """Parse a typed severity; None if it is empty.

    Raises:
        ValidationError: it is not a whole number from 0 to 1,000.
    """
    written = (text or "").strip()
    if not written:
        return None
    if not (written.isascii() and written.isdigit() and int(written[:6]) <= SEVERITY_MAX):
        raise ValidationError(f"Enter a whole number from 0 to {SEVERITY_MAX:,}.")
    return int(written)


def as_minutes(text: str | None) -> int | None:
    """Parse a typed target time; None if it is empty.

    Raises:
        ValidationError: it is not a whole number of minutes, at most 30 days.
    """
    written = (text or "").strip()
    if not written:
        return None
    if not (written.isascii() and written.isdigit() and 1 <= int(written[:6]) <= TARGET_MAX):
        raise ValidationError(f"Enter whole minutes from 1 to {TARGET_MAX:,}, or leave it empty.")
    return int(written)


class _Reads:
    """Validator: ``read`` must be able to parse the typed text. The error names the row, for the summary of errors."""

    def __init__(self, read: Any) -> None:
        self._read = read

    def __call__(self, form: Form, field: Any) -> None:
        try:
            self._read(field.data)
        except ValidationError as error:
            raise ValidationError(f"{field.label.text}: {str(error)[:1].lower()}{str(error)[1:]}") from None


class ThresholdsForm(ReasonForm):
    """Reason, and the version of the values that the page showed. ``form_for`` adds the fields of the categories.

    ``preview`` says which button asked what the values would do, and ``shown`` which category's histogram is on show.
    """

    version = HiddenField()
    preview = HiddenField()
    shown = HiddenField()
    suggest = HiddenField()
    suggest_for = SelectField("Category", validate_choice=False)
    precision = StringField("Precision", default="0.95")

    names: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether the page asks by itself, because a line was dragged or a value typed."""
        return bool(self.preview.data == LIVE)

    def shown_category(self) -> str:
        """The category whose histogram is asked for; empty for none."""
        asked: str = self.preview.data or ""
        return asked.removeprefix(OF_CATEGORY) if asked.startswith(OF_CATEGORY) else self.shown.data or ""

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
        def typed(part: str) -> Any:
            return self[f"{prefix}{part}"].data

        tier2, severity = as_threshold(typed("tier2")), as_severity(typed("severity"))
        return CategoryDraft(
            name=was.name,
            tier2=was.tier2 if tier2 is None else tier2,
            tier1=as_threshold(typed("tier1")),
            tier1_action=Verb(typed("tier1_action")),
            tier2_action=Verb(typed("tier2_action")),
            enabled=bool(typed("enabled")) if prefix != ADD else True,
            observe_only=bool(typed("observe_only")),
            review_group=ReviewGroup(typed("review_group")),
            severity=was.severity if severity is None else severity,
            requires=was.requires,
            on_error=was.on_error,
            target_minutes=as_minutes(typed("target_minutes")),
        )

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
        low, high = as_threshold(tier2.data), as_threshold(tier1.data)
        if low is not None and high is not None and low > high:
            tier2.errors = [f"{tier2.label.text} must be at most {high:g}, above which it acts by itself."]
            return False
        return True

    def _addition_holds(self) -> bool:
        name = self[f"{ADD}name"]
        if not (name.data or "").strip():
            return True
        holds = self._row_holds(ADD)
        if name.data.strip() in self.names:
            name.errors = [f"{name.label.text}: {category_name(name.data.strip())} is there already."]
            return False
        return holds


def precision_of(form: ThresholdsForm) -> float:
    """Return the typed precision. An error is also added to its field.

    Raises:
        ValidationError: it is not a number that ``suggestions.suggest`` accepts.
    """
    least, most = suggestions.LEAST_PRECISION, suggestions.MOST_PRECISION
    try:
        value = float((form.precision.data or "").strip().replace(",", "."))
    except ValueError:
        value = 0.0
    if not least <= value <= most:
        refusal = f"Precision: enter a number from {least:g} to {most:g}, such as 0.95."
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
        fields[f"{name}_enabled"] = BooleanField(f"{title}: on", default=category.enabled)
        fields[f"{name}_remove"] = BooleanField(f"Remove {title}", default=False)
    new = _fields(CategoryDraft("new", 0.55), "New category", is_new=True)
    fields |= {f"{ADD}{part}": field for part, field in new.items()}
    fields[f"{ADD}name"] = StringField("New category, name", [_category_name])
    return type("ThresholdsFormOfPolicy", (ThresholdsForm,), {**fields, "names": tuple(names)})


def _category_name(form: Form, field: Any) -> None:
    written = (field.data or "").strip()
    if written:
        try:
            new_name(written)
        except Invalid as refused:
            raise ValidationError(f"New category, name: {refused.problems[0].msg}.") from None


def _fields(draft: CategoryDraft, title: str, *, is_new: bool = False) -> dict[str, Any]:
    needed = InputRequired(f"{title}, Asks people (Tier 2): enter a number from 0 to 1.")
    return {
        "tier2": StringField(
            f"{title}, Asks people (Tier 2)",
            [_Reads(as_threshold)] if is_new else [needed, _Reads(as_threshold)],
            default=f"{draft.tier2:g}",
        ),
        "tier2_action": SelectField(
            f"{title}, Tier 2 action", choices=choices(_VERBS), default=draft.tier2_action.value
        ),
        "tier1": StringField(
            f"{title}, Acts by itself (Tier 1)",
            [_Reads(as_threshold)],
            default="" if draft.tier1 is None else f"{draft.tier1:g}",
        ),
        "tier1_action": SelectField(
            f"{title}, Tier 1 action", choices=choices(_VERBS), default=draft.tier1_action.value
        ),
        "observe_only": BooleanField(f"{title}: observe only", default=draft.observe_only),
        "target_minutes": StringField(
            f"{title}, target time in minutes",
            [_Reads(as_minutes)],
            default="" if draft.target_minutes is None else str(draft.target_minutes),
            render_kw={"placeholder": str(default_target(draft.severity))},
        ),
        "severity": StringField(f"{title}, severity", [_Reads(as_severity)], default=str(draft.severity)),
        "review_group": SelectField(
            f"{title}, review group", choices=choices(GROUPS), default=draft.review_group.value
        ),
    }
