"""The verbs that are open, as buttons: over an action, over a note, and over several rows of the queue."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.models import Action, Note
from app.core.permissions import Actor
from app.core.review import holds
from app.core.vocabulary import ActionType, ActionVerb
from app.web.moderate.verb_words import WORDS


@dataclass(frozen=True)
class VerbButton:
    """A decision that is open, as a button of the form.

    ``effect`` is its second line, empty where the verb's name says it all; ``note`` stands below the buttons.
    """

    verb: ActionVerb
    label: str
    kind: str
    key: str | None = None
    effect: str = ""
    note: str = ""

    @property
    def name(self) -> str:
        """What the button is called: its two lines as one."""
        return f"{self.label}: {self.effect}" if self.effect else self.label


def for_action(actor: Actor, action: Action) -> list[VerbButton]:
    """The decisions about this action that are open to the actor; the order is always the same."""
    open_verbs = holds.verbs_open_to(actor, action)
    return [button(verb, action.action_type) for verb in WORDS if verb in open_verbs]


def button(verb: ActionVerb, action_type: ActionType) -> VerbButton:
    """The verb's button over an action of this type."""
    words = WORDS[verb]
    effect = words.effects[action_type]
    return VerbButton(verb, words.name, words.kind, words.key, effect.short, effect.note)


def for_note(actor: Actor, note: Note) -> list[VerbButton]:
    """The decisions about this note that are open to the actor."""
    open_verbs, buttons = holds.verbs_open_to(actor, note), []
    for verb, words in WORDS.items():
        if verb in open_verbs and words.on_note is not None:
            buttons.append(
                VerbButton(verb, words.name, words.on_note.kind, words.key, note=words.on_note.hint)
            )
    return buttons


def for_several() -> Sequence[VerbButton]:
    """The decisions that can be made about several rows of the queue at once."""
    return [
        VerbButton(verb, words.on_several.name, words.on_several.kind, words.key, words.on_several.effect)
        for verb, words in WORDS.items()
        if words.on_several is not None
    ]
