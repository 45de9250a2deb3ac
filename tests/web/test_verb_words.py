"""The table of words says something of every decision that can be made, and of nothing else."""

import pytest

from app.core.review.holds import NOTE_VERBS
from app.core.vocabulary import HELD_VERBS, ActionType, ActionVerb
from app.web.item import verb_words
from app.web.item.verb_words import NAMES, WORDS


def test_every_decision_has_its_words() -> None:
    assert set(WORDS) == set(HELD_VERBS)
    assert {verb.value: WORDS[verb].name for verb in HELD_VERBS} == NAMES
    assert {verb for verb, words in WORDS.items() if words.on_note is not None} == set(NOTE_VERBS)


@pytest.mark.parametrize("verb", [verb for verb in HELD_VERBS if verb is not ActionVerb.REOPEN])
def test_every_decision_about_every_type_of_action_has_a_button_and_a_sentence(verb: ActionVerb) -> None:
    for action_type in ActionType:
        button = verb_words.button(verb, action_type)
        assert button.name == f"{WORDS[verb].name}: {button.effect}"
        assert button.effect
        assert "%(post)s" in WORDS[verb].effects[action_type].sentence


def test_no_two_decisions_share_a_key() -> None:
    keys = [words.key for words in WORDS.values() if words.key]
    assert len(keys) == len(set(keys)) == 4
