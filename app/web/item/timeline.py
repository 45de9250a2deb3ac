"""An item's history as sentences: an icon, what happened, who did it, why."""

import re
import uuid
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from app.core import texts
from app.core.actions import undoing
from app.core.models import Action, HistoryEntry, HistoryText
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ActionTier, ActionType
from app.web.categories import UNNAMED, category_name
from app.web.filters import state_words
from app.web.item.verb_words import NAMES

_SENTENCES: Mapping[str, tuple[str, str]] = {
    "action.under_review": ("messages-square", lazy_gettext("Sent for review")),
    "action.proposed": ("clock", lazy_gettext("Sent to the platform to act")),
    "action.applied": ("circle-check", lazy_gettext("The platform acted")),
    "action.retro_review": ("scan-eye", lazy_gettext("Second look opened")),
    "action.confirmed": ("badge-check", lazy_gettext("Confirmed")),
    "action.overturned": ("undo-2", lazy_gettext("Overturned")),
    "action.scan_exempt": ("shield-check", lazy_gettext("Won't be rescanned")),
    "action.dismissed": ("circle-minus", lazy_gettext("Dismissed")),
    "action.escalated": ("users", lazy_gettext("Sent to staff")),
    "action.edited": ("pencil", lazy_gettext("The post was edited")),
    "action.panel_opened": ("users", lazy_gettext("A panel is to be drawn")),
    "action.panel_drawn": ("users", lazy_gettext("The panel was drawn")),
    "action.panel_ended": ("scale", lazy_gettext("The panel ended")),
    "action.filed": ("flag", lazy_gettext("Filed under another category")),
    "action.chosen": ("scale", lazy_gettext("Another action was chosen")),
    "action.until_changed": ("clock", lazy_gettext("The silence has another end")),
    "action.ended": ("circle-check", lazy_gettext("The silence ended")),
    "action.strike_added": ("flag", lazy_gettext("The author got a strike")),
    "action.strike_lifted": ("undo-2", lazy_gettext("The author’s strike was lifted")),
    "action.strike_step_observed": (
        "scan-eye",
        lazy_gettext("The author’s strikes reached a step; nothing was done"),
    ),
    "action.commented": ("message-square", lazy_gettext("Message to moderators")),
    "decision.held": ("hourglass", lazy_gettext("Decision held")),
    "decision.undone": ("undo-2", lazy_gettext("Decision undone")),
    "hold.lapsed": ("triangle-alert", lazy_gettext("A decision was not carried out")),
    "claim.assigned": ("user", lazy_gettext("Assigned")),
    "claim.snoozed": ("clock", lazy_gettext("Snoozed")),
    "wave.stopped": ("hand", lazy_gettext("Later posts alike wait in the queue")),
    "claim.taken_over": ("hand", lazy_gettext("Taken over from a colleague")),
    "note.currently_rated_helpful": ("thumbs-up", lazy_gettext("Rationale rated helpful")),
    "note.currently_rated_not_helpful": ("thumbs-down", lazy_gettext("Rationale rated not helpful")),
    "note.needs_more_ratings": ("circle-dashed", lazy_gettext("Rationale needs more ratings")),
    "note.edited": ("refresh-cw", lazy_gettext("Members are asked about the newest text")),
    "note.locked": ("lock", lazy_gettext("Rationale locked by staff")),
    "request.pending": ("hourglass", lazy_gettext("Scoring is tried again")),
    "request.in_progress": ("scan-text", lazy_gettext("Scoring began")),
    "request.completed": ("check", lazy_gettext("Request completed")),
    "request.failed": ("triangle-alert", lazy_gettext("Scoring failed")),
    "request.decided": ("scale", lazy_gettext("Decision recorded and announced")),
    "request.test_sent": ("flask-conical", lazy_gettext("Test post sent")),
    "request.withdrawn": ("trash-2", lazy_gettext("Submission withdrawn")),
    "request.note_linked": ("pencil", lazy_gettext("Note linked")),
}


