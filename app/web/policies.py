"""Thresholds: the categories in force, what a change would do, every version and the way back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.core import clock, policies
from app.core.errors import Conflict, Invalid
from app.core.models import Policy
from app.core.permissions import Permission
from app.core.policies import CategoryDraft, Effect
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.threshold_forms import ThresholdsForm, form_for
from app.web.view_models import category_name
from app.wiring import wired

URL = "/thresholds"
PREVIEW_DAYS = 30
SHOWN_VERSIONS = 20


@dataclass(frozen=True)
class VersionRow:
    """A version as the list shows it; ``changes`` are against the version before it."""

    number: int
    made_by: str
    made_at: datetime
    reason: str
    changes: Sequence[str]
    is_current: bool


@dataclass(frozen=True)
class CategoryRow:
    """A category as the form shows it: its fields by part, beside its name and meaning."""

    title: str
    meaning: str
    fields: Mapping[str, Any]


@web.get("/thresholds")
@auth.needs(Permission.REVISE_POLICY)
def thresholds() -> Response:
    return _show()


@web.post("/thresholds")
@auth.needs(Permission.REVISE_POLICY)
def save_thresholds() -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        categories = policies.current(session, community.id).categories
        form = forms.posted(form_for(categories))
        if form.preview.data:
            return _preview(session, form, categories)
    if not forms.filled_in(form):
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            made = policies.revise(
                session,
                actor,
                community.id,
                form.drafts(categories),
                form.reason.data or "",
                based_on=_based_on(form),
            )
            number = made.version
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(None, URL, f"Version {number} is in force. It applies to new content only.")


@web.post("/thresholds/<int:version>/revert")
@auth.needs(Permission.REVISE_POLICY)
def revert_thresholds(version: int) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        form = forms.posted(form_for(policies.current(session, community.id).categories))
    if not form.reason.validate(form):
        return _show(form, status=422)
    try:
        with wired().database.writing() as session:
            made = policies.revert(
                session, actor, community.id, version, form.reason.data or "", based_on=_based_on(form)
            )
            number = made.version
    except Invalid as refusal:
        forms.explain(form, refusal)
        return _show(form, status=422)
    except Conflict as refusal:
        return _someone_was_first(form, refusal)
    return page.done(None, URL, f"Version {version} is restored as version {number}.")


def _preview(session: Session, form: ThresholdsForm, categories: Sequence[Any]) -> Response:
    """What the typed values would have done; a reason is not needed to look."""
    if not form.validate_thresholds():
        return _show(form, status=422)
    drafts = form.drafts(categories)
    since = clock.now() - timedelta(days=PREVIEW_DAYS)
    effects = policies.replay(session, auth.current_actor(), auth.current_community().id, drafts, since)
    return _show(form, effects={category_name(name): effect for name, effect in effects.items()})


def _someone_was_first(form: ThresholdsForm, refusal: Conflict) -> Response:
    """What was typed stays, now based on the version in force, so that saving again is a decision."""
    form.version.data = ""
    alert = f"{refusal.detail}. Your values are kept below: compare them with the list of versions, then save again."
    return _show(form, status=409, alert=alert)


def _show(
    form: ThresholdsForm | None = None,
    *,
    status: int = 200,
    alert: str | None = None,
    effects: Mapping[str, tuple[Effect, Effect]] | None = None,
) -> Response:
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        versions = policies.versions(session, actor, community.id)
    shown = form or form_for(versions[0].categories)()
    if not shown.version.data:
        shown.version.data = str(versions[0].version)
    return page.render(
        "thresholds.html",
        "_thresholds.html",
        status=status,
        alert=alert,
        form=shown,
        categories=[_row(shown, name) for name in shown.names],
        versions=_version_rows(versions),
        current=versions[0].version,
        effects=effects,
        preview_days=PREVIEW_DAYS,
    )


def _row(form: ThresholdsForm, name: str) -> CategoryRow:
    parts = ("enabled", "tier2", "tier2_action", "tier1", "tier1_action")
    return CategoryRow(
        category_name(name), policies.describe(name), {part: form[f"{name}_{part}"] for part in parts}
    )


def _version_rows(versions: Sequence[Policy]) -> list[VersionRow]:
    """Newest first, as they come; the oldest has nothing before it."""
    older: list[Policy | None] = [*versions[1:], None]
    return [
        VersionRow(
            number=policy.version,
            made_by=policy.made_by,
            made_at=policy.created_at,
            reason=policy.reason,
            changes=_changes(before, policy) if before is not None else [],
            is_current=policy is versions[0],
        )
        for policy, before in list(zip(versions, older, strict=True))[:SHOWN_VERSIONS]
    ]


def _changes(before: Policy, after: Policy) -> list[str]:
    """What differs, in words: "Spam, Tier 1: 0.95 → 0.9"."""
    old = {category.name: policies.draft_of(category) for category in before.categories}
    new = {category.name: policies.draft_of(category) for category in after.categories}
    lines = [f"{category_name(name)} added" for name in new.keys() - old.keys()]
    lines += [f"{category_name(name)} removed" for name in old.keys() - new.keys()]
    for name in sorted(old.keys() & new.keys()):
        for label, was, now in _parts(old[name], new[name]):
            if was != now:
                lines.append(f"{category_name(name)}, {label}: {was} → {now}")
    return lines


def _parts(old: CategoryDraft, new: CategoryDraft) -> list[tuple[str, str, str]]:
    def bound(value: float | None) -> str:
        return "never" if value is None else f"{value:g}"

    return [
        ("Tier 2", bound(old.tier2), bound(new.tier2)),
        ("Tier 1", bound(old.tier1), bound(new.tier1)),
        ("Tier 2 action", old.tier2_action.value, new.tier2_action.value),
        ("Tier 1 action", old.tier1_action.value, new.tier1_action.value),
        ("state", "on" if old.enabled else "off", "on" if new.enabled else "off"),
    ]


def _based_on(form: ThresholdsForm) -> int | None:
    raw = form.version.data or ""
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) <= 9 else None
