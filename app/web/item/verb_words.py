"""Name and effect of each verb in words: the table that all buttons, undo bars and lists use.

It does not say which verbs the actor may use: the rows of ``states.ACTION`` do (``holds.verbs_open_to``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.core.models import Action, Note
from app.core.permissions import Actor
from app.core.review import holds
from app.core.review.verbs import choosable
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ActionType, ActionVerb, ReopenTo


@dataclass(frozen=True)
class Effect:
    """The effect of one verb on one type of action.

    ``short`` follows the verb's name on a button: "Force-publish: hide post". ``sentence`` says the same about a
    post, whose name replaces ``{}``. ``note`` is what a moderator should know before they press the button.
    """

    short: str
    sentence: str
    note: str = ""


@dataclass(frozen=True)
class OnNote:
    """A verb on a note that explains no action: the button's kind, the outcome, and the hint below the button."""

    kind: str
    outcome: str
    hint: str


@dataclass(frozen=True)
class OnSeveral:
    """A verb on several rows of the queue, or of the second looks, at once, whose actions may be of several types.

    ``name`` is the button's while nothing is ticked; script replaces "selected" by a number. ``done`` follows
    "will be". ``act_as`` is what the platform does with each.
    """

    name: str
    effect: str
    kind: str
    done: str
    act_as: ActionType | None = None


@dataclass(frozen=True)
class VerbWords:
    """The words of one verb. A row shows ``deciding`` while the decision can still be undone.

    ``kind`` is the style of the button on an action, ``key`` its keyboard shortcut.
    """

    name: str
    deciding: str
    kind: str = "secondary"
    key: str | None = None
    effects: Mapping[ActionType, Effect] = field(default_factory=dict)
    on_note: OnNote | None = None
    on_several: OnSeveral | None = None


_STANDS = lazy_gettext("what was done to {} stands.")
_REVOKED = lazy_gettext("what was done to {} is revoked.")
_UNCHANGED = lazy_gettext("{} stays as it is.")
_NOT_SENT = lazy_gettext("the platform is notified not to act on {}.")

WORDS: Mapping[ActionVerb, VerbWords] = {
    ActionVerb.DISMISS: VerbWords(
        lazy_gettext("Dismiss"),
        lazy_gettext("Dismissing…"),
        "secondary",
        "D",
        effects={
            ActionType.HIDE: Effect("keep post", _UNCHANGED),
            ActionType.UNHIDE: Effect("keep post hidden", _UNCHANGED),
            ActionType.WARN: Effect(lazy_gettext("do not warn"), _UNCHANGED),
            ActionType.SILENCE: Effect(lazy_gettext("do not silence"), _UNCHANGED),
            ActionType.DELETE: Effect("keep post", _UNCHANGED),
        },
        on_note=OnNote(
            "destructive",
            lazy_gettext("This note will be dismissed and locked."),
            lazy_gettext("Dismiss: the note is not shown, whatever its ratings."),
        ),
        on_several=OnSeveral(lazy_gettext("Dismiss selected"), "keep posts", "secondary", "dismissed"),
    ),
    ActionVerb.FORCE_PUBLISH: VerbWords(
        "Force-publish",
        "Force-publishing…",
        "destructive",
        "F",
        effects={
            ActionType.HIDE: Effect("hide post", "{} will be hidden."),
            ActionType.UNHIDE: Effect("show post again", "{} will be shown again."),
            ActionType.WARN: Effect("warn author", lazy_gettext("{} will get a warning.")),
            ActionType.SILENCE: Effect("silence author", "{} will get its author silenced."),
            ActionType.DELETE: Effect(
                "delete post",
                "{} will be deleted.",
                lazy_gettext("Not every platform can restore a deleted post."),
            ),
        },
        on_note=OnNote(
            "secondary",
            lazy_gettext("This note will be published and locked."),
            lazy_gettext("Force-publish: the note is shown with the post, whatever its ratings."),
        ),
        on_several=OnSeveral(
            lazy_gettext("Hide selected"), "hide posts", "destructive", "hidden", ActionType.HIDE
        ),
    ),
    ActionVerb.CONFIRM: VerbWords(
        lazy_gettext("Confirm"),
        lazy_gettext("Confirming…"),
        "secondary",
        "C",
        effects={
            ActionType.HIDE: Effect("keep hidden", _STANDS),
            ActionType.UNHIDE: Effect("keep shown", _STANDS),
            ActionType.WARN: Effect("keep warning", _STANDS),
            ActionType.SILENCE: Effect("keep silenced", _STANDS),
            ActionType.DELETE: Effect("keep deleted", _STANDS),
        },
        on_several=OnSeveral(
            lazy_gettext("Confirm selected"), "what was done stands", "secondary", "confirmed"
        ),
    ),
    ActionVerb.OVERTURN: VerbWords(
        lazy_gettext("Overturn"),
        lazy_gettext("Overturning…"),
        "destructive",
        "O",
        effects={
            ActionType.HIDE: Effect("show post again", "{} will be shown again."),
            ActionType.UNHIDE: Effect("revoke", _REVOKED),
            ActionType.WARN: Effect("revoke warning", _REVOKED),
            ActionType.SILENCE: Effect("end silence", _REVOKED),
            ActionType.DELETE: Effect(
                "restore post",
                lazy_gettext("the platform will be asked to restore {}."),
                lazy_gettext("Not every platform can restore a deleted post."),
            ),
        },
        on_several=OnSeveral(
            lazy_gettext("Overturn selected"), lazy_gettext("take it back"), "destructive", "overturned"
        ),
    ),
    ActionVerb.REOPEN: VerbWords(lazy_gettext("Reopen"), lazy_gettext("Reopening…")),
}
"""In the order of the buttons."""
CONSEQUENCES: Mapping[ActionType, str] = {
    ActionType.WARN: "post stays",
    ActionType.HIDE: "can be shown again",
    ActionType.SILENCE: "post stays, author cannot write",
    ActionType.DELETE: "cannot be brought back",
}
"""What follows from each action that a moderator may choose (``CHOOSABLE``), the lightest first."""
NAMES: Mapping[str, str] = {verb.value: words.name for verb, words in WORDS.items()}
"""Names by the verb values in the history."""


