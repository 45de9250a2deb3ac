"""Rows for lists of changes to people or keys: who, what, before, after and reason."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from app.core import texts
from app.core.communities import settings as community_settings
from app.core.models import HistoryEntry, HistoryText
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.web.item.timeline import actor_name, why_words

SHOWN_VALUE = 60
"""How many characters of a value a list of changes shows."""
SHOWN_LINES = 6
"""How many lines that were added to a list, or removed from it, are shown of one change."""
SENTENCES: Mapping[str, str] = {
    "community.opened": lazy_gettext("Opened"),
    "community.renamed": lazy_gettext("Renamed by the platform"),
    "community.revised": lazy_gettext("Settings changed"),
    "community.paused": lazy_gettext("Automatic actions paused"),
    "community.resumed": lazy_gettext("Automatic actions resumed"),
    "community.archived": lazy_gettext("Archived"),
    "community.unarchived": lazy_gettext("Unarchived"),
    "community.needs_operator": lazy_gettext("Operators were notified of something that needs attention"),
    "overturn.begun": lazy_gettext("Overturning began"),
    "overturn.finished": lazy_gettext("Overturning ended"),
    "overturn.stopped": lazy_gettext("Overturning stopped"),
    "key.minted": lazy_gettext("Key created"),
    "key.revoked": lazy_gettext("Key revoked"),
    "role.given": lazy_gettext("Role given"),
    "role.taken": lazy_gettext("No longer a member"),
    "groups.mapped": lazy_gettext("Roles of groups changed"),
    "account.disabled": lazy_gettext("Account disabled"),
    "account.factors_removed": lazy_gettext("Second factors removed"),
    "account.enabled": lazy_gettext("Account enabled"),
    "invitation.sent": lazy_gettext("Invitation sent"),
    "invitation.withdrawn": lazy_gettext("Invitation withdrawn"),
    "profile.linked": lazy_gettext("Profile linked"),
    "profile.unlinked": lazy_gettext("Profile unlinked"),
}
_LABELS: Mapping[str, str] = {
    "role": lazy_gettext("Role"),
    "groups": lazy_gettext("Groups"),
    "factors": lazy_gettext("Second factors"),
    "template": lazy_gettext("Template"),
    "public_part": lazy_gettext("Key"),
    "category": lazy_gettext("Category"),
    "rule": lazy_gettext("Rule"),
    "total": lazy_gettext("Actions found"),
    "done": lazy_gettext("Overturned"),
    "failed": lazy_gettext("Failed"),
}


def labels() -> dict[str, str]:
    """The values that lists show, with their labels, in the order of the pages. The sentence contains the others."""
    declared = community_settings.everything().items()
    return {name: setting.label for name, setting in declared} | dict(_LABELS)


def rows(
    entries: Iterable[tuple[HistoryEntry, HistoryText]], names: Mapping[Any, str] | None = None
) -> list[dict[str, Any]]:
    """Return the entries as rows: "Role given", the person or object, and lines such as "Role: rater → moderator".

    ``names`` maps the objects' ids to their names.
    """
    return [_row(entry, text, (names or {}).get(entry.object_id, "")) for entry, text in entries]


def _row(entry: HistoryEntry, text: HistoryText, about: str) -> dict[str, Any]:
    fallback = entry.what.replace(".", " ").replace("_", " ").capitalize()
    is_named = entry.object_type in ("api_key", "identity_provider")
    lines = [
        f"{label}: {change}"
        for name, label in labels().items()
        if (name in entry.before or entry.after.get(name) is not None) and not (is_named and name == "name")
        for change in _changes(entry.before, entry.after, name)
    ]
    named = about or str(entry.after.get("name") or entry.before.get("name") or "")
    return {
        "at": entry.at,
        "what": SENTENCES.get(entry.what, fallback),
        "about": named if is_named or about else "",
        "made_by": actor_name(text),
        "reason": why_words(entry, text),
        "changes": lines,
    }


_LISTS = ("groups", "note_pages")
"""What has an entry a line."""


def _changes(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> Sequence[str]:
    if name in _LISTS and name in after:
        # Cut texts before and after would often be the same.
        return _of_lists(before.get(name) or "", after[name] or "")
    return [_change(before, after, name)]


def _of_lists(before: str, after: str) -> Sequence[str]:
    """The lines that were removed, and those that were added."""
    old, new = ([" ".join(line.split()) for line in text.splitlines()] for text in (before, after))
    changed = [_("removed %(line)s", line=_words(line)) for line in old if line and line not in new]
    changed += [_("added %(line)s", line=_words(line)) for line in new if line and line not in old]
    more = len(changed) - SHOWN_LINES
    if more > 0:
        return [
            *changed[:SHOWN_LINES],
            ngettext("%(num)s more line changed", "%(num)s more lines changed", more),
        ]
    return changed or [_("in another order")]


def _change(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> str:
    if before.get(name) is None and name == "role":
        return _words(after[name])
    if name in before and name in after:
        return f"{_words(before[name])} → {_words(after[name])}"
    return _words(after[name] if name in after else before[name])


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return _("on") if value else _("off")
    if value is None or value == "":
        return _("empty")
    text = texts.short_number(value) if isinstance(value, float) else " ".join(str(value).split())
    return text if len(text) <= SHOWN_VALUE else text[: SHOWN_VALUE - 1] + "…"
