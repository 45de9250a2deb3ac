"""The categories of the thresholds page: each with its fields, its histogram and what is measured about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.core import texts
from app.core.actions import author_texts
from app.core.classify import Classifier
from app.core.classify.seed import SeedClassifier
from app.core.communities.settings import CommunitySettings
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import FIELDS
from app.core.thresholds.threshold_sets import Observed
from app.web.categories import category_name
from app.web.filters import percent
from app.web.thresholds.threshold_forms import ADD, PARTS, ThresholdsForm
from app.web.thresholds.threshold_previews import Histogram
from app.wiring import wired

FEW = 100
"""Below this number of posts, the sentence says that few were measured."""


@dataclass(frozen=True)
class CategoryRow:
    """A category in the form: its fields by part, its title, description and histogram.

    ``is_addition``: its fields add a category. ``is_open``: the fields that are folded at first have values.
    ``observed``: what observing would have done. ``expected``: what the shipped classifiers do at this Tier 2, as a
    sentence. ``shipped_text``: what authors are told while the community has no text of its own.
    """

    name: str
    title: str
    meaning: str
    fields: Mapping[str, Any]
    histogram: Histogram
    is_addition: bool = False
    is_open: bool = False
    observed: Observed | None = None
    expected: str | None = None
    shipped_text: str | None = None

    @property
    def has_errors(self) -> bool:
        return any(field.errors for field in self.fields.values())

    @property
    def state(self) -> str:
        """Whether its scores lead to anything."""
        if not self.fields["enabled"].data:
            return _("Off")
        return _("Observes only") if self.fields["observe_only"].data else _("On")

    def verb_of(self, tier: str) -> str:
        """Return the words of what is done above this threshold."""
        field = self.fields[f"{tier}_action"]
        return next((words for _, words, is_chosen, _ in field.iter_choices() if is_chosen), "")


def rows(
    form: ThresholdsForm,
    histograms: Mapping[str, Histogram],
    observed: Mapping[str, Observed],
    settings: CommunitySettings,
) -> list[CategoryRow]:
    """Return the categories in force, and the fields that add one."""
    addition = {part: form[f"{ADD}{part}"] for part in ("name", *PARTS) if f"{ADD}{part}" in form}
    return [
        *(_row(form, name, histograms[name], observed.get(name), settings) for name in form.names),
        CategoryRow(
            ADD,
            _("New category"),
            "",
            addition,
            histograms[ADD],
            is_addition=True,
            is_open=_folded_errors(addition),
        ),
    ]


def shown(form: ThresholdsForm, rows: Sequence[CategoryRow], asked: str) -> str:
    """Return the category on show: the one that was asked for, or that was changed, or the first."""
    names = [row.name for row in rows]
    changed = [
        name
        for name in form.names
        if any(form[f"{name}_{tier}"].data != form[f"{name}_{tier}"].default for tier in ("tier2", "tier1"))
    ]
    return next(name for name in (asked, *changed, *names) if name in names)


def _row(
    form: ThresholdsForm,
    name: str,
    histogram: Histogram,
    observed: Observed | None,
    settings: CommunitySettings,
) -> CategoryRow:
    fields = {part: form[f"{name}_{part}"] for part in PARTS}
    return CategoryRow(
        name,
        category_name(name),
        threshold_sets.describe(name),
        fields,
        histogram,
        is_open=bool(fields["remove"].data) or _folded_errors(fields),
        observed=observed,
        expected=expectation(wired().classifiers, name, str(fields["tier2"].data or "")),
        shipped_text=author_texts.shipped(settings, name),
    )


def _folded_errors(fields: Mapping[str, Any]) -> bool:
    return any(fields[part].errors for part in FIELDS if part in fields and FIELDS[part].is_folded)


def expectation(classifiers: Sequence[Classifier], category: str, threshold: str) -> str | None:
    """A sentence for the Thresholds page, or None: unknown category, no valid threshold, other classifiers.

    ``threshold`` is what the field holds.
    """
    model = next((classifier for classifier in classifiers if isinstance(classifier, SeedClassifier)), None)
    curve = model.curve(category) if model is not None else None
    try:
        value = float(threshold)
    except ValueError:
        return None
    if curve is None or not 0.0 <= value <= 1.0:
        return None
    caught, raised = curve.shares_at(value)
    found = _(
        "In tests on other forums, a Tier 2 of %(tier2)s asked people about %(caught)s of such posts and %(raised)s of "
        "ordinary talk.",
        tier2=texts.short_number(value),
        caught=percent(caught),
        raised=_("less than 0.1 %%") if raised < 0.001 else percent(raised, 1),
    )
    if curve.posts >= FEW:
        return found
    few = ngettext("Measured on %(num)s post only.", "Measured on %(num)s posts only.", curve.posts)
    return f"{found} {few}"
