"""What people are asked about an action, in the same words on every page, in the API and in events."""

from collections.abc import Mapping

from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionType, Verb

_QUESTIONS: Mapping[str, str] = {
    Verb.HIDE: lazy_gettext("Should this post be hidden?"),
    Verb.DELETE: lazy_gettext("Should this post be deleted?"),
    Verb.FLAG: lazy_gettext("Should this post be flagged?"),
    Verb.NOTIFY: lazy_gettext("Should the author of this post get a notice?"),
    ActionType.WARN: lazy_gettext("Should the author of this post be warned?"),
    ActionType.SILENCE: lazy_gettext("Should the author of this post be silenced?"),
    ActionType.UNHIDE: lazy_gettext("Should this post be shown again?"),
}


def question_of(action_type: ActionType, decided_verb: str) -> str:
    """The question about an action: what would be done to the post, by its verb or else by its type."""
    return _QUESTIONS.get(decided_verb) or _QUESTIONS.get(
        action_type, lazy_gettext("Should we act on this post?")
    )
