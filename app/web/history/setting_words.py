"""Setting changes as text: what happened, to which object, and each value before and after."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import url_for

from app.core import texts
from app.core.communities.settings import SETTINGS
from app.core.history.settings import AREA_OF, Area
from app.core.models import HistoryEntry
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds.drafts import FIELDS
from app.web.categories import category_name
from app.web.community.changes import SENTENCES, labels
from app.web.filters import full_time, state_word

AREAS: Mapping[Area, str] = {
    Area.COMMUNITY: lazy_gettext("Community"),
    Area.THRESHOLDS: lazy_gettext("Thresholds"),
    Area.CLASSIFIERS: lazy_gettext("Classifiers"),
    Area.WEBHOOKS: lazy_gettext("Webhooks"),
    Area.REASONS: lazy_gettext("Reasons and policies"),
    Area.KEYS: lazy_gettext("API keys"),
    Area.PEOPLE: lazy_gettext("People"),
}
PAGES: Mapping[Area, str] = {
    Area.COMMUNITY: "web.community_page",
    Area.THRESHOLDS: "web.thresholds",
    Area.CLASSIFIERS: "web.classifiers",
    Area.WEBHOOKS: "web.endpoints",
    Area.REASONS: "web.reasons",
    Area.KEYS: "web.keys_page",
    Area.PEOPLE: "web.people",
}
"""The view of the page that changes each area."""
_SENTENCES: Mapping[str, str] = {
    **SENTENCES,
    "policy.revised": lazy_gettext("Thresholds saved"),
    "rules.revised": lazy_gettext("Rules put in force"),
    "learning.put_in_force": lazy_gettext("Own model put in force"),
    "learning.taken_out": lazy_gettext("Own model taken out of force"),
    "learning.switched": lazy_gettext("Learning from decisions switched"),
    "service.added": lazy_gettext("Service added"),
    "service.changed": lazy_gettext("Service changed"),
    "service.version_put_in_force": lazy_gettext("Version of a service put in force"),
    "service.measured": lazy_gettext("Service measured on examples"),
    "service.counted": lazy_gettext("Scores of a service count"),
    "service.observed": lazy_gettext("Service only observed"),
    "service.switched_off": lazy_gettext("Service switched off"),
    "service.key_replaced": lazy_gettext("Key of a service replaced"),
    "service.removed": lazy_gettext("Service removed"),
    "service.model_changed": lazy_gettext("Model of a service changed"),
    "webhook.registered": lazy_gettext("Webhook registered"),
    "webhook.changed": lazy_gettext("Webhook changed"),
    "webhook.disabled": lazy_gettext("Webhook disabled"),
    "webhook.removed": lazy_gettext("Webhook removed"),
    "webhook.fails": lazy_gettext("Operators were notified that a webhook fails"),
    "webhook.tested": lazy_gettext("Test event sent"),
    "delivery.replayed": lazy_gettext("Delivery replayed"),
    "delivery.range_replayed": lazy_gettext("Deliveries replayed"),
    "reason.added": lazy_gettext("Reason added"),
    "reason.revised": lazy_gettext("Reason changed"),
    "reason.retired": lazy_gettext("Reason retired"),
    "reason.restored": lazy_gettext("Reason brought back"),
    "dataset.imported": lazy_gettext("Fact-checks imported"),
    "dataset.item_retired": lazy_gettext("Fact-check retired"),
    "dataset.item_restored": lazy_gettext("Fact-check brought back"),
    "dataset.feed_added": lazy_gettext("Feed of fact-checks added"),
    "dataset.feed_changed": lazy_gettext("Feed of fact-checks changed"),
    "dataset.feed_paused": lazy_gettext("Feed of fact-checks paused"),
    "dataset.feed_resumed": lazy_gettext("Feed of fact-checks resumed"),
    "dataset.feed_removed": lazy_gettext("Feed of fact-checks removed"),
    "filter.deleted": lazy_gettext("Shared filter deleted"),
    "reporter.muted": lazy_gettext("Reporter muted"),
    "reporter.unmuted": lazy_gettext("Reporter unmuted"),
    "strike.added": lazy_gettext("Strike added to an author"),
    "strike.lifted": lazy_gettext("Strike of an author lifted"),
    "strike.step_observed": lazy_gettext("Strikes of an author reached a step; nothing was done"),
    "community.restored": lazy_gettext("Service restored from a backup"),
    "content.removed": lazy_gettext("Old content removed"),
    "history.removed": lazy_gettext("Old history removed"),
}
_LABELS: Mapping[str, str] = {
    "is_active": lazy_gettext("Active"),
    "points": lazy_gettext("Points"),
    "step": lazy_gettext("Step"),
    "expires_at": lazy_gettext("Counts until"),
    "until": lazy_gettext("Until"),
    "url": lazy_gettext("URL"),
    "days": lazy_gettext("Days until it expires"),
    "platform_community_server_id": lazy_gettext("Community on its platform"),
    "posts_are_sent_to": lazy_gettext("Posts are sent to"),
    "may_act": lazy_gettext("May act by itself (Tier 1)"),
    "starter_off": lazy_gettext("Shipped rules switched off"),
    "learning": lazy_gettext("Learns from decisions"),
    "asks_first": lazy_gettext("Asks before a new version scores"),
    "samples": lazy_gettext("Other posts that raters are asked about"),
    "may_assert_staff": lazy_gettext("May speak for staff"),
    "serves_all": lazy_gettext("Serves every community"),
}
_LEADS_TO: Mapping[str, tuple[str, str]] = {
    "delivery": ("web.delivery_page", "delivery_id"),
    "replay": ("web.replay_progress", "replay_id"),
}
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)\S*Z")
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True)
class Difference:
    """One changed value: name ("Spam, Acts by itself (Tier 1)"), before, after. Empty if there was or is no value.

    A group is a whole category or rule that was added or removed.
    """

    label: str
    before: str
    after: str
    is_group: bool = False

    def __str__(self) -> str:
        if self.is_group:
            if self.after:
                return _("%(setting)s added", setting=self.label)
            return _("%(setting)s removed", setting=self.label)
        if self.before and self.after:
            return f"{self.label}: {self.before} → {self.after}"
        if self.after:
            return f"{self.label}: {self.after}"
        return _("%(setting)s: %(before)s → none", setting=self.label, before=self.before)


def sentence(entry: HistoryEntry) -> str:
    """Return what happened, without the object, the person and the reason."""
    return str(_SENTENCES.get(entry.what) or entry.what.replace(".", " ").replace("_", " ").capitalize())


def subject_name(entry: HistoryEntry, names: Mapping[Any, str]) -> str:
    """Return the changed object's current name, or its name in the entry; empty if the sentence contains it."""
    version = entry.after.get("version")
    if AREA_OF[entry.object_type] in (Area.THRESHOLDS, Area.CLASSIFIERS) and version is not None:
        return _("version %(version)s", version=version)
    if entry.object_type == "community":
        return ""
    recorded_name = next(
        (v[k] for k in ("name", "title", "url") for v in (entry.after, entry.before) if v.get(k)), ""
    )
    return names.get(entry.object_id) or str(recorded_name)


