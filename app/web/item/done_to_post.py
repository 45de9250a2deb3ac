"""What was done to a post, by whom, when and why, as the item and the cards of second looks say it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from app.core.models import Action, HistoryEntry, HistoryText
from app.core.vocabulary import ActionState, ActionTier, ActionType
from app.web.item.timeline import actor_name, cause_words

DONE: Mapping[ActionType, tuple[str, str]] = {
    ActionType.HIDE: ("Hidden", "eye-off"),
    ActionType.UNHIDE: ("Shown again", "eye"),
    ActionType.WARN: ("Author warned", "flag"),
    ActionType.SILENCE: ("Author silenced", "user"),
    ActionType.DELETE: ("Deleted", "trash-2"),
}


@dataclass(frozen=True)
class DoneToPost:
    """``what`` and ``icon`` are the badge; ``by`` says who, and is a name to isolate when ``is_name``.

    ``at`` is when the platform did it, or when it was decided while the platform has not said so.
    """

    what: str
    icon: str
    by: str
    is_name: bool
    at: datetime
    why: str


def for_action(action: Action, decided: tuple[HistoryEntry, HistoryText] | None) -> DoneToPost | None:
    """``decided`` is the entry that says who had it done (``second_looks.deciding``); None when none is kept."""
    if decided is None:
        return None
    entry, text = decided
    what, icon = DONE[action.action_type]
    by, is_name, why = actor_name(text), True, text.reason
    if entry.what == f"action.{ActionState.APPLIED}":
        by, is_name = "the platform itself", False
    elif entry.actor_kind == "system":
        alone = action.action_tier is ActionTier.IMMEDIATE and not entry.before
        by, is_name = ("its score alone" if alone else "the community"), False
        why = cause_words(entry.cause) if alone else ""
    return DoneToPost(what, icon, by, is_name, action.applied_at or entry.at, why)