_RESTORING: Mapping[str, tuple[str, str]] = {
    "action.proposed": ("eye", lazy_gettext("The platform is asked to show the post again")),
    "action.applied": ("eye", lazy_gettext("The platform showed the post again")),
    "action.dismissed": ("circle-minus", lazy_gettext("The post is not to be shown again after all")),
}
"""Sentences for the steps of an action that undoes another."""
_REOPENED: Mapping[str, tuple[str, str]] = {
    "action.proposed": ("refresh-cw", lazy_gettext("Reopened, and sent to the platform to act")),
    "action.under_review": ("refresh-cw", lazy_gettext("Reopened for review")),
}
"""Sentences for the first step of an action that reopens a dismissed one."""
_BY_STAFF: Mapping[str, tuple[str, str]] = {
    "note.currently_rated_helpful": ("lock", lazy_gettext("Rationale published")),
    "note.currently_rated_not_helpful": ("lock", lazy_gettext("Rationale dismissed")),
    "note.locked": ("lock", lazy_gettext("Rationale locked")),
}
"""The same changes made by a person. The reason is in the action's own entry, which follows."""


_ID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|(?<=^refit )\d+$")
_WITH_ID = {
    "rating …": lazy_gettext("After a new rating"),
    "invitation …": lazy_gettext("By invitation"),
    "overturned …": lazy_gettext("Because the action was overturned"),
    "refit …": lazy_gettext("After viewpoints were computed again"),
    "linked profile …": lazy_gettext("A profile was linked"),
    "profile … was the same person": lazy_gettext("Two profiles were the same person"),
    "linked profile …: one person, one rating": lazy_gettext("A profile was linked: one person, one rating"),
    "profile … was the same person: one person, one rating": lazy_gettext(
        "Two profiles were the same person: one person, one rating"
    ),
}
"""The service's reasons with an id in them."""
_SCORE = re.compile(r"(\w+) ([01]\.\d+) > ([01](?:\.\d+)?)")


@dataclass(frozen=True)
class TimelineEvent:
    """One entry as it is shown. ``cause`` is the service's reason; ``reason`` and ``comment`` are a person's.

    ``what`` is the entry's name, ``about`` the id of the object that changed; ``is_change``: it was in another state
    before.
    """

    icon: str
    sentence: str
    who: str
    by_person: bool
    at: datetime
    reason: str
    comment: str
    cause: str
    state: str | None
    what: str
    about: uuid.UUID
    is_change: bool


def events(
    entries: Iterable[tuple[HistoryEntry, HistoryText]], *, restoring: Collection[uuid.UUID] = ()
) -> list[TimelineEvent]:
    """Return the entries as sentences, in order. ``restoring`` are the ids of actions that undo another."""
    return [_event(entry, text, restoring) for entry, text in entries]


def cause_words(cause: str) -> str:
    """Return the service's reason as readable text: without ids, and with the score in words."""
    if with_id := _WITH_ID.get(_ID.sub("…", cause)):
        return str(with_id)
    scored = _SCORE.fullmatch(cause)
    if scored:
        category, score, bound = scored.groups()
        if category in UNNAMED:
            return f"{UNNAMED[category]}"
        return _(
            "Scored %(score)s, above %(bound)s",
            score=texts.short(float(score)),
            bound=texts.short(float(bound)),
        )
    said = texts.stored(cause)
    return said[:1].upper() + said[1:]


def reason_words(entry: HistoryEntry, text: HistoryText) -> str:
    """Return what a person said about a change, or the service in place of a person, in the reader's language."""
    return texts.stored(text.reason) if entry.actor_kind == "system" else text.reason


def why_words(entry: HistoryEntry, text: HistoryText) -> str:
    """Return why something changed: the reason, else the service's cause."""
    return reason_words(entry, text) or cause_words(entry.cause)


def filed_words(entry: HistoryEntry) -> str:
    """Return the sentence about a moderator's correction of the item's category."""
    before, after = (category_name(values.get("category")) for values in (entry.before, entry.after))
    return _("Filed under %(category)s instead of %(before)s", category=after, before=before)


