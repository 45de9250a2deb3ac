"""Setting changes as text: what happened, to which object, and each value before and after."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import url_for

from app.core.communities.settings import SETTINGS
from app.core.history.settings import AREA_OF, Area
from app.core.models import HistoryEntry
from app.core.thresholds.drafts import FIELDS
from app.web.categories import category_name
from app.web.community.changes import SENTENCES, labels
from app.web.filters import state_word

AREAS: Mapping[Area, str] = {
    Area.COMMUNITY: "Community",
    Area.THRESHOLDS: "Thresholds",
    Area.CLASSIFIERS: "Classifiers",
    Area.WEBHOOKS: "Webhooks",
    Area.REASONS: "Reasons and policies",
    Area.KEYS: "API keys",
    Area.PEOPLE: "People",
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
    "policy.revised": "Thresholds saved",
    "rules.revised": "Rules put in force",
    "learning.put_in_force": "Own model put in force",
    "learning.taken_out": "Own model taken out of force",
    "learning.switched": "Learning from decisions switched",
    "service.added": "Service added",
    "service.changed": "Service changed",
    "service.version_put_in_force": "Version of a service put in force",
    "service.measured": "Service measured on examples",
    "service.counted": "Scores of a service count",
    "service.observed": "Service only observed",
    "service.switched_off": "Service switched off",
    "service.key_replaced": "Key of a service replaced",
    "service.removed": "Service removed",
    "service.model_changed": "Model of a service changed",
    "webhook.registered": "Webhook registered",
    "webhook.changed": "Webhook changed",
    "webhook.disabled": "Webhook disabled",
    "webhook.removed": "Webhook removed",
    "webhook.fails": "Operators were notified that a webhook fails",
    "webhook.tested": "Test event sent",
    "delivery.replayed": "Delivery replayed",
    "delivery.range_replayed": "Deliveries replayed",
    "reason.added": "Reason added",
    "reason.revised": "Reason changed",
    "reason.retired": "Reason retired",
    "reason.restored": "Reason brought back",
    "dataset.imported": "Fact-checks imported",
    "dataset.item_retired": "Fact-check retired",
    "dataset.item_restored": "Fact-check brought back",
    "dataset.feed_added": "Feed of fact-checks added",
    "dataset.feed_changed": "Feed of fact-checks changed",
    "dataset.feed_paused": "Feed of fact-checks paused",
    "dataset.feed_resumed": "Feed of fact-checks resumed",
    "dataset.feed_removed": "Feed of fact-checks removed",
    "filter.deleted": "Shared filter deleted",
    "reporter.muted": "Reporter muted",
    "reporter.unmuted": "Reporter unmuted",
    "strike.added": "Strike added to an author",
    "strike.lifted": "Strike of an author lifted",
    "strike.step_observed": "Strikes of an author reached a step; nothing was done",
    "community.restored": "Service restored from a backup",
    "content.removed": "Old content removed",
    "history.removed": "Old history removed",
}
_LABELS: Mapping[str, str] = {
    "is_active": "Active",
    "points": "Points",
    "step": "Step",
    "expires_at": "Counts until",
    "until": "Until",
    "url": "URL",
    "days": "Days until it expires",
    "platform_community_server_id": "Community on its platform",
    "posts_are_sent_to": "Posts are sent to",
    "may_act": "May act by itself (Tier 1)",
    "starter_off": "Shipped rules switched off",
    "learning": "Learns from decisions",
    "asks_first": "Asks before a new version scores",
    "samples": "Other posts that raters are asked about",
    "may_assert_staff": "May speak for staff",
    "serves_all": "Serves every community",
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
            return f"{self.label} {'added' if self.after else 'removed'}"
        if self.before and self.after:
            return f"{self.label}: {self.before} → {self.after}"
        return f"{self.label}: {self.after or f'{self.before} → none'}"


def sentence(entry: HistoryEntry) -> str:
    """Return what happened, without the object, the person and the reason."""
    return _SENTENCES.get(entry.what, entry.what.replace(".", " ").replace("_", " ").capitalize())


def subject_name(entry: HistoryEntry, names: Mapping[Any, str]) -> str:
    """Return the changed object's current name, or its name in the entry; empty if the sentence contains it."""
    version = entry.after.get("version")
    if AREA_OF[entry.object_type] in (Area.THRESHOLDS, Area.CLASSIFIERS) and version is not None:
        return f"version {version}"
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
            f"{called}, {_labels().get(part) or _label(part).lower()}",
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
        return "on" if value else "off"
    if value is None or value in ("", []):
        return "none"
    if isinstance(value, dict):
        return _inline(value)
    if isinstance(value, list):
        return ", ".join(words(item) for item in value)
    if isinstance(value, float):
        return f"{value:g}"
    moment = _MOMENT.fullmatch(str(value))
    return f"{moment[1]} {moment[2]} UTC" if moment else str(value)


def _labels() -> dict[str, str]:
    # Words that begin small follow a category's name in other lists; here the field's own name says as much.
    tiers = {name: declared.words for name, declared in FIELDS.items() if declared.words[:1].isupper()}
    return labels() | tiers | dict(_LABELS)


def _label(name: str) -> str:
    return _labels().get(name) or name.replace("_", " ").capitalize()


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None
