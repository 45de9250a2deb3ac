"""Differences between two versions of a community's rules, as text."""

from collections.abc import Mapping
from typing import Any

from app.core.rulesets import versions
from app.core.rulesets.versions import RuleSet
from app.web.categories import category_name


def change_lines(before: RuleSet, after: RuleSet, most: int = 12) -> list[str]:
    """Return the differences, at most ``most`` lines: "spam.watches, weight: 0.6 → 0.8"."""
    lines: list[str] = []
    for name, (old, new) in versions.changes(before, after).items():
        if name == "starter_off":
            lines += [f"{rule}: switched off" for rule in sorted(set(new) - set(old))]
            lines += [f"{rule}: switched on" for rule in sorted(set(old) - set(new))]
        elif name in ("lists", "note"):
            lines.append(f"{name.capitalize()} of the pack changed")
        elif old is None:
            lines.append(f"{name} added ({category_name(new['category'])}, weight {new['weight']:g})")
        elif new is None:
            lines.append(f"{name} removed")
        else:
            lines += [f"{name}, {part}: {was} → {now}" for part, was, now in _differing(old, new)]
    return [*lines[:most], f"… and {len(lines) - most:,} more"] if len(lines) > most else lines


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    def text_of(rule: Mapping[str, Any], part: str) -> str:
        value = rule.get(part, True if part == "enabled" else None)
        if isinstance(value, bool):
            return "on" if value else "off"
        if isinstance(value, list):
            return ", ".join(map(str, value)) or "none"
        return "none" if value is None else str(value)

    parts = sorted(old.keys() | new.keys())
    differences = [
        ("state" if part == "enabled" else part, text_of(old, part), text_of(new, part)) for part in parts
    ]
    return [(part, was, now) for part, was, now in differences if was != now]