def effect(verb: ActionVerb, action: Action) -> Effect:
    """Return the verb's effect on this action."""
    return WORDS[verb].effects[action.action_type]


def effect_name(action_type: ActionType) -> str:
    """Return what the platform does as the name of a button: "Hide post"."""
    return WORDS[ActionVerb.FORCE_PUBLISH].effects[action_type].short.capitalize()


def outcome(
    verb: ActionVerb,
    action: Action,
    subject: str,
    to: ReopenTo | None = None,
    act_as: ActionType | None = None,
) -> str:
    """Say what a decision does to ``subject``. The sentence may begin with it. ``to``: who decides a reopened item.

    ``act_as``: what the platform does instead of what is configured.
    """
    if verb is ActionVerb.REOPEN and to is not ReopenTo.ACT:
        return (
            _("%(post)s will be reviewed again by moderators.", post=subject)
            if to is ReopenTo.STAFF
            else _("%(post)s will be reviewed again by members.", post=subject)
        )
    if verb is ActionVerb.DISMISS and action.action_state is ActionState.PROPOSED:
        return _NOT_SENT.format(subject)
    # ReopenTo.ACT has the same effect as force-publishing.
    acts = ActionVerb.FORCE_PUBLISH if verb is ActionVerb.REOPEN else verb
    return WORDS[acts].effects[act_as or action.action_type].sentence.format(subject)


@dataclass(frozen=True)
class VerbButton:
    """A button of the decision form.

    ``effect`` is its second line, empty if the verb's name says enough. ``note`` is shown below the buttons. ``act_as``
    is an action that the moderator may choose instead of the configured one: its name then says the effect, and
    ``effect`` the consequence.
    """

    verb: ActionVerb
    label: str
    kind: str
    key: str | None = None
    effect: str = ""
    note: str = ""
    act_as: ActionType | None = None
    is_bulk: bool = False

    @property
    def value(self) -> str:
        """What the button sends: the verb, and the action that was chosen instead of the configured one."""
        return f"{self.verb}.{self.act_as}" if self.act_as is not None else str(self.verb)

    @property
    def is_other(self) -> bool:
        """Whether it does something else than what is configured, so that its label says the effect."""
        return self.act_as is not None and not self.is_bulk

    @property
    def name(self) -> str:
        """The button's name: its two lines in one."""
        return f"{self.label}: {self.effect}" if self.effect else self.label


def buttons_for_action(actor: Actor, action: Action) -> list[VerbButton]:
    """Return the buttons for the actor's possible decisions on this action, always in the same order."""
    open_verbs = holds.verbs_open_to(actor, action)
    return [button(verb, action.action_type) for verb in WORDS if verb in open_verbs]


def other_buttons(actor: Actor, action: Action) -> list[VerbButton]:
    """Return the buttons for acting otherwise than configured, the lightest first. No keys lead to them."""
    if ActionVerb.FORCE_PUBLISH not in holds.verbs_open_to(actor, action):
        return []
    return [
        VerbButton(
            ActionVerb.FORCE_PUBLISH,
            effect_name(action_type),
            "destructive" if action_type is ActionType.DELETE else "secondary",
            effect=consequence,
            act_as=action_type,
        )
        for action_type, consequence in CONSEQUENCES.items()
        if action_type is not action.action_type and action_type in choosable(action)
    ]


def button(verb: ActionVerb, action_type: ActionType) -> VerbButton:
    """Return the verb's button for an action of this type."""
    words = WORDS[verb]
    effect = words.effects[action_type]
    return VerbButton(verb, words.name, words.kind, words.key, effect.short, effect.note)


def buttons_for_note(actor: Actor, note: Note) -> list[VerbButton]:
    """Return the buttons for the actor's possible decisions on this note."""
    open_verbs, buttons = holds.verbs_open_to(actor, note), []
    for verb, words in WORDS.items():
        if verb in open_verbs and words.on_note is not None:
            buttons.append(
                VerbButton(verb, words.name, words.on_note.kind, words.key, note=words.on_note.hint)
            )
    return buttons


def buttons_for_several(verbs: Sequence[ActionVerb], count: int | None = None) -> Sequence[VerbButton]:
    """Return the buttons for decisions on several items at once: on ``count`` of them, or on the ticked rows."""
    several = [(verb, WORDS[verb], WORDS[verb].on_several) for verb in verbs]
    return [
        VerbButton(
            verb,
            on_several.name.replace("selected", str(count)) if count else on_several.name,
            on_several.kind,
            words.key,
            on_several.effect,
            act_as=on_several.act_as,
            is_bulk=True,
        )
        for verb, words, on_several in several
        if on_several is not None
    ]