def leads_to(entry: HistoryEntry, names: Mapping[Any, str]) -> str | None:
    """Return the URL of the replayed delivery or range; None for other changes, or if it is no longer stored."""
    if entry.object_id not in names or entry.object_type not in _LEADS_TO:
        return None
    endpoint, argument = _LEADS_TO[entry.object_type]
    values: dict[str, Any] = {argument: entry.object_id}
    return url_for(endpoint, **values)


def differences(entry: HistoryEntry) -> list[Difference]:
    """Return all changed values in full. Ids are left out, because they mean nothing to readers."""
    changed: list[Difference] = []
    for name in _in_order(entry):
        old, new = entry.before.get(name), entry.after.get(name)
        if isinstance(old, dict) or isinstance(new, dict):
            changed += _parts(entry, name, old or {}, new or {})
        elif name != "version" and not _is_id(old) and not _is_id(new) and (old, new) != (None, None):
            changed.append(
                Difference(
                    _label(name),
                    _named(name, old, name in entry.before),
                    _named(name, new, name in entry.after),
                )
            )
    return changed


def _in_order(entry: HistoryEntry) -> Sequence[str]:
    """Return the value names in the order of the pages, then by name: PostgreSQL's JSON does not keep the order."""
    ranks = {name: rank for rank, name in enumerate(_labels())}
    return sorted(
        entry.before.keys() | entry.after.keys(), key=lambda name: (ranks.get(name, len(ranks)), name)
    )


def _parts(entry: HistoryEntry, name: str, old: Any, new: Any) -> Iterable[Difference]:
    """Yield the differing parts of a category or a rule; a new or removed one is a single difference."""
    called = category_name(name) if entry.object_type == "policy" else name
    if not (isinstance(old, dict) and isinstance(new, dict)) or not old or not new:
        return [Difference(called, _inline(old), _inline(new), is_group=True)]
    parts = sorted(part for part in old.keys() | new.keys() if old.get(part) != new.get(part))
    return [
        Difference(
            f"{called}, {_labels().get(part) or part.replace('_', ' ')}",
            words(old.get(part)),
            words(new.get(part)),
        )
        for part in parts
    ]


def _named(name: str, value: Any, is_there: bool) -> str:
    """Like ``words``, but with the usual names of categories, states and choices."""
    setting = SETTINGS.get(name)
    if setting is not None and setting.choices and is_there:
        return setting.choices.get(value) or words(value)
    if isinstance(value, str) and value and is_there:
        if name == "category":
            return category_name(value)
        if name == "state":
            return state_word(value)
    return words(value, is_there)


def _inline(value: Any) -> str:
    if not isinstance(value, dict):
        return words(value) if value else ""
    return "; ".join(
        f"{_label(part)} {words(part_value)}"
        for part, part_value in sorted(value.items())
        if part_value not in (None, [], "")
    )


def words(value: Any, is_there: bool = True) -> str:
    """Return a value as readable text, on one line unless it is a text with several lines."""
    if not is_there:
        return ""
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if value is None or value in ("", []):
        return _("none")
    if isinstance(value, dict):
        return _inline(value)
    if isinstance(value, list):
        return ", ".join(words(item) for item in value)
    if isinstance(value, float):
        return texts.short_number(value)
    moment = _MOMENT.fullmatch(str(value))
    if moment is None:
        return str(value)
    return full_time(datetime.fromisoformat(f"{moment[1]}T{moment[2]}+00:00"))


def _labels() -> dict[str, str]:
    # Words that begin small follow a category's name in other lists; here the field's own name says as much.
    tiers = {name: declared.words for name, declared in FIELDS.items() if declared.words[:1].isupper()}
    return labels() | tiers | dict(_LABELS)


def _label(name: str) -> str:
    return str(_labels().get(name) or name.replace("_", " ").capitalize())


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None
