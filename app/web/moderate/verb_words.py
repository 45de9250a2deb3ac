"""What each decision is called and what it does, in words. Every button, undo bar and list reads this one table."""

from collections.abc import Mapping
from dataclasses import dataclass

from app.core.models import Action
from app.core.vocabulary import ActionState, ActionType, HeldVerb, ReopenTo

VERB_NAMES: Mapping[HeldVerb, str] = {
    HeldVerb.FORCE_PUBLISH: "Force-publish",
    HeldVerb.DISMISS: "Dismiss",
    HeldVerb.CONFIRM: "Confirm",
    HeldVerb.OVERTURN: "Overturn",
    HeldVerb.REOPEN: "Reopen",
}
DECIDING: Mapping[HeldVerb, str] = {
    HeldVerb.FORCE_PUBLISH: "Force-publishing…",
    HeldVerb.DISMISS: "Dismissing…",
    HeldVerb.OVERTURN: "Overturning…",
    HeldVerb.CONFIRM: "Confirming…",
    HeldVerb.REOPEN: "Reopening…",
}
"""What a row of the queue says while a decision can still be undone."""
DISMISS_SELECTED = "Dismiss selected"
DISMISS_SELECTED_EFFECT = "keep posts"
"""The button over several rows, whose actions may be of several types."""


@dataclass(frozen=True)
class Effect:
    """What one verb does to one type of action.

    ``short`` follows the verb's name on a button: "Force-publish: hide post". ``sentence`` says the same of a
    post, which takes the place of ``{}``. ``note`` is what a moderator should know before pressing it.
    """

    short: str
    sentence: str
    note: str = ""


_STANDS = "what was done to {} stands."
_REVOKED = "what was done to {} is revoked."
_UNCHANGED = "{} stays as it is."

_EFFECTS: Mapping[HeldVerb, Mapping[ActionType, Effect]] = {
    HeldVerb.FORCE_PUBLISH: {
        ActionType.HIDE: Effect("hide post", "{} will be hidden."),
        ActionType.UNHIDE: Effect("show post again", "{} will be shown again."),
        ActionType.WARN: Effect("warn author", "{} will get a warning."),
        ActionType.SILENCE: Effect("silence author", "{} will get its author silenced."),
        ActionType.DELETE: Effect("delete post", "{} will be deleted."),
    },
    HeldVerb.DISMISS: {
        ActionType.HIDE: Effect("keep post", _UNCHANGED),
        ActionType.UNHIDE: Effect("keep post hidden", _UNCHANGED),
        ActionType.WARN: Effect("do not warn", _UNCHANGED),
        ActionType.SILENCE: Effect("do not silence", _UNCHANGED),
        ActionType.DELETE: Effect("keep post", _UNCHANGED),
    },
    HeldVerb.CONFIRM: {
        ActionType.HIDE: Effect("keep hidden", _STANDS),
        ActionType.UNHIDE: Effect("keep shown", _STANDS),
        ActionType.WARN: Effect("keep warning", _STANDS),
        ActionType.SILENCE: Effect("keep silenced", _STANDS),
        ActionType.DELETE: Effect("keep deleted", _STANDS),
    },
    HeldVerb.OVERTURN: {
        ActionType.HIDE: Effect("show post again", "{} will be shown again."),
        ActionType.UNHIDE: Effect("revoke", _REVOKED),
        ActionType.WARN: Effect("revoke warning", _REVOKED),
        ActionType.SILENCE: Effect("end silence", _REVOKED),
        ActionType.DELETE: Effect(
            "record as wrong",
            _REVOKED,
            "A deleted post cannot be brought back; overturning records the mistake.",
        ),
    },
}
_NOT_SENT = "the platform is told not to act on {}."


def effect(verb: HeldVerb, action: Action) -> Effect:
    """What the decision does to this action."""
    return _EFFECTS[verb][action.action_type]


def outcome(verb: HeldVerb, action: Action, subject: str, to: ReopenTo | None = None) -> str:
    """What a decision does to ``subject``, as a sentence that may begin with it; ``to``: where a reopened one goes."""
    if verb is HeldVerb.REOPEN and to is not ReopenTo.ACT:
        return f"{subject} will be reviewed again by {'moderators' if to is ReopenTo.STAFF else 'members'}."
    if verb is HeldVerb.DISMISS and action.action_state is ActionState.PROPOSED:
        return _NOT_SENT.format(subject)
    # Reopened to act at once is acted on, like what a moderator force-publishes.
    acts = HeldVerb.FORCE_PUBLISH if verb is HeldVerb.REOPEN else verb
    return effect(acts, action).sentence.format(subject)
