"""Repetitions of a matched post with small edits get its match without a search; edits that matter do not."""

import uuid
from typing import Any

import pytest
from sqlalchemy import event

from app.core.classify import Context
from app.core.factcheck import near_equal, storing
from app.core.factcheck.items import Item
from app.core.factcheck.matching import terms
from app.core.factcheck.near_equal import NearEqual
from app.core.factcheck.scorer import FactCheckScorer, KeptMatches
from app.core.factcheck.search import Match
from app.wiring import Wiring
from tests.cast import Cast

CLAIM = "Drinking seawater every morning cures diabetes within two weeks"
POST = (
    "My aunt in Norrvik swears that drinking seawater every morning cures diabetes within two weeks, "
    "and 3 friends of hers drink it too"
)
MATCH = Match(uuid.UUID(int=7), 0.9)


@pytest.mark.parametrize(
    ("edited", "is_reused"),
    [
        (POST.upper(), True),
        (f"RT @aunt: {POST} https://t.co/x1", True),
        (POST.replace("aunt", "grandmother"), True),
        (f"{POST} wow, amazing", True),
        (POST.replace("drinking seawater", "drinking lemonade"), False),
        (POST.replace("3 friends", "30 friends"), False),
        (POST.replace("cures", "does not cure"), False),
        (f"{POST}. What a hoax", False),
        (
            POST.replace(
                "My aunt in Norrvik swears that", "Doctors and nurses of the harbour clinic laugh about"
            ),
            False,
        ),
        (" ".join(reversed(POST.split())), False),
    ],
)
def test_an_edit_that_changes_nothing_of_the_claim_gets_the_same_match(edited: str, is_reused: bool) -> None:
    kept = NearEqual()
    assert kept.find(("home",), terms.read(POST)) is None
    kept.keep(("home",), terms.read(POST), terms.read(CLAIM), MATCH)
    assert kept.find(("home",), terms.read(edited)) == (MATCH if is_reused else None)
    assert kept.find(("elsewhere",), terms.read(edited)) is None


def test_only_the_newest_posts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_equal, "KEPT", 2)
    kept = NearEqual()
    posts = [
        terms.read(POST.replace("Norrvik", name).replace("seawater", name))
        for name in ("Ahus", "Byx", "Cove")
    ]
    for post in posts:
        kept.keep(("home",), post, terms.read(CLAIM), MATCH)
    assert [kept.find(("home",), post) for post in posts] == [None, MATCH, MATCH]
    assert len(kept._bands) <= 2 * 16, "nothing is left of the forgotten one"


def test_the_scorer_searches_a_repetition_once_and_follows_the_datasets(wiring: Wiring, cast: Cast) -> None:
    def keep(claim: str) -> None:
        item = Item("checks", "sea-1", claim, "False", "https://checks.example.org/1", "Checks")
        with wiring.database.writing() as session:
            storing.keep(session, [item])

    scorer = FactCheckScorer(wiring.database, KeptMatches())
    statements: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        statements.append(statement)

    def matched(text: str) -> tuple[float | None, int]:
        statements.clear()
        event.listen(wiring.database.engine, "before_cursor_execute", note)
        (result,) = scorer.score([text], Context(cast.community_id))
        event.remove(wiring.database.engine, "before_cursor_execute", note)
        words = [one for one in statements if "fact_check_postings.word" in one.split("WHERE")[0]]
        return None if result.fact_check is None else result.fact_check.similarity, len(words)

    keep(CLAIM)
    first = matched(POST)
    assert first[0] is not None
    assert first[1] > 0
    assert matched(POST.replace("aunt", "grandmother")) == (first[0], 0)
    keep("The mayor of Norrvik sold a bridge")
    assert matched(POST.replace("aunt", "uncle"))[0] is None
