"""What each verb is called and does, in words: the one table that every button, undo bar and list reads.

Which verbs are open is not decided here. The rows of ``states.ACTION`` say that (``holds.verbs_open_to``).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.core.models import Action
from app.core.vocabulary import ActionState, ActionType, ActionVerb, ReopenTo


@dataclass(frozen=True)
class Effect:
    """What one verb does to one type of action.

    ``short`` follows the verb's name on a button: "Force-publish: hide post". ``sentence`` says the same of a
    post, which takes the place of ``{}``. ``note`` is what a moderator should know before pressing it.
    """

    short: str
    sentence: str
    note: str = ""


@dataclass(frozen=True)
class OnNote:
    """A verb on a note that explains no action: its button's kind, what it will do, and the hint below the button."""

    kind: str
    outcome: str
    hint: str


@dataclass(frozen=True)
class OnSeveral:
    """A verb on several rows of the queue at once, whose actions may be of several types."""

    name: str
    effect: str
    kind: str


@dataclass(frozen=True)
class VerbWords:
    """The words of one verb. ``deciding`` stands in a row while the decision can still be undone.

    ``kind`` is how the button over an action looks, ``key`` the key that chooses it.
    """

    name: str
    deciding: str
    kind: str = "secondary"
    key: str | None = None
    effects: Mapping[ActionType, Effect] = field(default_factory=dict)
    on_note: OnNote | None = None
    on_several: OnSeveral | None = None


_STANDS = "what was done to {} stands."
_REVOKED = "what was done to {} is revoked."
_UNCHANGED = "{} stays as it is."
_NOT_SENT = "the platform is told not to act on {}."

WORDS: Mapping[ActionVerb, VerbWords] = {
    ActionVerb.FORCE_PUBLISH: VerbWords(
        "Force-publish",
        "Force-publishing…",
        "destructive",
        "F",
        effects={
            ActionType.HIDE: Effect("hide post", "{} will be hidden."),
            ActionType.UNHIDE: Effect("show post again", "{} will be shown again."),
            ActionType.WARN: Effect("warn author", "{} will get a warning."),
            ActionType.SILENCE: Effect("silence author", "{} will get its author silenced."),
            ActionType.DELETE: Effect("delete post", "{} will be deleted."),
        },
        on_note=OnNote(
            "secondary",
            "This note will be published and locked.",
            "Force-publish: the note is shown with the post, whatever its ratings.",
        ),
    ),
    ActionVerb.CONFIRM: VerbWords(
        "Confirm",
        "Confirming…",
        "secondary",
        "C",
        effects={
            ActionType.HIDE: Effect("keep hidden", _STANDS),
            ActionType.UNHIDE: Effect("keep shown", _STANDS),
            ActionType.WARN: Effect("keep warning", _STANDS),
            ActionType.SILENCE: Effect("keep silenced", _STANDS),
            ActionType.DELETE: Effect("keep deleted", _STANDS),
        },
    ),
    ActionVerb.OVERTURN: VerbWords(
        "Overturn",
        "Overturning…",
        "destructive",
        "O",
        effects={
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
    ),
    ActionVerb.DISMISS: VerbWords(
        "Dismiss",
        "Dismissing…",
        "secondary",
        "D",
        effects={
            ActionType.HIDE: Effect("keep post", _UNCHANGED),
            ActionType.UNHIDE: Effect("keep post hidden", _UNCHANGED),
            ActionType.WARN: Effect("do not warn", _UNCHANGED),
            ActionType.SILENCE: Effect("do not silence", _UNCHANGED),
            ActionType.DELETE: Effect("keep post", _UNCHANGED),
        },
        on_note=OnNote(
            "destructive",
            "This note will be dismissed and locked.",
            "Dismiss: the note is not shown, whatever its ratings.",
        ),
        on_several=OnSeveral("Dismiss selected", "keep posts", "destructive"),
    ),
    ActionVerb.REOPEN: VerbWords("Reopen", "Reopening…"),
}
"""In the order in which the buttons stand."""
NAMES: Mapping[str, str] = {verb.value: words.name for verb, words in WORDS.items()}
"""The names by the values that history keeps."""


def effect(verb: ActionVerb, action: Action) -> Effect:
    """What the decision does to this action."""
    return WORDS[verb].effects[action.action_type]


def outcome(verb: ActionVerb, action: Action, subject: str, to: ReopenTo | None = None) -> str:
    """What a decision does to ``subject``, as a sentence that may begin with it; ``to``: where a reopened one goes."""
    if verb is ActionVerb.REOPEN and to is not ReopenTo.ACT:
        return f"{subject} will be reviewed again by {'moderators' if to is ReopenTo.STAFF else 'members'}."
    if verb is ActionVerb.DISMISS and action.action_state is ActionState.PROPOSED:
        return _NOT_SENT.format(subject)
    # Reopened to act at once is acted on, like what a moderator force-publishes.
    acts = ActionVerb.FORCE_PUBLISH if verb is ActionVerb.REOPEN else verb
    return effect(acts, action).sentence.format(subject)
