"""Fact-checks: rating words, imports, matching, and the builtin writer that quotes them."""

import uuid
from datetime import date
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError
from sqlalchemy import event

from app.adapters.builtin_notes import BuiltinWriter, shorten
from app.core.factcheck import items, ratings
from app.core.factcheck.items import Imported, Item
from app.core.models import FactCheckItem
from app.core.notes import ai_notes, draft_checks
from app.core.notes.ai_notes import Post
from app.core.vocabulary import ClaimRating, Classification
from app.settings import Settings
from app.wiring import Wiring

CLAIM = "Drinking seawater every morning cures diabetes within two weeks"


def item(number: int = 1, claim: str = CLAIM, rating: str = "False", **fields: Any) -> Item:
    given = {
        "dataset_name": "example",
        "item_id": f"item-{number}",
        "claim": claim,
        "rating_given": rating,
        "url": f"https://checks.example.org/{number}",
        "publisher": "Example Checks",
    }
    return Item(**(given | fields))


def post(searched: int = 0) -> Post:
    return Post(uuid.uuid4(), "a post", searched, date(2026, 1, 31), {})


@pytest.mark.parametrize(
    ("given", "meaning"),
    [
        ("False", ClaimRating.FALSE),
        ("  PANTS ON FIRE!!", ClaimRating.FALSE),
        ("mostly-false", ClaimRating.MOSTLY_FALSE),
        ("Half True", ClaimRating.MIXTURE),
        ("MIXTURE", ClaimRating.MIXTURE),
        ("mostly_true", ClaimRating.MOSTLY_TRUE),
        ("True", ClaimRating.TRUE),
        ("Missing context", ClaimRating.MISLEADING),
        ("No Evidence", ClaimRating.UNPROVEN),
        ("Originated as Satire", ClaimRating.SATIRE),
        ("Urban legend", ClaimRating.LEGEND),
        ("Outdated", ClaimRating.OUTDATED),
        ("Research in progress", None),
        ("not false", None),
        ("!!!", None),
    ],
)
def test_a_publishers_words_are_read_or_left_unread(given: str, meaning: ClaimRating | None) -> None:
    assert ratings.read_rating(given) is meaning


@pytest.mark.parametrize("rating", list(ClaimRating))
def test_every_rating_is_read_by_its_own_name(rating: ClaimRating) -> None:
    assert ratings.read_rating(rating.value) is rating


def test_importing_again_changes_only_what_differs(wiring: Wiring) -> None:
    first = [item(1), item(2, "Another claim altogether, about bridges", "Unheard of")]
    with wiring.database.writing() as session:
        assert items.keep(session, first) == Imported(new=2)
    with wiring.database.writing() as session:
        again = [item(1), item(2, "Another claim altogether, about tunnels", "Unheard of"), item(3)]
        assert items.keep(session, again) == Imported(new=1, changed=1, unchanged=1)
    with wiring.database.reading() as session:
        assert session.scalar(sa.select(sa.func.count(FactCheckItem.id))) == 3
        row = session.scalars(sa.select(FactCheckItem).where(FactCheckItem.item_id == "item-2")).one()
        assert (row.rating, row.rating_given) == (None, "Unheard of")
        assert items.find(session, "Another claim altogether, about tunnels, they say") == items.by_id(
            session, row.id
        )
        assert items.find(session, "Another claim altogether, about bridges, they say") is None


