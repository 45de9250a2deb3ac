"""Thresholds page: current categories, preview of changes, all versions, and reverting to one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from flask import Response, url_for
from wtforms import ValidationError

from app.core import clock
from app.core.actions import author_texts
from app.core.classify import Classifier
from app.core.classify.seed import SeedClassifier
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.errors import Conflict, Invalid, NotFound
from app.core.models import Category, ThresholdSet
from app.core.permissions import Permission
from app.core.thresholds import outcomes, previews, threshold_sets
from app.core.thresholds.drafts import FIELDS, CategoryDraft, CategoryField, draft_of
from app.core.thresholds.outcomes import Suggestion
from app.core.thresholds.previews import Preview
from app.core.thresholds.threshold_sets import Observed
from app.core.vocabulary import Verb
from app.process.replica_reads import may_be_old
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.filters import excerpt, percent
from app.web.thresholds import threshold_previews
from app.web.thresholds.threshold_forms import ADD, PARTS, ThresholdsForm, form_for, precision_of
from app.web.thresholds.threshold_previews import Histogram
from app.web.versions import rows as version_rows
from app.wiring import wired

OBSERVED_DAYS = 30
SHOWN_VERSIONS = 20


@dataclass(frozen=True)
class CategoryRow:
    """A category in the form: its fields by part, its name and its description.

    ``is_open``: the fields that are folded at first have values. ``observed``: what observing would have done.
    ``expected``: what the shipped classifiers do at this Tier 2, as a sentence. ``shipped_text``: what authors are told
    while the community has no text of its own.
    """

    name: str
    title: str
    meaning: str
    fields: Mapping[str, Any]
    is_open: bool
    observed: Observed | None = None
    expected: str | None = None
    shipped_text: str | None = None


@web.get("/thresholds")
@auth.needs(Permission.REVISE_POLICY)
def thresholds() -> Response:
    return _show()


@web.post("/thresholds")
@auth.needs(Permission.REVISE_POLICY)
def save_thresholds() -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        categories = threshold_sets.current(session, community.id).categories
        form = forms.posted(form_for(categories))
    if form.preview.data:
        return _preview(form, categories)
    if form.suggest.data:
        return _suggest(form)
    if not form.validate():
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            saved = threshold_sets.revise(
                session,
                actor,
                community.id,
                form.drafts(categories),
                form.reason.data or "",
                based_on=forms.number(form.version.data),
            )
            number = saved.version
    except Invalid as refusal:
        forms.explain(form, refusal, {"name": f"{ADD}name"})
        return _show(form, status=422)
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(
        None, url_for("web.thresholds"), f"Version {number} is in force. It applies to new content only."
    )


@web.post("/thresholds/<int:version>/revert")
@auth.needs(Permission.REVISE_POLICY)
def revert_thresholds(version: int) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        form = forms.posted(form_for(threshold_sets.current(session, community.id).categories))
    if not form.reason.validate(form):
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            reverted = threshold_sets.revert(
                session,
                actor,
                community.id,
                version,
                form.reason.data or "",
                based_on=forms.number(form.version.data),
            )
            number = reverted.version
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(None, url_for("web.thresholds"), f"Version {version} is restored as version {number}.")


@may_be_old
def _preview(form: ThresholdsForm, categories: Sequence[Any]) -> Response:
    """Show what the typed values would have done; this needs no reason."""
    if not form.validate_thresholds():
        return _show(form, status=422)
    drafts = form.drafts(categories)
    try:
        with wired().database.reading() as session:
            preview = previews.preview(session, auth.current_actor(), auth.current_community().id, drafts)
    except Invalid as refusal:
        forms.explain(form, refusal, {"name": f"{ADD}name"})
        return _show(form, status=422)
    return _show(form, preview=preview)


@may_be_old
def _suggest(form: ThresholdsForm) -> Response:
    """Fill in the Tier 1 values that past outcomes suggest; everything else stays as typed."""
    name = form.suggest_for.data or ""
    try:
        precision = precision_of(form)
        if name not in form.names:
            raise NotFound("category")
        with wired().database.reading() as session:
            suggested = outcomes.suggest(
                session, auth.current_actor(), auth.current_community().id, name, precision
            )
    except ValidationError:
        return _show(form, status=422)
    if suggested.tier1 is not None:
        form[f"{name}_tier1"].data = f"{suggested.tier1:g}"
    return _show(form, suggestion=suggested)


def _someone_was_first(form: ThresholdsForm, refusal: Conflict) -> Response:
    """Show the form again with the typed values and the current version, so that the user can check and save again."""
    form.version.data = ""
    alert = f"{refusal.detail}. Your values are kept below: compare them with the list of versions, then save again."
    return _show(form, status=409, alert=alert)


def _show(
    form: ThresholdsForm | None = None,
    *,
    status: int = 200,
    alert: str | None = None,
    preview: Preview | None = None,
    suggestion: Suggestion | None = None,
) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        versions = threshold_sets.versions(session, actor, community.id)
        since = clock.now() - timedelta(days=OBSERVED_DAYS)
        observed = threshold_sets.observed(session, actor, community.id, since)
        days, bars = (
            (preview.periods[-1].days, preview.histograms)
            if preview is not None
            else previews.histograms(session, actor, community.id)
        )
        drawn = threshold_previews.histograms(_drafts(form, versions[0].categories), bars)
        settings = community_settings.read(session, community.id)
    shown = form or form_for(versions[0].categories)()
    if not shown.version.data:
        shown.version.data = str(versions[0].version)
    return page.render(
        "thresholds/thresholds.html",
        "thresholds/_thresholds_live.html" if shown.is_live else "thresholds/_thresholds.html",
        status=status,
        alert=alert,
        form=shown,
        declared_fields=FIELDS,
        categories=[_row(shown, name, observed.get(name), settings) for name in shown.names],
        addition={part: shown[f"{ADD}{part}"] for part in ("name", *PARTS) if f"{ADD}{part}" in shown},
        versions=version_rows(versions, SHOWN_VERSIONS, current=versions[0].version, changes=_changes),
        current=versions[0].version,
        preview=threshold_previews.view(preview) if preview is not None else None,
        histograms=drawn,
        histogram_days=days,
        shown=_shown(shown, drawn),
        suggestion=suggestion,
        suggested_title=category_name(suggestion.category) if suggestion else "",
        observed_days=OBSERVED_DAYS,
    )


def _drafts(form: ThresholdsForm | None, categories: Sequence[Category]) -> list[CategoryDraft]:
    """The categories as typed, or as they are in force if nothing was typed or it cannot be read."""
    in_force = [draft_of(category) for category in categories]
    if form is None or form.errors:
        return in_force
    try:
        return form.drafts(categories)
    except ValueError:  # what is asked for may need no valid values, and then they were not validated
        return in_force


def _shown(form: ThresholdsForm, drawn: Sequence[Histogram]) -> str:
    """The category whose histogram is shown: the one that was asked for, or that was changed, or the first."""
    asked = form.shown_category() or forms.query_arg("category")
    names = [histogram.name for histogram in drawn]
    changed = [
        name
        for name in names
        if name in form.names
        and any(form[f"{name}_{tier}"].data != form[f"{name}_{tier}"].default for tier in ("tier2", "tier1"))
    ]
    return next((name for name in (asked, *changed, *names) if name in names), "")


def _row(
    form: ThresholdsForm, name: str, observed: Observed | None, settings: CommunitySettings
) -> CategoryRow:
    fields = {part: form[f"{name}_{part}"] for part in PARTS}
    is_open = bool(
        fields["remove"].data or any(fields[part].errors for part in FIELDS if FIELDS[part].is_folded)
    )
    expected = expectation(wired().classifiers, name, str(fields["tier2"].data or ""))
    return CategoryRow(
        name,
        category_name(name),
        threshold_sets.describe(name),
        fields,
        is_open,
        observed,
        expected,
        author_texts.shipped(settings, name),
    )


def _changes(before: ThresholdSet | None, after: ThresholdSet) -> list[str]:
    """Return the differences as text: "Spam, Acts by itself (Tier 1): 0.95 → 0.9"."""
    if before is None:
        return []
    old = {category.name: draft_of(category) for category in before.categories}
    new = {category.name: draft_of(category) for category in after.categories}
    lines = [f"{category_name(name)} added" for name in new.keys() - old.keys()]
    lines += [f"{category_name(name)} removed" for name in old.keys() - new.keys()]
    for name in sorted(old.keys() & new.keys()):
        for label, was, now in _parts(old[name], new[name]):
            if was != now:
                lines.append(f"{category_name(name)}, {label}: {was} → {now}")
    return lines


def _parts(old: CategoryDraft, new: CategoryDraft) -> Iterator[tuple[str, str, str]]:
    for name, declared in FIELDS.items():
        if declared.label:
            was, now = (_words(declared, getattr(draft, name)) for draft in (old, new))
            yield declared.words, was, now


def _words(declared: CategoryField, value: Any) -> str:
    if value is None:
        return declared.empty
    if declared.bounds is not None:
        return f"{value:g}"
    if declared.most is not None:
        return f"“{excerpt(value, 60)}”"
    return value.value if isinstance(value, Verb) else (declared.choices or {})[value]


FEW = 100
"""Below this number of posts, the sentence says that few were measured."""


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
    few = f" Measured on {curve.posts} posts only." if curve.posts < FEW else ""
    return (
        f"On sources it had not seen, this Tier 2 asked people about some {percent(caught)} of such posts "
        f"and {_small(raised)} of ordinary talk.{few}"
    )


def _small(share: float) -> str:
    return "less than 0.1 %" if share < 0.001 else percent(share, 1)
