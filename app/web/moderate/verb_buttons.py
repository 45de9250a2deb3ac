"""Buttons for the verbs that the actor may use: on an action, on a note, and on several rows of the queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.models import Action, Note
from app.core.permissions import Actor
from app.core.review import holds
from app.core.vocabulary import ActionType, ActionVerb
from app.web.moderate.verb_words import CONSEQUENCES, WORDS, effect_name


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


def for_action(actor: Actor, action: Action) -> list[VerbButton]:
    """Return the buttons for the actor's possible decisions on this action, always in the same order."""
    open_verbs = holds.verbs_open_to(actor, action)
    return [button(verb, action.action_type) for verb in WORDS if verb in open_verbs]


def others(actor: Actor, action: Action) -> list[VerbButton]:
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
        if action_type is not action.action_type
    ]


def button(verb: ActionVerb, action_type: ActionType) -> VerbButton:
    """Return the verb's button for an action of this type."""
    words = WORDS[verb]
    effect = words.effects[action_type]
    return VerbButton(verb, words.name, words.kind, words.key, effect.short, effect.note)


def for_note(actor: Actor, note: Note) -> list[VerbButton]:
    """Return the buttons for the actor's possible decisions on this note."""
    open_verbs, buttons = holds.verbs_open_to(actor, note), []
    for verb, words in WORDS.items():
        if verb in open_verbs and words.on_note is not None:
            buttons.append(
                VerbButton(verb, words.name, words.on_note.kind, words.key, note=words.on_note.hint)
            )
    return buttons


def for_several(verbs: Sequence[ActionVerb], count: int | None = None) -> Sequence[VerbButton]:
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
