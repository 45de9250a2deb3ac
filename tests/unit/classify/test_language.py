"""The detected language of a post: short, shouted, mixed and long posts, and what scorers make of it."""

import pytest

from app.core.classify import Context
from app.core.classify.language import SHORTEST, UNKNOWN, detect, named
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.rules import parse_pack

ENGLISH = "The ferry leaves at seven, so please be at the quay a little earlier than that."
GERMAN = "Die Fähre legt um sieben ab, also seid bitte etwas früher unten am Anleger."
FRENCH = "Le bateau part à sept heures, venez donc un peu plus tôt sur le quai, merci."


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        (ENGLISH, "en"),
        (GERMAN, "de"),
        (FRENCH, "fr"),
        ("El barco sale a las siete, así que vengan un poco antes al muelle, gracias.", "es"),
        ("船は七時に出ますので、少し早めに岸壁に来てください。よろしくお願いします。", "ja"),
        ("Корабль отходит в семь часов, поэтому приходите на причал немного раньше.", "ru"),
        (ENGLISH.upper(), "en"),
        (GERMAN.upper(), "de"),
        (f"{GERMAN} https://harbour.example/a-page-in-english @skipper #boats 12:30", "de"),
    ],
)
def test_a_sentence_has_its_language(text: str, tag: str) -> None:
    assert detect(text) == tag


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ok",
        "lol",
        "12 34 56 78 90 12 34 56",
        "https://harbour.example/the-long-way-round-the-pier",
        "🚢" * 40,
    ],
)
def test_no_language_is_named_where_there_is_too_little_to_tell(text: str) -> None:
    assert detect(text) == UNKNOWN
    assert named(detect(text)) is None


def test_letters_count_and_not_what_stands_between_them() -> None:
    few = "das ist so, oder?"
    assert len(few) < SHORTEST
    assert detect(few + " " + "1234567890 " * 9) == UNKNOWN


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_foreign_paragraph_does_not_name_the_language_of_a_long_mixed_post(order: int) -> None:
    parts = [FRENCH * 8, FRENCH * 8, FRENCH * 8]
    assert detect(" ".join(parts)) == "fr"
    parts[order] = ENGLISH * 8
    assert detect(" ".join(parts)) == UNKNOWN


def test_what_follows_the_first_hundred_characters_counts_too() -> None:
    loan_words = "Server, Laptop, Browser, Software, Update, Download, Internet, Tablet, Monitor, Router: "
    german = "das alles haben wir gestern im Keller gefunden, und niemand weiß mehr, wem es gehört oder ob es läuft."
    assert detect(loan_words) == UNKNOWN
    assert detect(loan_words + german) == "de"


def test_a_very_long_text_is_read_in_parts() -> None:
    assert detect(ENGLISH * 20_000) == "en"


def test_a_rule_for_one_language_leaves_posts_in_another_alone() -> None:
    rule = {"id": "a.word", "category": "toxicity", "kind": "word", "pattern": "quay", "weight": 0.9}
    pack = parse_pack({"name": "own", "version": "1", "rules": [rule | {"languages": ["en"]}]})
    rules = RulePackClassifier(pack, name="own")
    text = f"quay {FRENCH}"
    (french,) = rules.score([text], Context(language=named(detect(FRENCH))))
    (unknown,) = rules.score([text], Context(language=named(UNKNOWN)))
    assert french.scores["toxicity"] == 0
    assert unknown.scores["toxicity"] == pytest.approx(0.9)
