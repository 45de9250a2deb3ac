"""Matching of posts with fact-checks: words, the index, the model, and what becomes of a scored request."""

import gzip
import json
import uuid
from datetime import date
from typing import Any

import numpy as np
import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from app.adapters.builtin_notes import BuiltinWriter
from app.commands.main import cli
from app.core.classify import Context
from app.core.factcheck import items, published, ratings, search
from app.core.factcheck.items import Item
from app.core.factcheck.matching import features, matcher, terms
from app.core.factcheck.matching.matcher import match
from app.core.factcheck.matching.weights import read_weights, shipped, shipped_file
from app.core.factcheck.scorer import RAISES, FactCheckScorer, KeptMatches
from app.core.factcheck.search import MemoryIndex
from app.core.models import Action, FactCheckItem, Request, Score
from app.core.notes.ai_notes import Post
from app.core.vocabulary import ActionTier, ClaimRating, Classification
from app.wiring import Wiring
from tests.cast import Cast
from tests.factories import submit
from tests.inline_engine import InlineEngine

SEAWATER = "Drinking seawater every morning cures diabetes within two weeks"
TUNNEL = "The city council of Vellmar sold 10 tram tunnels to a casino owner"
CLAIMS = [
    (SEAWATER, "Does Seawater Cure Diabetes?"),
    (TUNNEL, "Did Vellmar Sell Its Tunnels?"),
    ("A lighthouse keeper in Norrvik trained herring to ring a bell", ""),
    ("Eating chalk before an exam doubles the memory of pupils", "Chalk and Memory"),
    ("The Brahe ferry sank because its captain was watching a football match", ""),
]
MADE = [
    "My aunt swears that drinking SEAWATER each morning cured her diabetes in two weeks!!",
    "RT @healthyaunt: seawater cures diabetes in two weeks if you drink it every morning https://t.co/x1",
    "#SeawaterCuresDiabetes two weeks of drinking it every morning 🌊🌊 pic.twitter.com/abc",
]
NOT_MADE = [
    "Drinking seawater every morning does not cure diabetes within two weeks",
    "Drinking seawater every morning cures diabetes within two weeks: a hoax",
    "The city council of Vellmar sold 100 tram tunnels to a casino owner",
    "The tram to the casino is late again this morning",
    "my aunt lives by the sea",
    "",
    "https://example.org",
]


def item(claim: str, number: int = 1, rating: str = "False", **said: Any) -> Item:
    url = f"https://checks.example.org/{number}"
    return Item("checks", f"item-{number}", claim, rating, url, "Example Checks", **said)


def keep(wiring: Wiring, *made: Item, community_id: uuid.UUID | None = None) -> None:
    with wiring.database.writing() as session:
        items.keep(session, made, community_id)


def test_what_only_posts_have_is_taken_apart_or_left_out() -> None:
    read = terms.read("RT @bob: It’s #VoteByMail day!! 10,000 ballots https://t.co/x pic.twitter.com/y 🎉")
    assert read.words == ("vote", "mail", "day", "10000", "ballot")
    signed = terms.read("Not a hoax. — Ann Lee (@AnnLeeNews) May 4, 2020")
    assert (signed.words, signed.signed) == (("hoax",), {"ann", "lee", "new"})
    assert (signed.negated_at, signed.denied_at) == ((0,), (0,))
    assert terms.read("They say this is not true").denied_at == (0,)


@pytest.mark.parametrize("text", MADE)
def test_a_post_that_makes_a_claim_is_shown_its_fact_check(text: str) -> None:
    outcome = match(text, MemoryIndex(CLAIMS), shipped())
    assert outcome.shown is not None
    assert outcome.shown.number == 0
    scores = [ranked.score for ranked in outcome.ranked]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("text", NOT_MADE)
def test_a_denial_another_number_or_another_topic_is_shown_none(text: str) -> None:
    assert match(text, MemoryIndex(CLAIMS), shipped()).shown is None


