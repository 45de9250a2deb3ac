"""What people are asked about an action, in the same words on every page, in the API and in events."""

from collections.abc import Mapping

from app.core.vocabulary import ActionType, Verb

_QUESTIONS: Mapping[str, str] = {
    Verb.HIDE: "Should this post be hidden?",
    Verb.DELETE: "Should this post be deleted?",
    Verb.FLAG: "Should this post be flagged?",
    Verb.NOTIFY: "Should the author of this post get a notice?",
    ActionType.WARN: "Should the author of this post be warned?",
    ActionType.SILENCE: "Should the author of this post be silenced?",
    ActionType.UNHIDE: "Should this post be shown again?",
}


def question_of(action_type: ActionType, decided_verb: str) -> str:
    """The question about an action: what would be done to the post, by its verb or else by its type."""
    return _QUESTIONS.get(decided_verb) or _QUESTIONS.get(action_type, "Should we act on this post?")
