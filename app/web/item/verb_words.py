"""Name and effect of each verb in words: the table that all buttons, undo bars and lists use.

It does not say which verbs the actor may use: the rows of ``states.ACTION`` do (``holds.verbs_open_to``).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from app.core import texts
from app.core.models import Action, Note
from app.core.permissions import Actor
from app.core.review import holds
from app.core.review.verbs import choosable
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import ActionState, ActionType, ActionVerb, ReopenTo


@dataclass(frozen=True)
class Effect:
    """The effect of one verb on one type of action.

    ``short`` follows the verb's name on a button: "Force-publish: hide post". ``sentence`` says the same about
    ``%(post)s``. ``note`` is what a moderator should know before they press the button.
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

    ``name`` is the button's while nothing is ticked, ``counted`` with so many ticked rows. ``done`` says what will
    happen to so many posts. ``act_as`` is what the platform does with each.
    """

    name: str
    counted: str
    effect: str
    kind: str
    done: Callable[[int], str]
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


_STANDS = lazy_gettext("what was done to %(post)s stands.")
_REVOKED = lazy_gettext("what was done to %(post)s is revoked.")
_UNCHANGED = lazy_gettext("%(post)s stays as it is.")
_NOT_SENT = lazy_gettext("the platform is notified not to act on %(post)s.")

WORDS: Mapping[ActionVerb, VerbWords] = {
    ActionVerb.DISMISS: VerbWords(
        lazy_gettext("Dismiss"),
        lazy_gettext("Dismissing…"),
        "secondary",
        "D",
        effects={
            ActionType.HIDE: Effect(lazy_gettext("keep post"), _UNCHANGED),
            ActionType.UNHIDE: Effect(lazy_gettext("keep post hidden"), _UNCHANGED),
            ActionType.WARN: Effect(lazy_gettext("do not warn"), _UNCHANGED),
            ActionType.SILENCE: Effect(lazy_gettext("do not silence"), _UNCHANGED),
            ActionType.DELETE: Effect(lazy_gettext("keep post"), _UNCHANGED),
        },
        on_note=OnNote(
            "destructive",
            lazy_gettext("This note will be dismissed and locked."),
            lazy_gettext("Dismiss: the note is not shown, whatever its ratings."),
        ),
        on_several=OnSeveral(
            lazy_gettext("Dismiss selected"),
            lazy_gettext("Dismiss %(count)s"),
            lazy_gettext("keep posts"),
            "secondary",
            lambda count: ngettext(
                "%(num)s post will be dismissed.", "%(num)s posts will be dismissed.", count
            ),
        ),
    ),
    ActionVerb.FORCE_PUBLISH: VerbWords(
        lazy_gettext("Force-publish"),
        lazy_gettext("Force-publishing…"),
        "destructive",
        "F",
        effects={
            ActionType.HIDE: Effect(lazy_gettext("hide post"), lazy_gettext("%(post)s will be hidden.")),
            ActionType.UNHIDE: Effect(
                lazy_gettext("show post again"), lazy_gettext("%(post)s will be shown again.")
            ),
            ActionType.WARN: Effect(
                lazy_gettext("warn author"), lazy_gettext("%(post)s will get a warning.")
            ),
            ActionType.SILENCE: Effect(
                lazy_gettext("silence author"), lazy_gettext("%(post)s will get its author silenced.")
            ),
            ActionType.DELETE: Effect(
                lazy_gettext("delete post"),
                lazy_gettext("%(post)s will be deleted."),
                lazy_gettext("Not every platform can restore a deleted post."),
            ),
        },
        on_note=OnNote(
            "secondary",
            lazy_gettext("This note will be published and locked."),
            lazy_gettext("Force-publish: the note is shown with the post, whatever its ratings."),
        ),
        on_several=OnSeveral(
            lazy_gettext("Hide selected"),
            lazy_gettext("Hide %(count)s"),
            lazy_gettext("hide posts"),
            "destructive",
            lambda count: ngettext("%(num)s post will be hidden.", "%(num)s posts will be hidden.", count),
            ActionType.HIDE,
        ),
    ),
    ActionVerb.CONFIRM: VerbWords(
        lazy_gettext("Confirm"),
        lazy_gettext("Confirming…"),
        "secondary",
        "C",
        effects={
            ActionType.HIDE: Effect(lazy_gettext("keep hidden"), _STANDS),
            ActionType.UNHIDE: Effect(lazy_gettext("keep shown"), _STANDS),
            ActionType.WARN: Effect(lazy_gettext("keep warning"), _STANDS),
            ActionType.SILENCE: Effect(lazy_gettext("keep silenced"), _STANDS),
            ActionType.DELETE: Effect(lazy_gettext("keep deleted"), _STANDS),
        },
        on_several=OnSeveral(
            lazy_gettext("Confirm selected"),
            lazy_gettext("Confirm %(count)s"),
            lazy_gettext("what was done stands"),
            "secondary",
            lambda count: ngettext(
                "%(num)s post will be confirmed.", "%(num)s posts will be confirmed.", count
            ),
        ),
    ),
    ActionVerb.OVERTURN: VerbWords(
        lazy_gettext("Overturn"),
        lazy_gettext("Overturning…"),
        "destructive",
        "O",
        effects={
            ActionType.HIDE: Effect(
                lazy_gettext("show post again"), lazy_gettext("%(post)s will be shown again.")
            ),
            ActionType.UNHIDE: Effect(lazy_gettext("revoke"), _REVOKED),
            ActionType.WARN: Effect(lazy_gettext("revoke warning"), _REVOKED),
            ActionType.SILENCE: Effect(lazy_gettext("end silence"), _REVOKED),
            ActionType.DELETE: Effect(
                lazy_gettext("restore post"),
                lazy_gettext("the platform will be asked to restore %(post)s."),
                lazy_gettext("Not every platform can restore a deleted post."),
            ),
        },
        on_several=OnSeveral(
            lazy_gettext("Overturn selected"),
            lazy_gettext("Overturn %(count)s"),
            lazy_gettext("take it back"),
            "destructive",
            lambda count: ngettext(
                "%(num)s post will be overturned.", "%(num)s posts will be overturned.", count
            ),
        ),
    ),
    ActionVerb.REOPEN: VerbWords(lazy_gettext("Reopen"), lazy_gettext("Reopening…")),
}
"""In the order of the buttons."""
CONSEQUENCES: Mapping[ActionType, str] = {
    ActionType.WARN: lazy_gettext("post stays"),
    ActionType.HIDE: lazy_gettext("can be shown again"),
    ActionType.SILENCE: lazy_gettext("post stays, author cannot write"),
    ActionType.DELETE: lazy_gettext("cannot be brought back"),
}
"""What follows from each action that a moderator may choose (``CHOOSABLE``), the lightest first."""
NAMES: Mapping[str, str] = {verb.value: words.name for verb, words in WORDS.items()}
"""Names by the verb values in the history."""


def effect(verb: ActionVerb, action: Action) -> Effect:
    """Return the verb's effect on this action."""
    return WORDS[verb].effects[action.action_type]


