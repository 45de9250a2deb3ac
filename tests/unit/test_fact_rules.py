"""Rules that ask facts beside words: their form, what they match, and what previews say about them."""

from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.classify import COMMUNITY_RULES, Context
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.rules import parse_pack
from app.core.errors import Invalid
from app.core.models import Action, Score
from app.core.requests import submitting
from app.core.requests.submitting import Submission
from app.core.rulesets import drafts, trials, versions
from app.core.vocabulary import ActionState
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

NEW = {"account_age_hours": {"below": 24}, "author_links_hour": {"at_least": 3}}
RULE: dict[str, Any] = {"id": "spam.new", "category": "spam", "kind": "facts", "when": NEW, "weight": 0.8}


def pack_of(*rules: dict[str, Any]) -> RulePackClassifier:
    return RulePackClassifier(parse_pack({"name": "own", "version": "1", "rules": list(rules)}), "own")


def test_a_rule_of_facts_matches_without_a_passage_and_says_what_it_asked() -> None:
    facts = {"account_age_hours": 3, "author_links_hour": 4, "alike_day": 9}
    (result,) = pack_of(RULE).score(["Any words"], Context(facts=facts))
    (match,) = result.matches
    assert result.scores == {"spam": 0.8}
    assert (match.start, match.end) == (0, 0)
    assert match.facts == (("account_age_hours", 3), ("author_links_hour", 4))


@pytest.mark.parametrize(
    "facts",
    [
        {},
        {"account_age_hours": 3},
        {"author_links_hour": 9},
        {"account_age_hours": 24, "author_links_hour": 9},
        {"account_age_hours": 0, "author_links_hour": 2},
    ],
)
def test_a_fact_that_is_not_known_or_not_met_never_matches(facts: dict[str, int]) -> None:
    (result,) = pack_of(RULE).score(["Any words"], Context(facts=facts))
    assert (result.scores, result.matches) == ({"spam": 0.0}, ())


def test_facts_narrow_a_rule_of_words() -> None:
    rule = RULE | {"kind": "phrase", "pattern": "lovely lanterns"}
    own = pack_of(rule)
    facts = {"account_age_hours": 3, "author_links_hour": 4}
    texts = ["Lovely LANTERNS here", "Other words"]
    assert [one.scores["spam"] for one in own.score(texts, Context(facts=facts))] == [0.8, 0.0]
    assert [one.scores["spam"] for one in own.score(texts, Context())] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"when": {"age": {"below": 1}}}, "when", "is no fact; facts are account_age_hours"),
        ({"when": {"alike_day": {"at_least": 101}}}, "when", "a whole number from 0 to 100"),
        ({"when": {"alike_day": {"at_least": True}}}, "when", "a whole number"),
        ({"when": {"alike_day": {"at_least": 5, "below": 5}}}, "when", "at_least must be less than below"),
        ({"when": {"alike_day": {"over": 5}}}, "when", "must have at_least, below or both"),
        ({"when": {"alike_day": 5}}, "when", "must have at_least, below or both"),
        ({"when": [1]}, "when", "must be an object"),
        ({"when": {}}, "when", "must ask at least one fact"),
        ({"pattern": "x"}, "pattern", "must be empty"),
        ({"unless": ["x"]}, "unless", "must be empty"),
        (
            {
                "when": {
                    name: {"at_least": 1, "below": 9} for name in ("alike_day", "alike_hour", "posts_count")
                }
            },
            "when",
            "at most 4 bounds",
        ),
    ],
)
def test_an_invalid_rule_says_what_is_wrong(change: dict[str, Any], field: str, words: str) -> None:
    with pytest.raises(Invalid) as refusal:
        pack_of(RULE | change)
    problem = refusal.value.problems[0]
    assert problem.loc == ("rules", 0, field)
    assert words in problem.msg


def test_a_preview_knows_the_facts_of_stored_posts_and_the_item_says_them(wiring: Wiring, cast: Cast) -> None:
    def post(number: int, author: str, hours: int) -> None:
        created = clock.iso(clock.now() - timedelta(hours=hours))
        with wiring.database.writing() as session:
            submission = Submission(
                f"r-{number}",
                "forum",
                f"Photo {number} of the harbour: https://pictures.example/{number}",
                platform_author_id=author,
                extra={"author": {"account_created_at": created}},
            )
            submitting.submit(session, factories.integration(cast), cast.community_id, submission)
        wiring.jobs.run_all()  # type: ignore[union-attr]  # tests wire the engine's double

    operator = factories.actor_of(wiring, cast.operator)
    for number in range(8):
        post(number, "new" if number % 2 else "old", 2 if number % 2 else 5_000)
    with wiring.database.writing() as session:
        drafts.put_rule(session, operator, cast.community_id, RULE)
    with wiring.database.reading() as session:
        standing = versions.standing(session, operator, cast.community_id)
        assert standing.draft is not None
        base = wiring.classifiers_for(session, cast.community_id)
        hits = trials.try_on_stored(
            session, operator, cast.community_id, base, standing.in_force, standing.draft
        )
    assert hits.by_rule == {"spam.new": 2}
    with wiring.database.writing() as session:
        drafts.publish(session, operator, cast.community_id, "New accounts with many links")
    post(9, "new", 2)
    post(10, "old", 5_000)
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action)).one()
        assert action.action_state is ActionState.UNDER_REVIEW
        (match,) = (action.evidence or {})["details"]["matches"]
        assert match["facts"] == [["account_age_hours", 2], ["author_links_hour", 5]]
        scores = session.scalars(sa.select(Score.score).where(Score.classifier == COMMUNITY_RULES))
        assert sorted(scores) == [0.0, 0.8]