def chosen_words(entry: HistoryEntry) -> str:
    """Return the sentence about an action that a moderator chose instead of the configured one."""
    before, after = (str(values.get("action_type", "")) for values in (entry.before, entry.after))
    return _("Chose to %(action)s instead of %(before)s", action=after, before=before)


def sentence_of(entry: HistoryEntry, *, restores: bool) -> str:
    """Return what happened, without who and why. ``restores``: the entry's action undoes another."""
    return _words(entry, restores)[1]


def _words(entry: HistoryEntry, restores: bool) -> tuple[str, str]:
    if restores and entry.what in _RESTORING:
        return _RESTORING[entry.what]
    if entry.after.get("reopens") and entry.what in _REOPENED:
        return _REOPENED[entry.what]
    if entry.what == undoing.ANSWERED:
        answer = state_words(f"{entry.after['undo']}_{entry.after['undo_state']}")
        return answer.icon, answer.word
    if entry.what == "action.chosen":
        return _SENTENCES[entry.what][0], chosen_words(entry)
    fallback = ("circle-dashed", entry.what.replace(".", " ").replace("_", " ").capitalize())
    icon, sentence = _SENTENCES.get(entry.what, fallback)
    verb = NAMES.get(str(entry.after.get("verb", "")))
    return icon, _("%(what)s: “%(verb)s”", what=sentence, verb=verb) if verb else sentence


def actor_name(text: HistoryText) -> str:
    """Return the name of the person who acted, or "Erased" if the name was erased."""
    return _("Erased") if text.erased_at is not None else text.actor_name


def _event(entry: HistoryEntry, text: HistoryText, restoring: Collection[uuid.UUID]) -> TimelineEvent:
    icon, sentence = _words(entry, entry.object_id in restoring)
    by_person = entry.actor_kind != "system"
    is_echo = by_person and entry.what in _BY_STAFF
    if is_echo:
        icon, sentence = _BY_STAFF[entry.what]
    if entry.what == "action.filed":
        sentence = filed_words(entry)
    state = entry.after.get("action_state") if entry.object_type == "action" else None
    return TimelineEvent(
        icon=icon,
        sentence=sentence,
        who=actor_name(text),
        by_person=by_person,
        at=entry.at,
        reason="" if is_echo else reason_words(entry, text),
        comment="" if is_echo else text.comment,
        cause=cause_words(entry.cause),
        state=str(state) if state else None,
        what=entry.what,
        about=entry.object_id,
        is_change=bool(entry.before),
    )


DONE_TO_POST: Mapping[ActionType, tuple[str, str]] = {
    ActionType.HIDE: (lazy_gettext("Hidden"), "eye-off"),
    ActionType.UNHIDE: (lazy_gettext("Shown again"), "eye"),
    ActionType.WARN: (lazy_gettext("Author warned"), "flag"),
    ActionType.SILENCE: (lazy_gettext("Author silenced"), "user"),
    ActionType.DELETE: (lazy_gettext("Deleted"), "trash-2"),
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
    reason: str


def done_to_post(action: Action, decided: tuple[HistoryEntry, HistoryText] | None) -> DoneToPost | None:
    """Return what was done to the action's post, or None if there is no entry.

    ``decided`` is the history entry of the decision (``second_looks.deciding``), if there is one.
    """
    if decided is None:
        return None
    entry, text = decided
    what, icon = DONE_TO_POST[action.action_type]
    by, is_name, reason = actor_name(text), True, reason_words(entry, text)
    if entry.what == f"action.{ActionState.APPLIED}":
        by, is_name = _("the platform itself"), False
    elif entry.actor_kind == "system":
        alone = action.action_tier is ActionTier.IMMEDIATE and not entry.before
        by, is_name = (_("its score alone") if alone else _("the community")), False
        reason = cause_words(entry.cause) if alone else ""
    return DoneToPost(what, icon, by, is_name, action.applied_at or entry.at, reason)
