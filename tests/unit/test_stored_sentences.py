"""A sentence with values that the service stores is in the language of its community (docs/translating.md)."""

import pytest

from app.core import texts
from app.core.classify import CATEGORIES
from app.core.communities import settings as community_settings
from app.core.models import Action, Community, HistoryEntry, HistoryText, Request
from app.core.notes import notes
from app.core.people import profiles
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import ESCALATED
from app.core.vocabulary import Verb
from app.web.item.timeline import cause_words, reason_words
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

ID = "019abcde-0000-7000-8000-000000000001"


def rationale(wiring: Wiring, cast: Cast, language: str, category: str, meaning: str, verb: Verb) -> str:
    action_id = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"language": language}
        request = session.get_one(Request, session.get_one(Action, action_id).request_id)
        author_id = profiles.of_service(session).id
        return notes.rationale(session, request, category, meaning, verb, author_id).summary


@pytest.mark.parametrize("category", CATEGORIES)
def test_the_rationale_of_a_shipped_category_in_english(wiring: Wiring, cast: Cast, category: str) -> None:
    meaning = threshold_sets.describe(category)
    said = rationale(wiring, cast, "en", category, meaning, Verb.HIDE)
    words = "personal data" if category == "pii" else category.replace("_", " ")
    what = str(meaning)[:1].lower() + str(meaning)[1:]
    assert said == f"This content looks like {words}: {what}. If so, it should be hidden."


def test_a_rationale_in_the_language_of_the_community(wiring: Wiring, cast: Cast) -> None:
    meaning = threshold_sets.describe("threat")
    assert rationale(wiring, cast, "de", "threat", meaning, Verb.DELETE) == (
        "Dieser Beitrag sieht nach einer Drohung aus: Jemandem Gewalt oder Schaden ankündigen oder wünschen. "
        "Wenn das stimmt, sollte er gelöscht werden."
    )
    own = rationale(wiring, cast, "de", "off_topic", threshold_sets.describe("off_topic"), Verb.NOTIFY)
    assert own.startswith("Dieser Beitrag sieht nach off topic aus: off topic. Wenn das stimmt")
    assert "looks like" not in rationale(wiring, cast, "de", ESCALATED, "Somebody asked", Verb.FLAG)


def test_the_language_of_the_community_ends_with_the_block(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        session.get_one(Community, cast.community_id).settings = {"language": "de"}
        with community_settings.in_language(session, cast.community_id):
            assert cause_words("its time is over") == "Ihre Zeit ist um"
        assert cause_words("its time is over") == "Its time is over"


@pytest.mark.parametrize(
    ("cause", "shown"),
    [
        (f"rating {ID}", "After a new rating"),
        ("refit 12", "After viewpoints were computed again"),
        (f"linked profile {ID}", "A profile was linked"),
        (f"profile {ID} was the same person: one person, one rating", "Two profiles were the same person"),
        ("7 days went by", "7 days went by"),
    ],
)
def test_a_cause_is_shown_without_its_id(cause: str, shown: str) -> None:
    assert cause_words(cause).partition(":")[0] == shown


def test_a_reason_of_the_service_is_translated_and_a_persons_is_not() -> None:
    said = "Raters do not agree with it"
    text = HistoryText(reason=said)
    with texts.chosen(texts.named("de")):
        assert reason_words(HistoryEntry(actor_kind="system"), text) == "Bewertende stimmen ihr nicht zu"
        assert reason_words(HistoryEntry(actor_kind="account"), text) == said