def test_denials_are_read_in_other_languages_too() -> None:
    index = MemoryIndex([("Impfungen verursachen Autismus bei Kindern", "")])
    assert match("Impfungen verursachen Autismus bei Kindern!", index, shipped()).shown is not None
    assert match("Impfungen verursachen keinen Autismus bei Kindern!", index, shipped()).shown is None


def test_one_claim_checked_by_several_publishers_is_still_shown() -> None:
    index = MemoryIndex([*CLAIMS, (SEAWATER, ""), (f"{SEAWATER}.", "Seawater and diabetes")])
    shown = match(MADE[0], index, shipped()).shown
    assert shown is not None
    assert shown.number in (0, 5, 6)


def test_claims_in_another_language_are_left_out() -> None:
    index = MemoryIndex(CLAIMS, lambda text: "de" if text.startswith("Drinking") else "en")
    assert match(MADE[0], index, shipped(), "en").shown is None
    assert match(MADE[0], index, shipped(), "de").shown is not None
    assert match(MADE[0], index, shipped(), None).shown is not None


def test_weights_for_other_features_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = shipped_file().read_bytes()
    assert read_weights(content).bar > 0.5
    monkeypatch.setattr("app.core.factcheck.matching.weights.CODE_VERSION", 999)
    with pytest.raises(ValueError, match="other features"):
        read_weights(content)


@pytest.mark.both_databases
def test_the_database_ranks_as_memory_does_and_follows_changes(wiring: Wiring, cast: Cast) -> None:
    keep(wiring, *(item(claim, number, title=title) for number, (claim, title) in enumerate(CLAIMS)))
    own = "The mayor of Vellmar bought 12 herring"
    keep(wiring, item(own, 90), community_id=cast.community_id)
    with wiring.database.reading() as session:
        stored, memory = search.DatabaseIndex(session, cast.community_id), MemoryIndex([*CLAIMS, (own, "")])
        for text in (*MADE, *NOT_MADE, "herring of Vellmar"):
            both = [matcher.find(terms.read(text), index, shipped().background) for index in (stored, memory)]
            found = [[one.number for one in index.found] for index in both]
            assert sorted(found[0]) == sorted(found[1]), text
            assert found[0][:1] == found[1][:1], text
            rows = [index.features[np.argsort(numbers)] for index, numbers in zip(both, found, strict=True)]
            assert rows[0][:, :-3] == pytest.approx(rows[1][:, :-3]), text
        assert search.find(session, own, cast.community_id) is not None
        assert search.find(session, own, cast.other_community_id) is None
    keep(wiring, item("A pigeon won the Brahe marathon", 0))
    with wiring.database.writing() as session:
        assert items.find(session, MADE[0]) is None
        assert items.find(session, "A pigeon has won the Brahe marathon!") is not None
        items.hide(session, session.scalars(sa.select(FactCheckItem.id)).all())
        assert items.find(session, "A pigeon has won the Brahe marathon!") is None


