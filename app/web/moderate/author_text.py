"""The question before a decision that carries no text to the author: go without the text that was typed, or go back."""

from dataclasses import dataclass

from app.core.models import Action
from app.core.review import holds
from app.core.vocabulary import ActionVerb
from app.web import forms
from app.web.moderate.forms import DecisionForm, ReopenForm
from app.web.moderate.verb_words import WORDS, effect_name

WITHOUT = "without_text"
"""In the query string of a form that was sent after the question."""


@dataclass(frozen=True)
class TextQuestion:
    """What was pressed: its name, the endpoint that it is sent to, and the button's value, empty for no decision."""

    name: str
    endpoint: str
    value: str = ""


def question(
    form: DecisionForm | ReopenForm, action: Action, at_once: TextQuestion | None
) -> TextQuestion | None:
    """Return what to ask before this decision; None if it carries the text, there is none, or it was asked already.

    ``at_once`` is the question of a verb that decides nothing and so never carries a text.
    """
    if not isinstance(form, DecisionForm) or not form.author_text.data or forms.query_arg(WITHOUT):
        return None
    if at_once is not None:
        return at_once
    verb, act_as = form.wanted_verb(), form.wanted_action()
    if verb is None or holds.carries_text(verb, action, act_as):
        return None
    does = verb is ActionVerb.FORCE_PUBLISH
    name = effect_name(act_as or action.action_type) if does else WORDS[verb].name
    return TextQuestion(name, "web.decide", form.verb.data or "")
