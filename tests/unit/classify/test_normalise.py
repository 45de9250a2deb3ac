"""Reading disguised text, and finding the way back to the original."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.core.classify.disguises import joints_as_spaces, undisguised_of
from app.core.classify.normalise import Reading, plain_of, plain_text
from app.core.classify.vocabulary import Vocabulary
from tests.examples import examples

WORDS = Vocabulary(
    {"free", "money", "followers", "follow", "idiot", "kill", "yourself", "casino", "viagra", "loser"}
)


def folded_reading(text: str) -> Reading:
    return joints_as_spaces(undisguised_of(plain_of(text), text, WORDS))


def folded(text: str) -> str:
    return folded_reading(text).text


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("FREE Money", "free money"),
        ("ｆｒｅｅ", "free"),
        ("𝐟𝐫𝐞𝐞 𝓶𝓸𝓷𝓮𝔂", "free money"),
        ("fr\u200bee", "free"),
        ("f\u00adr\u200de\ufeffe", "free"),
        ("fr\u202eee\u202c", "free"),
        ("f\x00ree", "free"),
        ("free\u00a0\u2003\n\t money", "free money"),
        ("don\u2019t \u201cgo\u201d \u2014 no", 'don\'t "go" - no'),
        ("f̶r̶e̶e̶", "free"),
        ("fréé", "free"),
        ("frее", "free"),  # Cyrillic е twice.
        ("сasіno", "casino"),
        ("ᴍᴏɴᴇʏ", "money"),
        ("🅵🆁🅴🅴", "free"),
        ("f r e e", "free"),
        ("f.r.e.e", "free"),
        ("f-r-e-e m_o_n_e_y", "free money"),
        ("f r e e m o n e y", "free money"),
        ("k i l l y o u r s e l f", "kill yourself"),
        ("fr33 m0n3y", "free money"),
        ("fo11owers", "followers"),
        ("1d10t", "idiot"),
        ("k!ll", "kill"),
        ("v1@gr@", "viagra"),
        ("freeeeeee", "free"),
        ("iiidiooooot", "idiot"),
        ("looooser", "loser"),
        ("free.money", "free money"),
        ("free, money", "free money"),
        ("free... money", "free money"),
    ],
)
def test_a_disguised_word_is_read_as_meant(written: str, read: str) -> None:
    assert folded(written) == read


@pytest.mark.parametrize(
    "text",
    [
        "mp3 and h2o, b4 5g",  # Mixed tokens that are what they are.
        "order 90210-4432",
        "1 2 3 4 5",
        "www.example.org",
        "сор воров",  # A Russian word made of lookalikes only.
        "a b c d",
        "c3po",
    ],
)
def test_what_is_no_disguise_stays_as_written(text: str) -> None:
    assert folded(text).replace(" ", "").replace(".", "") == text.replace(" ", "").replace(",", "").replace(
        ".", ""
    )


def test_letters_held_down_in_an_unknown_word_are_written_twice() -> None:
    assert folded("yeeeaaaah") == "yeeaah"


def test_a_host_name_is_left_alone_in_the_plain_reading() -> None:
    assert plain_text("goooogle.com") == "goooogle.com"


def test_a_text_without_disguise_has_one_reading() -> None:
    plain = plain_of("An ordinary sentence.")
    undisguised = undisguised_of(plain, "An ordinary sentence.", WORDS)
    assert undisguised is plain
    assert joints_as_spaces(undisguised) is plain


@pytest.mark.parametrize(
    ("text", "word", "original"),
    [
        ("👩‍👩‍👧 fr\u200bee 👍", "free", "fr\u200bee"),
        ("é\u0301e\u0301 f̶r̶e̶e̶!", "free", "f̶r̶e̶e̶"),
        ("so F R E E now", "free", "F R E E"),
        ("ﬁ fr33", "free", "fr33"),
        ("xx freeeeee yy", "free", "freeeeee"),
    ],
)
def test_a_word_leads_back_to_how_it_was_written(text: str, word: str, original: str) -> None:
    reading = folded_reading(text)
    at = reading.text.index(word)
    start, end = reading.original_span(at, at + len(word))
    assert text[start:end] == original


def assert_leads_back(reading: Reading, original: str) -> None:
    assert len(reading.text) == len(reading.starts) == len(reading.ends)
    assert list(reading.starts) == sorted(reading.starts)
    assert list(reading.ends) == sorted(reading.ends)
    for start, end in zip(reading.starts, reading.ends, strict=True):
        assert 0 <= start < end <= len(original)


DISGUISES = st.text(alphabet="fre3 mony0kil1!$@.-_*,аеіоᴀ\u0301\u0336\u200b\ufeff\x00\n \ud800ﬁ👍ß")
ANYTHING = st.text(alphabet=st.characters(codec=None, exclude_categories=()), max_size=200)


@examples(300)
@given(st.one_of(ANYTHING, DISGUISES))
def test_every_character_leads_back_in_order_and_in_range(text: str) -> None:
    assert_leads_back(plain_of(text), text)
    reading = folded_reading(text)
    assert_leads_back(reading, text)
    reading.text.encode()  # Lone surrogates are gone, so it can be sent anywhere.


@examples(200)
@given(ANYTHING)
@example(text=" \u037a")
@example(text="\u309b \u309c")
def test_encodings_are_undone_in_one_go(text: str) -> None:
    plain = plain_text(text)
    assert "  " not in plain
    assert not any("A" <= letter <= "Z" or "\uff01" <= letter <= "\uff5e" for letter in plain)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "a " * 50_000,
        "!" * 100_000,
        "a!" * 50_000,
        "a.a" * 33_000,
        "." * 100_000,
        "a" + "\u0301\u0316" * 50_000,
        "\u0301" * 100_000,
        " " * 100_000,
        "\ud800" * 100_000,
        "".join(f"1{n:05d}1eeeooouuu" for n in range(4_000)),
        " ".join(f"1{n:05d}1eeeooouuuiiiaaa" for n in range(3_000)),
        "ﷺ" * 20_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_long_and_strange_texts_are_read_to_the_end(text: str) -> None:
    assert_leads_back(folded_reading(text), text)
