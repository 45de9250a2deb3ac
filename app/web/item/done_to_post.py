"""What was done to a post, by whom, when and why; shown on the item page and on Second look cards."""

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
    """What was done to a post. ``what`` and ``icon`` are the badge; ``by`` is a person's name if ``is_name``.

    ``at`` is when the platform did it, or, until the platform confirms it, when it was decided.
    """

    what: str
    icon: str
    by: str
    is_name: bool
    at: datetime
    why: str


def for_action(action: Action, decided: tuple[HistoryEntry, HistoryText] | None) -> DoneToPost | None:
    """Return what was done to the action's post, or None if there is no entry.

    ``decided`` is the history entry of the decision (``second_looks.deciding``), if there is one.
    """
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