def effect_name(action_type: ActionType) -> str:
    """Return what the platform does as the name of a button: "Hide post"."""
    short = str(WORDS[ActionVerb.FORCE_PUBLISH].effects[action_type].short)
    return short[:1].upper() + short[1:]


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
        return _(_NOT_SENT, post=subject)
    # ReopenTo.ACT has the same effect as force-publishing.
    acts = ActionVerb.FORCE_PUBLISH if verb is ActionVerb.REOPEN else verb
    return _(WORDS[acts].effects[act_as or action.action_type].sentence, post=subject)


@dataclass(frozen=True)
class VerbButton:
    """A button of the decision form.

    ``effect`` is its second line, empty if the verb's name says enough. ``note`` is shown below the buttons. ``act_as``
    is an action that the moderator may choose instead of the configured one: its name then says the effect, and
    ``effect`` the consequence. On several posts ``unticked`` is its label while none is ticked, and ``counted`` with
    "{count}" in place of their number, for script.
    """

    verb: ActionVerb
    label: str
    kind: str
    key: str | None = None
    effect: str = ""
    note: str = ""
    act_as: ActionType | None = None
    unticked: str = ""
    counted: str = ""

    @property
    def value(self) -> str:
        """What the button sends: the verb, and the action that was chosen instead of the configured one."""
        return f"{self.verb}.{self.act_as}" if self.act_as is not None else str(self.verb)

    @property
    def is_other(self) -> bool:
        """Whether it does something else than what is configured, so that its label says the effect."""
        return self.act_as is not None and not self.counted

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
            effect=str(consequence),
            act_as=action_type,
        )
        for action_type, consequence in CONSEQUENCES.items()
        if action_type is not action.action_type and action_type in choosable(action)
    ]


def button(verb: ActionVerb, action_type: ActionType) -> VerbButton:
    """Return the verb's button for an action of this type."""
    words = WORDS[verb]
    effect = words.effects[action_type]
    return VerbButton(verb, words.name, words.kind, words.key, str(effect.short), effect.note)


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
            _(on_several.counted, count=texts.number(count)) if count else on_several.name,
            on_several.kind,
            words.key,
            str(on_several.effect),
            act_as=on_several.act_as,
            unticked=on_several.name,
            counted=_(on_several.counted, count="{count}"),
        )
        for verb, words, on_several in several
        if on_several is not None
    ]
