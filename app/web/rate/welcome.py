"""Welcome page for raters: the community's guidelines and practice: three posts and a note."""

from collections.abc import Mapping
from typing import Any

from flask import Response, url_for
from wtforms import Form, RadioField
from wtforms.validators import InputRequired

from app.core import texts
from app.core.models import Membership
from app.core.permissions import Permission
from app.core.questions import question_of
from app.core.raters import practice
from app.core.raters.practice import BY_NAME, EXAMPLES, Example
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ActionType, HelpfulnessLevel, Verb
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import category_name, content_name
from app.web.item.note_forms import RatingForm
from app.web.item.note_views import LEVEL_WORDS
from app.web.item.views import ANSWER_WORDS, ANSWERS, OPTIONS
from app.wiring import wired

QUESTION = question_of(ActionType.HIDE, Verb.HIDE)
_SAID = {level: answer for answer, level in ANSWERS.items()}
_NOTE_WORDS = {answer: LEVEL_WORDS[level] for answer, level in ANSWERS.items()}


class PracticeForm(Form):
    """An example and the answer to it."""

    example = RadioField(
        lazy_gettext("Example"),
        [InputRequired(lazy_gettext("Choose an example."))],
        choices=forms.choices({example.name: example.name for example in EXAMPLES}),
    )
    answer = RadioField(
        lazy_gettext("Your answer"),
        [InputRequired(lazy_gettext("Choose an answer."))],
        choices=forms.choices(ANSWER_WORDS),
    )


@web.get("/welcome")
@auth.needs(Permission.RATE)
def welcome() -> Response:
    return _show(practice.answers_of(membership()))


@web.post("/welcome")
@auth.needs(Permission.RATE)
def practise() -> Response:
    so_far = practice.answers_of(membership())
    name = next(iter(forms.posted_values("example")), "")
    if name in BY_NAME and BY_NAME[name].note is not None:
        rating = _rating_form(posted=True)
        if not rating.validate():
            return _show(so_far, rating, rating=rating, status=422)
        answer = _SAID[HelpfulnessLevel(rating.level.data)]
    else:
        form = forms.posted(PracticeForm)
        if not form.validate():
            return _show(so_far, form, status=422)
        name, answer = form.example.data, form.answer.data
    with wired().database.writing() as session:
        practice.answer(session, auth.current_actor(), auth.current_community().id, name, answer)
    so_far[name] = answer
    if membership() is None:
        # A service admin need not be a member; without a membership the answer cannot be stored.
        return _show(so_far)
    card = next(row for row in _cards(so_far) if row["name"] == name)
    message = (
        _("Most would say so too.")
        if card["is_best"]
        else _("Most would say %(answer)s here.", answer=card["best"])
    )
    target = url_for("web.welcome", _anchor=f"example-{card['number']}")
    return page.done("rate/_practice.html", target, message, **_context(so_far, card["number"]))


@web.post("/welcome/again")
@auth.needs(Permission.RATE)
def practise_again() -> Response:
    with wired().database.writing() as session:
        practice.start_over(session, auth.current_actor(), auth.current_community().id)
    return page.done(None, url_for("web.welcome"), _("You can practise again."))


def membership() -> Membership | None:
    """Return the reader's membership in the current community, or None. A service admin may have none."""
    community_id = auth.current_community().id
    memberships = auth.current_reader().account.memberships
    return next((row for row in memberships if row.community_id == community_id), None)


def _rating_form(*, posted: bool = False) -> RatingForm:
    return forms.posted(RatingForm, prefix="practice-") if posted else RatingForm(prefix="practice-")


def _show(
    so_far: Mapping[str, str],
    form: Form | None = None,
    *,
    rating: RatingForm | None = None,
    status: int = 200,
) -> Response:
    community = auth.current_community()
    with wired().database.reading() as session:
        categories = [
            category.name
            for category in threshold_sets.current(session, community.id).categories
            if category.enabled
        ]
    context = _context(so_far, None)
    if form is not None:
        context["form"] = form
    if rating is not None:
        context["rating_form"] = rating
    return page.render(
        "rate/welcome.html",
        "rate/_practice.html",
        status=status,
        policy_text=community.policy_text,
        categories=[(category_name(name), threshold_sets.describe(name)) for name in categories],
        **context,
    )


def _context(so_far: Mapping[str, str], answered: int | None) -> dict[str, Any]:
    """Return the context of ``_practice.html``. ``answered``: number of the example just answered, which gets focus."""
    cards = _cards(so_far)
    return {
        "cards": cards,
        "current": next((card for card in cards if card["said"] is None), None),
        "answered": answered,
        "question": QUESTION,
        "options": OPTIONS,
        "form": PracticeForm(),
        "rating_form": _rating_form(),
    }


def _words(example: Example) -> Mapping[str, str]:
    """The answers in words: for a post Yes, No, Not sure; for a note its levels."""
    return ANSWER_WORDS if example.note is None else _NOTE_WORDS


def _cards(so_far: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the examples as they are shown; ``said`` and ``why`` are None until one is answered."""
    return [
        {
            "number": number,
            "name": example.name,
            "kind": texts.in_sentence(content_name(example.category)),
            "meaning": threshold_sets.describe(example.category),
            "text": example.text,
            "said": _words(example).get(so_far.get(example.name, "")),
            "best": _words(example)[example.best],
            "is_best": so_far.get(example.name) == example.best,
            "why": example.why.get(so_far.get(example.name, "")),
            "note": example.note,
        }
        for number, example in enumerate(EXAMPLES, 1)
    ]
