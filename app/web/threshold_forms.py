"""The form of the thresholds page: a row of fields for each category of the policy in force."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from wtforms import BooleanField, Field, Form, HiddenField, SelectField, StringField
from wtforms.validators import InputRequired, ValidationError

from app.core import rules
from app.core.errors import Invalid
from app.core.models import Category
from app.core.policies import CategoryDraft, draft_of
from app.core.vocabulary import Verb
from app.web.forms import ReasonForm, choices
from app.web.view_models import category_name

_VERBS = {
    Verb.HIDE: "Hide the post",
    Verb.DELETE: "Delete the post",
    Verb.FLAG: "Flag it for review",
    Verb.NOTIFY: "Notify the author",
}


def as_threshold(text: str | None) -> float | None:
    """A threshold as it was typed, with a point or a comma; None when nothing was.

    Raises:
        ValidationError: not a number from 0 to 1.
    """
    written = (text or "").strip().replace(",", ".")
    if not written:
        return None
    try:
        value = float(written)
        rules.threshold("threshold", value)
    except (ValueError, Invalid):
        raise ValidationError("Enter a number from 0 to 1, such as 0.85.") from None
    return value


class _Threshold:
    def __call__(self, form: Form, field: Any) -> None:
        try:
            as_threshold(field.data)
        except ValidationError as error:
            # The field's label stands in a table's row; in the summary above it must say which row.
            raise ValidationError(f"{field.label.text}: {str(error)[:1].lower()}{str(error)[1:]}") from None


class ThresholdsForm(ReasonForm):
    """Reason, and the version that the values were read from. ``form_for`` adds the categories' fields."""

    version = HiddenField()
    preview = HiddenField()

    names: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Field]:
        """In the order of the page: the categories stand above the reason, also in the list of errors."""
        return iter(sorted(self._fields.values(), key=lambda field: field.name in ReasonForm()))

    def drafts(self, categories: Iterable[Category]) -> list[CategoryDraft]:
        """What was typed as categories. What the page does not show stays as it is."""
        return [self._draft(draft_of(category)) for category in categories]

    def _draft(self, was: CategoryDraft) -> CategoryDraft:
        if was.name not in self.names:
            return was
        typed = {part: self[f"{was.name}_{part}"].data for part in ("tier2", "tier1")}
        tier2 = as_threshold(typed["tier2"])
        return CategoryDraft(
            name=was.name,
            tier2=was.tier2 if tier2 is None else tier2,
            tier1=as_threshold(typed["tier1"]),
            tier1_action=Verb(self[f"{was.name}_tier1_action"].data),
            tier2_action=Verb(self[f"{was.name}_tier2_action"].data),
            enabled=bool(self[f"{was.name}_enabled"].data),
            review_group=was.review_group,
            severity=was.severity,
            requires=was.requires,
            on_error=was.on_error,
            combine=was.combine,
        )

    def validate(self, extra_validators: Mapping[str, Any] | None = None) -> bool:
        """Each field, then Tier 2 at most Tier 1 in each row."""
        holds = super().validate(extra_validators)
        return self._rows_hold() and holds

    def validate_thresholds(self) -> bool:
        """As ``validate``, whatever the reason is: a preview needs none."""
        self.validate()
        self.reason.errors = []
        return not self.errors

    def _rows_hold(self) -> bool:
        holds = True
        for name in self.names:
            tier2, tier1 = self[f"{name}_tier2"], self[f"{name}_tier1"]
            if tier2.errors or tier1.errors:
                continue
            low, high = as_threshold(tier2.data), as_threshold(tier1.data)
            if low is not None and high is not None and low > high:
                tier2.errors = [f"{tier2.label.text} must be at most Tier 1, which is {high:g}."]
                holds = False
        return holds


def form_for(categories: Iterable[Category]) -> type[ThresholdsForm]:
    """The form class for these categories."""
    fields: dict[str, Any] = {}
    names = []
    for category in categories:
        name, title = category.name, category_name(category.name)
        names.append(name)
        for part, field in _fields(category, title).items():
            fields[f"{name}_{part}"] = field
    return type("ThresholdsFormOfPolicy", (ThresholdsForm,), {**fields, "names": tuple(names)})


def _fields(category: Category, title: str) -> dict[str, Any]:
    return {
        "enabled": BooleanField(f"{title}: on", default=category.enabled),
        "tier2": StringField(
            f"{title}, Tier 2",
            [InputRequired(f"{title}, Tier 2: enter a number from 0 to 1."), _Threshold()],
            default=f"{category.tier2:g}",
        ),
        "tier2_action": SelectField(
            f"{title}, Tier 2 action",
            choices=choices(_VERBS),
            default=category.tier2_action.value,
        ),
        "tier1": StringField(
            f"{title}, Tier 1",
            [_Threshold()],
            default="" if category.tier1 is None else f"{category.tier1:g}",
        ),
        "tier1_action": SelectField(
            f"{title}, Tier 1 action",
            choices=choices(_VERBS),
            default=category.tier1_action.value,
        ),
    }
