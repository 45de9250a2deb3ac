"""Thresholds page: current categories, preview of changes, all versions, and reverting to one."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

from flask import Response, url_for
from wtforms import ValidationError

from app.core import clock, texts
from app.core.communities import settings as community_settings
from app.core.errors import Conflict, Invalid, NotFound
from app.core.models import Category, ThresholdSet
from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.thresholds import outcomes, previews, threshold_sets
from app.core.thresholds.drafts import FIELDS, CategoryDraft, CategoryField, draft_of
from app.core.thresholds.outcomes import Suggestion
from app.core.thresholds.previews import Preview
from app.core.vocabulary import Verb
from app.process.replica_reads import may_be_old
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.filters import excerpt, quoted
from app.web.thresholds import threshold_previews, threshold_rows
from app.web.thresholds.threshold_forms import ADD, ThresholdsForm, form_for, precision_of
from app.web.versions import rows as version_rows
from app.wiring import wired

OBSERVED_DAYS = 30
SHOWN_VERSIONS = 20


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
        None,
        url_for("web.thresholds"),
        _("Version %(number)s is in force. It applies to new posts only.", number=number),
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
    return page.done(
        None,
        url_for("web.thresholds"),
        _("Version %(old)s is restored as version %(new)s.", old=version, new=number),
    )


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
        form.shown.data = name
    return _show(form, suggestion=suggested)


def _someone_was_first(form: ThresholdsForm, refusal: Conflict) -> Response:
    """Show the form again with the typed values and the current version, so that the user can check and save again."""
    form.version.data = ""
    alert = _(
        "%(conflict)s. Your values are kept below: compare them with the list of versions, then save again.",
        conflict=refusal.detail,
    )
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
        settings = community_settings.read(session, community.id)
        in_force = [draft_of(category) for category in versions[0].categories]
    shown = form or form_for(versions[0].categories)()
    if not shown.version.data:
        shown.version.data = str(versions[0].version)
    drafts = {draft.name: draft for draft in (*in_force, *_typed(form, versions[0].categories))}
    drawn = threshold_previews.histograms(drafts, shown.names, bars)
    categories = threshold_rows.rows(shown, drawn, observed, settings)
    on_show = threshold_rows.shown(
        shown, categories, shown.chosen or shown.shown.data or forms.query_arg("category")
    )
    if form is None or form.chosen:
        shown.suggest_for.data = on_show
    return page.render(
        "thresholds/thresholds.html",
        "thresholds/_thresholds_live.html" if shown.is_live else "thresholds/_thresholds.html",
        status=status,
        alert=alert,
        form=shown,
        declared_fields=FIELDS,
        categories=categories,
        versions=version_rows(versions, SHOWN_VERSIONS, current=versions[0].version, changes=_changes),
        current=versions[0].version,
        preview=threshold_previews.view(preview, drafts) if preview is not None else None,
        histogram_days=days,
        shown=on_show,
        suggestion=suggestion,
        suggested_title=category_name(suggestion.category) if suggestion else "",
        observed_days=OBSERVED_DAYS,
    )


def _typed(form: ThresholdsForm | None, categories: Sequence[Category]) -> list[CategoryDraft]:
    """The categories as typed; none if nothing was typed or it cannot be read."""
    if form is None or form.errors:
        return []
    try:
        return form.drafts(categories)
    except ValueError:  # what is asked for may need no valid values, and then they were not validated
        return []


def _changes(before: ThresholdSet | None, after: ThresholdSet) -> list[str]:
    """Return the differences as text: "Spam, Acts by itself (Tier 1): 0.95 → 0.9"."""
    if before is None:
        return []
    old = {category.name: draft_of(category) for category in before.categories}
    new = {category.name: draft_of(category) for category in after.categories}
    lines = [_("%(category)s added", category=category_name(name)) for name in new.keys() - old.keys()]
    lines += [_("%(category)s removed", category=category_name(name)) for name in old.keys() - new.keys()]
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
        return texts.short_number(value)
    if declared.most is not None:
        return quoted(excerpt(value, 60))
    return value.value if isinstance(value, Verb) else (declared.choices or {})[value]