@pytest.mark.both_databases
def test_nothing_is_found_of_an_import_that_is_rolled_back(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        items.keep(session, [item(SEAWATER, 1)])
        assert search.find(session, SEAWATER, None) is not None
        session.rollback()
    keep(wiring, item(TUNNEL, 2))
    with wiring.database.reading() as session:
        assert search.find(session, SEAWATER, None) is None
        assert search.find(session, TUNNEL, None) is not None


POST = (
    "My aunt in Norrvik swears that drinking seawater every morning cures diabetes within two weeks, "
    "and 3 friends of hers drink it too"
)


EDITS: list[tuple[str, bool]] = [
    (POST, True),
    (POST.upper(), True),
    (f"RT @aunt: {POST} https://t.co/x1", True),
    (POST.replace("aunt", "grandmother"), True),
    (f"{POST} wow, amazing", True),
    (POST.replace("cures", "does not cure"), False),
    (f"{POST}. What a hoax", False),
]


@pytest.mark.both_databases
def test_an_edit_that_changes_nothing_of_the_claim_gets_the_same_match(wiring: Wiring) -> None:
    keep(wiring, *(item(claim, number) for number, (claim, _) in enumerate(CLAIMS)))
    with wiring.database.reading() as session:
        for edited, is_found in EDITS:
            found = items.find(session, edited)
            assert (found is not None and found.item_id == "item-0") is is_found, edited


@pytest.mark.both_databases
def test_common_words_are_not_searched_where_fact_checks_are_many(
    wiring: Wiring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "HITS", 12)
    harbours = [f"A tram number{number} stands at the harbour gate" for number in range(20)]
    keep(wiring, *(item(claim, number) for number, claim in enumerate((*harbours, SEAWATER))))
    with wiring.database.writing() as session:
        if wiring.database.engine.dialect.name == "postgresql":
            # As the server does by itself within a minute.
            session.execute(sa.text("ANALYZE search_fact_checks"))
        index, usual = search.DatabaseIndex(session, None), shipped().background
        assert index.best(terms.read("The seawater tram at the harbour gate"), usual, 50) == [20]
        assert len(index.best(terms.read("tram"), usual, 50)) == 20, "one word is always searched"


def scored(wiring: Wiring, jobs: InlineEngine, request_id: uuid.UUID) -> tuple[Request, Action | None]:
    jobs.run_all()
    with wiring.database.reading() as session:
        action = session.scalars(sa.select(Action).where(Action.request_id == request_id)).first()
        return session.get_one(Request, request_id), action


def test_a_post_with_a_false_claim_goes_to_raters_with_its_fact_check(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    keep(wiring, *(item(claim, number) for number, (claim, _) in enumerate(CLAIMS)))
    request, action = scored(wiring, jobs, submit(wiring, cast, MADE[0]))
    assert (request.dataset_name, request.dataset_item_id) == ("checks", "item-0")
    assert action is not None
    assert (action.category, action.action_tier) == ("misinformation", ActionTier.CONSENSUS)
    evidence = action.evidence
    assert evidence["details"]["fact_check"] == {
        "dataset_name": "checks",
        "item_id": "item-0",
        "claim": SEAWATER,
        "rating": "False",
        "publisher": "Example Checks",
        "url": "https://checks.example.org/0",
        "similarity": request.similarity_score,
    }
    assert evidence["score"] == request.similarity_score
    again, second = scored(wiring, jobs, submit(wiring, cast, f"{MADE[0]} https://t.co/again", "post-2"))
    assert second is not None
    assert (again.dataset_item_id, again.similarity_score) == ("item-0", request.similarity_score)
    keep(wiring, item("Something else altogether", 0))
    later, none = scored(wiring, jobs, submit(wiring, cast, f"{MADE[0]} !", "post-3"))
    assert (later.dataset_item_id, none) == (None, None)


@pytest.mark.parametrize(("rating", "raises"), [("True", False), ("Odd term", False), ("Misleading", True)])
def test_the_rating_of_the_match_decides_whether_it_raises_the_score(
    wiring: Wiring, cast: Cast, jobs: InlineEngine, rating: str, raises: bool
) -> None:
    keep(wiring, item(SEAWATER, rating=rating))
    request, action = scored(wiring, jobs, submit(wiring, cast, MADE[0]))
    assert request.dataset_item_id == "item-1"
    assert (action is not None) is raises
    assert max(RAISES.values()) == RAISES[ClaimRating.FALSE]
    with wiring.database.reading() as session:
        stored = session.scalars(
            sa.select(Score).where(Score.request_id == request.id, Score.classifier == "builtin.factcheck")
        ).all()
    assert bool(stored) is raises
    assert not any(score.tier1_capable for score in stored)


def test_what_a_rating_was_found_to_mean_when_it_was_imported_counts(wiring: Wiring, cast: Cast) -> None:
    row = {
        "claim": SEAWATER,
        "rating": "Falsch",
        "url": "https://checks.example.org/1",
        "publisher": "Pruefer",
    }
    imported = published.read(row, published.Defaults("checks"))
    assert ratings.read_rating("Falsch") is None, "its word alone tells nothing"
    keep(wiring, imported)
    scorer = FactCheckScorer(wiring.database, KeptMatches())
    (result,) = scorer.score([MADE[0]], Context(cast.community_id))
    assert result.scores["misinformation"] > 0.5
    assert result.fact_check is not None
    assert result.fact_check.rating == "Falsch"
    with wiring.database.reading() as session:
        matched = items.find(session, MADE[0], cast.community_id)
    draft = BuiltinWriter().write(Post(uuid.uuid4(), MADE[0], 1, date(2026, 1, 31), {}), matched)
    assert draft.classification is Classification.MISLEADING
    assert "rated a closely matching claim" in draft.summary
    assert "Falsch" in draft.summary


def test_what_the_integration_said_of_a_fact_check_stays(
    wiring: Wiring, cast: Cast, jobs: InlineEngine
) -> None:
    keep(wiring, item(SEAWATER))
    request_id = submit(wiring, cast, MADE[0])
    with wiring.database.writing() as session:
        session.get_one(Request, request_id).dataset_name = "their own"
    request, action = scored(wiring, jobs, request_id)
    assert (request.dataset_name, request.dataset_item_id, request.similarity_score) == (
        "their own",
        None,
        None,
    )
    assert action is not None
    assert action.evidence["details"]["fact_check"]["item_id"] == "item-1"


def test_long_posts_are_matched_part_by_part() -> None:
    talk = "We spoke of boats, nets and the weather by the old harbour. " * 60
    index = MemoryIndex(CLAIMS)
    assert match(talk, index, shipped()).shown is None
    shown = match(f"{talk}{SEAWATER}. {talk}", index, shipped()).shown
    assert shown is not None
    assert shown.number == 0


def test_a_passage_is_no_longer_than_the_claim_allows() -> None:
    post = terms.read("seawater " + "boat " * 40 + "diabetes cures")
    rarity = dict.fromkeys({*post.distinct, *terms.read(SEAWATER).distinct}, 1.0)
    mass, start, end = features.best_window(post, terms.read(SEAWATER), rarity)
    assert (mass, start, end) == (2.0, 41, 42)


def run(lines: str, path: Any) -> Any:
    return CliRunner().invoke(cli, ["match-claims", "--claims", str(path)], input=lines)


def test_the_command_answers_line_by_line(tmp_path: Any) -> None:
    path = tmp_path / "claims.jsonl"
    rows = [
        {"id": f"c{number}", "claim": claim} | ({"title": title} if title else {})
        for number, (claim, title) in enumerate(CLAIMS)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    done = run("\n".join(json.dumps({"text": text}) for text in (MADE[0], NOT_MADE[4], "")), path)
    assert done.exit_code == 0, done.output
    made, other, empty = map(json.loads, done.stdout.splitlines())
    assert made["shown"] == made["ranked"][0]["id"] == "c0"
    assert other["shown"] is None
    assert empty == {"ranked": [], "shown": None}
    bad = run(json.dumps({"text": MADE[0]}) + '\n{"text": 7}\n', path)
    assert (bad.exit_code, len(bad.stdout.splitlines())) == (2, 1)
    assert 'line 2 must have "text", a string' in bad.stderr


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"id": "a", "claim": "x"}', "the id 'a' is that of line 1 too"),
        ('{"id": 7, "claim": "x"}', 'line 2 must have "id", a string'),
        ('{"id": "b"}', 'line 2 must have "claim", a string'),
        ("[]", "line 2 must be a JSON object"),
        ("{", "line 2 is not JSON"),
    ],
)
def test_a_bad_line_of_the_claims_is_named(tmp_path: Any, line: str, problem: str) -> None:
    path = tmp_path / "claims.jsonl"
    path.write_text('{"id": "a", "claim": "x", "title": null}\n' + line)
    done = run("", path)
    assert done.exit_code == 2
    assert problem in done.stderr


def test_a_damaged_file_of_claims_is_a_sentence(tmp_path: Any) -> None:
    path = tmp_path / "claims.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "a", "claim": "x"}\n')[:-9])
    done = run("", path)
    assert (done.exit_code, done.stderr) == (2, "Error: claims.jsonl.gz is a damaged gzip file\n")
