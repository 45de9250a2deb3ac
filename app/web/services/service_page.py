"""The page of one connected service: its state, figures, settings, versions, and what it changes."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from flask import Response
from sqlalchemy.orm import Session
from wtforms import Form

from app.core import clock
from app.core.factcheck import spaces
from app.core.models import Account, ConnectedService, ThresholdSet
from app.core.services import calls, figures, measuring, reading
from app.core.services.figures import Record
from app.core.services.settings import NAME_PREFIX, ServiceSettings
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.web import auth, page
from app.web.categories import category_name
from app.web.filters import full_time
from app.web.history.setting_words import words
from app.web.services.service_forms import (
    KeyForm,
    MeasureForm,
    ModeForm,
    RemoveForm,
    RequireForm,
    SettingsForm,
    VersionForm,
    form_data,
    require_form,
    settings_form,
)
from app.web.services.service_words import progress_line, words_of
from app.wiring import wired

MONTH = 30
_LABELS = {
    "url": "URL",
    "model": lazy_gettext("Model"),
    "options": lazy_gettext("Its own settings"),
    "categories": lazy_gettext("Categories"),
    "may_act": lazy_gettext("May act by itself (Tier 1)"),
    "deadline": lazy_gettext("Seconds for one call"),
    "concurrency": lazy_gettext("Calls at once"),
    "daily_requests": lazy_gettext("Calls a day, at most"),
    "daily_cost": lazy_gettext("Cost a day, at most"),
    "price": lazy_gettext("Price of 1,000 calls"),
}


def show(
    service_id: uuid.UUID,
    *,
    status: int = 200,
    alert: str | None = None,
    compared: Any = None,
    tried: Any = None,
    **posted: Form,
) -> Response:
    """Render the page; ``posted`` is a form that has errors, by its name: settings, key, mode, version, remove,
    required or measure. ``compared`` and ``tried`` are results to show.
    """
    actor, pool = auth.current_actor(), wired().services
    with wired().database.reading() as session:
        service = reading.find(session, actor, service_id)
        auth.enter(service.community_id)
        versions = reading.versions(session, service)
        used = reading.numbered(session, service, service.version)
        thresholds = threshold_sets.current(session, service.community_id)
        today = calls.period(session, [service_id], 1)[service_id]
        month = calls.period(session, [service_id], MONTH)[service_id]
        record = figures.records(session, actor, service.community_id).get(name_of(service), Record())
        measured = measuring.by_version(session, service)
        consents = _consents(session, service)
        vectors = [
            progress_line(progress, today)
            for progress in spaces.progress(session, pool, service.community_id)
            if progress.service.id == service_id
        ]
    newest = ServiceSettings.from_json(versions[0][0].settings)
    in_use = ServiceSettings.from_json(used.settings)
    kind = pool.kinds.get(service.kind)
    base = settings_form(kind, SettingsForm) if kind is not None else SettingsForm
    shown: dict[str, Any] = {
        "settings": base(data=form_data(newest)),
        "key": KeyForm(),
        "mode": ModeForm(),
        "version": VersionForm(),
        "remove": RemoveForm(),
        "required": _require_form(service, in_use, thresholds)(),
        # The field holds the name of the last pressed button after an error; the page's buttons say their own.
        "measure": MeasureForm(),
    } | posted
    for form in shown.values():
        if "etag" in form:
            form["etag"].data = form["etag"].data or str(service.etag)
    return page.render(
        "services/service.html",
        status=status,
        alert=alert,
        service=service,
        kind=kind,
        in_use=in_use,
        words=words_of(kind),
        vectors=vectors,
        form=next((form for form in shown.values() if form.errors), shown["settings"]),
        **shown,
        measured=measured,
        today=today,
        month=month,
        record=record,
        consents=consents,
        versions=_rows(service, versions),
        waiting=versions[0][0].version if versions[0][0].version > service.version else None,
        unrouted=sorted(in_use.routed - {category.name for category in thresholds.categories}),
        category_names={name: category_name(name) for name in sorted(in_use.routed)},
        known_categories=[category.name for category in thresholds.categories],
        model_changed=service.model_changed_at is not None
        and (clock.now() - service.model_changed_at).days < MONTH,
        compared=compared,
        tried=tried,
    )


def name_of(service: ConnectedService) -> str:
    """The service's name in scores and evidence."""
    return f"{NAME_PREFIX}{service.name}"


def require_form_of(service: ConnectedService) -> type[RequireForm]:
    """The form class of what happens when this service fails."""
    with wired().database.reading() as session:
        used = reading.numbered(session, service, service.version)
        thresholds = threshold_sets.current(session, service.community_id)
    return _require_form(service, ServiceSettings.from_json(used.settings), thresholds)


def _require_form(
    service: ConnectedService, settings: ServiceSettings, thresholds: ThresholdSet
) -> type[RequireForm]:
    scored = [category for category in thresholds.categories if category.name in settings.routed]
    return require_form(
        {category.name: category_name(category.name) for category in scored},
        {
            category.name: category.on_error if name_of(service) in category.requires else None
            for category in scored
        },
    )


def _consents(session: Session, service: ConnectedService) -> list[tuple[str, str, str]]:
    """Each host that may be sent posts, when an operator agreed, and who."""
    rows = []
    for host, consent in sorted(service.consents.items()):
        account_id = consent.get("account_id")
        account = session.get(Account, uuid.UUID(account_id)) if account_id else None
        at = full_time(datetime.fromisoformat(consent["at"]))
        rows.append((host, at, account.display_name if account else "Bridgenote"))
    return rows


def _rows(service: ConnectedService, versions: Sequence[Any]) -> list[dict[str, Any]]:
    """The versions of the settings, each with its differences from the one before."""
    rows = []
    for place, (version, made_by) in enumerate(versions):
        before = versions[place + 1][0].settings if place + 1 < len(versions) else None
        is_used, is_waiting = version.version == service.version, version.version > service.version
        rows.append(
            {
                "number": version.version,
                "reason": version.reason,
                "made_by": made_by,
                "made_at": version.created_at,
                "changes": _changes(before, version.settings) if before is not None else [],
                "is_used": is_used,
                "is_waiting": is_waiting,
                "mark": _("in use") if is_used else _("waits") if is_waiting else "",
            }
        )
    return rows


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    lines = []
    for name, label in _LABELS.items():
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            parts = [part for part in {**old, **new} if old.get(part) != new.get(part)]
            lines += [f"{label}, {part}: {_short(old, part)} → {_short(new, part)}" for part in parts]
        else:
            lines.append(f"{label}: {words(old)} → {words(new)}")
    return lines


def _short(values: dict[str, Any], part: str) -> str:
    written = words(values.get(part), part in values) or _("not there")
    return written if len(written) <= 60 else f"{written[:60]}…"