def test_equal_item_ids_of_two_datasets_are_two_items(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        assert items.keep(session, [item(1), item(1, dataset_name="other")]) == Imported(new=2)


MADE = [
    "Drinking seawater every morning cures diabetes within two weeks",
    "My aunt swears: drinking SEAWATER every morning cures diabetes in two weeks!!",
    "Look. Seawater, drinking it each morning, cures diabetes within weeks. "
    + "Other things follow here. " * 40,
]
NOT_MADE = [
    "Drinking seawater every morning does not cure diabetes within two weeks",
    "Drinking seawater every morning cures diabetes within two weeks is a hoax",
    "Diabetes is treated with insulin",
    "seawater",
    "",
    "Drinking tea. " + "We talked of boats and nets. " * 20 + "Seawater is salty. " + "It rained. " * 30
    + "Every cat sleeps. " + "And so on it went. " * 20 + "In the morning diabetes cures were sold; two weeks passed.",
]  # fmt: skip


def test_a_post_that_makes_a_claim_finds_its_fact_check(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        items.keep(session, [item(1), item(2, "Drinking tea every morning makes bridges collapse")])
        for content in MADE:
            found = items.find(session, content)
            assert found is not None, content
            assert found.item_id == "item-1"


def test_a_post_that_denies_a_claim_or_only_shares_its_words_finds_nothing(wiring: Wiring) -> None:
    with wiring.database.writing() as session:
        items.keep(session, [item(1)])
        for content in NOT_MADE:
            assert items.find(session, content) is None, content


def test_a_claim_is_found_in_a_very_long_post(wiring: Wiring) -> None:
    padding = " ".join(f"paddingword{number}" for number in range(2_500))
    with wiring.database.writing() as session:
        items.keep(session, [item(1)])
        found = items.find(session, f"{padding} {CLAIM} {padding}")
        assert found is not None


def test_finding_asks_four_queries_however_many_items_there_are(wiring: Wiring) -> None:
    counted: list[str] = []

    def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        if statement.startswith("SELECT"):
            counted.append(statement)

    with wiring.database.writing() as session:
        others = [item(n, f"The council of village {n} sold its bridge for {n} coins") for n in range(2, 300)]
        items.keep(session, [item(1), *others])
        event.listen(wiring.database.engine, "before_cursor_execute", note)
        assert items.find(session, f"{CLAIM}, says my aunt") is not None
        event.remove(wiring.database.engine, "before_cursor_execute", note)
    assert len(counted) == 4, counted


def test_the_builtin_writer_quotes_a_fact_check() -> None:
    draft = BuiltinWriter().write(post(), item(rating="Pants on Fire!"))
    assert draft.summary == (
        f"Example Checks rated a closely matching claim “{CLAIM}” Pants on Fire. https://checks.example.org/1"
    )
    assert draft.classification is Classification.MISLEADING
    assert (draft.provider, draft.model) == ("builtin", "extractive-1")
    assert draft.sources == ("https://checks.example.org/1",)


@pytest.mark.parametrize(
    ("rating", "classification"),
    [
        ("False", Classification.MISLEADING),
        ("Misleading", Classification.MISLEADING),
        ("Mixture", Classification.MISLEADING),
        ("True", Classification.NOT_MISLEADING),
        ("Mostly True", Classification.NOT_MISLEADING),
        ("Research in progress", Classification.NOT_MISLEADING),
    ],
)
def test_the_rating_decides_the_classification(rating: str, classification: Classification) -> None:
    assert BuiltinWriter().write(post(), item(rating=rating)).classification is classification


@pytest.mark.parametrize(
    "long",
    [
        item(claim="word " * 1000),
        item(claim="x" * 5000),
        item(publisher="Publisher " * 25, rating="rating " * 35, claim="claim " * 800),
    ],
)
def test_a_quotation_is_cut_between_words_to_280_characters_beside_its_address(long: Item) -> None:
    draft = BuiltinWriter().write(post(), long)
    text = draft.summary.removesuffix(f" {long.url}")
    assert text != draft.summary
    assert len(text) <= 280
    assert "…”" in text


def test_shortening_keeps_whole_words_where_it_can() -> None:
    assert shorten("one two three", 13) == "one two three"
    assert shorten("one two\n three", 12) == "one two…"
    assert shorten("one two, three", 9) == "one two…"
    assert shorten("unbreakable", 6) == "unbre…"


def test_without_a_match_the_builtin_writer_says_what_was_searched() -> None:
    draft = BuiltinWriter().write(post(searched=12), None)
    assert draft.summary == (
        "No fact-check among 12 items in this community's datasets matches this post (checked 2026-01-31)."
    )
    assert draft.classification is Classification.NOT_MISLEADING
    assert (draft.provider, draft.model, draft.sources) == ("builtin", "nomatch-1", ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("x" * 281, "longer"),
        ("See https://evil.example/a", "address"),
        ("See www.evil.example", "address"),
        ("See evil.example for more", "address"),
        ("As javascript:alert(1) shows", "address"),
        ("See hxxps://evil(dot)example", "address"),
        ("See hxxp evil", "address"),
        ("See evil[.]example", "address"),
        ("See evil [ dot ] example", "address"),
        ("See evil(.)example/a", "address"),
        ("See evil{dot}com", "address"),
        ("See evil dot com", "address"),
        ("See пример.рф for more", "address"),
        ("See мой-сайт[.]онлайн", "address"),
        ("See مثال.السعودية", "address"),
        ("See evil punkt org", "address"),
        ("See evil．example", "address"),
        ("See evil。example", "address"),
        ("See evil․example", "address"),
        ("See ｅｖｉｌ.ｃｏｍ", "address"),
        ("See ⓔⓥⓘⓛ.com", "address"),
        ("See evil.eｘample", "address"),
        ("See https ：／／evil", "address"),
        ("Write to us at evil dot co dot uk", "address"),
        ("Call +44 20 7946 0958", "telephone"),
        ("Call ＋４４ ２０ ７９４６ ０９５８", "telephone"),
        ("Call +44‑20‑7946‑0958", "telephone"),
        ("Ask (202) 555-0143", "telephone"),
        ("Ask 202.555.0143 about it", "telephone"),
        ("Ask 1-800-555-0199", "telephone"),
        ("Ask 2025550143", "telephone"),
        ("Frag 030 / 123 45 67", "telephone"),
        ("Demandez au 01 23 45 67 89", "telephone"),
        ("Ask 0800 123 456", "telephone"),
        ("Ask 08001234567", "telephone"),
        ("Call 116 123", "telephone"),
        ("Tel.: 555-0143", "telephone"),
        ("This is #fake", "hashtag"),
        ("Ask @someone", "hashtag"),
        ("<b>No</b> evidence", "markup"),
        ("[No](evidence)", "markup"),
        ("No evidence &amp; no proof", "markup"),
        ("No evidence 🙂", "emoji"),
        ("No evi\u200bdence \u202e here", "invisible"),
        ("Note: no evidence", "label"),
        ("**Fact-check** - no evidence", "label"),
        ("the post says the harbour is  closed for good", "repeats"),
    ],
)
def test_a_draft_that_cannot_be_a_note_is_faulted(text: str, fault: str) -> None:
    found = draft_checks.faults(text, "The post says the harbour is closed for good!")
    assert any(fault in one for one in found), found


@pytest.mark.parametrize(
    "text",
    [
        "Health authorities found no such effect at 37 °C, e.g. in the U.S. trial of 2019 (n=40).",
        "Notes from the meeting show that the vote was 7 to 5; the mayor abstained.",
        "Les autorités n’ont trouvé aucun effet.",
        "По данным 2019 г., т.е. до запрета и т.д., эффекта нет (см. отчёт).",
        "Il n’y a point de preuve, et ce point est ouvert.",
        "The report of 2024-03-14 counts 10,000,000 people, 1 250 000 of them in 2019–2020, and 4.5 % in 05/2021.",
        "Both dates, 01.02.2026 and 03/04/2026, are wrong; the right one is 01-02-2025.",
        "There is a blue dot on the map; it is a dot at most. The call of 2021 says 12 to 15.",
        "The case numbers 20-1234 and ISBN 978-3-16-148410-0 name no such ruling.",
        "その効果は確認されていない。WHO は 2021年に否定した。",
        "Ministry figures: 7 million in 2020, 7.25 million in 2021 and 8,100,000 in 2022.",
        "The text of 2019 2020 and 2021 is unchanged.",
        "当局はそのような効果を確認していない。",
    ],
)
def test_an_ordinary_sentence_passes(text: str) -> None:
    assert draft_checks.faults(text, "The post says the harbour is closed for good!") == []


def test_an_insulting_draft_is_held_against_the_communitys_own_thresholds(wiring: Wiring) -> None:
    insult = "You are an idiot and everybody here knows it"
    strict = Post(uuid.uuid4(), "a post", 0, date(2026, 1, 31), {"toxicity": 0.5})
    lax = Post(uuid.uuid4(), "a post", 0, date(2026, 1, 31), {"toxicity": 1.0})
    assert ai_notes.harsh(insult, strict, wiring.classifiers) == ["it reads as toxicity"]
    assert ai_notes.harsh(insult, lax, wiring.classifiers) == []


@pytest.mark.parametrize("missing", ["ai_base_url", "ai_api_key", "ai_model"])
def test_a_provider_without_what_it_needs_refuses_to_start_naming_the_setting(missing: str) -> None:
    given = {"ai_base_url": "https://api.example.org/v1", "ai_api_key": "key", "ai_model": "m"} | {
        missing: ""
    }
    with pytest.raises(ValidationError, match=f"BRIDGENOTE_{missing.upper()} must be set"):
        Settings(_env_file=None, note_writer="openai_compatible", **given)
