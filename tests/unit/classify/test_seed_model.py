"""The shipped model: what it scores, in which languages, and what it does not depend on."""

import statistics
import subprocess
import sys
import time

import numpy as np
import pytest

from app.core.classify import CATEGORIES, Classifier, Context, combine
from app.core.classify.corpus import SAMPLES
from app.core.classify.features import CHUNK
from app.core.classify.linear import EVERYWHERE, read_weights
from app.core.classify.rulepack import RulePackClassifier
from app.core.classify.seed import SeedClassifier, shipped_file
from tests.unit.classify import texts

ENGLISH = Context(language="en")
MODEL = SeedClassifier()
RULES = RulePackClassifier()


def scores(text: str, language: str | None = "en") -> dict[str, float]:
    (result,) = MODEL.score([text], Context(language=language))
    return dict(result.scores)


def together(text: str) -> dict[str, float]:
    return combine([RULES.score([text], ENGLISH)[0], MODEL.score([text], ENGLISH)[0]])


def test_it_is_a_calibrated_classifier_that_never_acts_alone() -> None:
    classifier: Classifier = MODEL
    assert classifier.name == "builtin.seed"
    assert classifier.categories == set(CATEGORIES) - {"misinformation"}
    assert classifier.tier1_categories == set()
    assert classifier.languages == {"en", "de"}
    assert classifier.local
    assert classifier.version.count("+") == 1


def test_its_file_is_small_and_holds_no_pickle_and_no_text() -> None:
    content = shipped_file().read_bytes()
    assert len(content) <= 1_000_000
    with np.load(shipped_file(), allow_pickle=False) as arrays:
        assert all(array.dtype.kind in "iuf" for array in arrays.values())
        assert bytes(arrays["facts"]).isascii()
    assert MODEL.load().matrix.any(axis=0).all()


def test_weights_for_other_features_are_refused() -> None:
    content = shipped_file().read_bytes()
    version = MODEL.load().facts["features"]
    changed = content.replace(f'"features": {version}'.encode(), f'"features": {version + 1}'.encode())
    assert changed != content
    with pytest.raises(ValueError, match="features"):
        read_weights(_with_fresh_checksums(changed))
    with pytest.raises(ValueError, match="pickle"):
        read_weights(b"no such file")


def _with_fresh_checksums(content: bytes) -> bytes:
    """The same entries in a new archive: changed bytes no longer fit the stored checksums."""
    import io
    import zipfile

    original = zipfile.ZipFile(io.BytesIO(shipped_file().read_bytes()))
    fresh = io.BytesIO()
    with zipfile.ZipFile(fresh, "w") as archive:
        for entry in original.infolist():
            start = entry.header_offset + 30 + len(entry.filename) + len(entry.extra)
            archive.writestr(entry.filename, content[start : start + entry.file_size])
    return fresh.getvalue()


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("You are a pathetic idiot, nobody wants you here.", "toxicity"),
        ("All those immigrants are vermin, throw them out.", "hate"),
        ("I will find you and kill you tonight.", "threat"),
        ("I want to feel your naked body, send me nudes.", "sexual"),
        ("I want to kill myself, I have the pills here.", "self_harm"),
        ("Congratulations, you won $1000! Click http://prize.example to claim now", "spam"),
        ("His phone number is 202-555-0143 and he lives at 48 Maple Street.", "pii"),
    ],
)
def test_plain_cases_of_every_category_are_raised(text: str, category: str) -> None:
    assert scores(text)[category] > 0.5


def test_little_ordinary_talk_is_raised() -> None:
    raised = [text for text in texts.BENIGN if max(scores(text).values()) > 0.5]
    assert len(raised) <= 0.08 * len(texts.BENIGN), raised
    sure = [text for text in texts.BENIGN if max(scores(text).values()) > 0.9]
    assert len(sure) <= 0.02 * len(texts.BENIGN), sure


def test_it_finds_much_of_what_the_rules_find_only_in_other_words() -> None:
    known = [(category, text) for category, text in texts.DOUBTFUL if category != "misinformation"]
    found = sum(scores(text)[category] > 0.5 for category, text in known)
    assert found >= 0.4 * len(known)


def test_beside_it_the_rules_keep_every_score() -> None:
    for category, examples in SAMPLES.items():
        for text in examples:
            by_rules = dict(RULES.score([text], ENGLISH)[0].scores)
            assert together(text).get(category, 0.0) >= by_rules.get(category, 0.0)


NEUTRAL = (
    "{} live in this town.",
    "I met {} at the market yesterday.",
    "The film is about {} in the seventies.",
    "How many {} work here?",
    "{} are my friends and neighbours.",
    "We want more {} in our club.",
    "The law gives {} the same rights.",
)
GROUPS = (
    "women",
    "trans people",
    "gay people",
    "black people",
    "disabled people",
    "Muslims",
    "immigrants",
    "Jews",
    "Asian Americans",
    "people of colour",
    "wheelchair users",
)


def test_neutral_sentences_score_alike_whichever_group_they_name() -> None:
    for category in MODEL.categories:
        means = [
            statistics.mean(scores(sentence.format(group))[category] for sentence in NEUTRAL)
            for group in GROUPS
        ]
        assert max(means) - min(means) <= 0.05, category


def test_swapping_the_group_changes_no_score_by_much() -> None:
    for sentence in NEUTRAL:
        for category in MODEL.categories:
            swapped = [scores(sentence.format(group))[category] for group in GROUPS]
            assert max(swapped) - min(swapped) <= 0.1, (sentence, category)


def test_naming_a_group_in_a_neutral_sentence_is_not_hate() -> None:
    for sentence in NEUTRAL:
        for group in GROUPS:
            assert scores(sentence.format(group))["hate"] <= 0.5, (sentence, group)


def test_a_german_text_has_the_categories_of_every_language_and_those_that_the_german_data_label() -> None:
    assert set(scores("Du bist ein Idiot, halt die Klappe.", "de")) == {"toxicity", "hate", *EVERYWHERE}
    assert scores("Du bist ein Idiot, halt die Klappe.", "de")["toxicity"] > 0.5
    assert scores("Danke für die ausführliche Antwort, das hilft sehr.", "de-AT")["toxicity"] < 0.3


def test_a_text_in_another_language_is_not_scored_rather_than_zero() -> None:
    (result,) = MODEL.score(["Vous êtes des imbéciles"], Context(language="fr"))
    assert set(result.scores) == EVERYWHERE
    assert result.error is None


def test_a_text_of_unknown_language_is_scored_as_english() -> None:
    text = "You are a pathetic idiot."
    assert scores(text, None) == scores(text, "en") == scores(text, "en-GB")


def test_an_attack_inside_a_long_text_is_found() -> None:
    talk = "The council meets on Tuesday to talk about the new bike lanes. " * 200
    assert len(talk) > 3 * CHUNK
    assert scores(talk)["toxicity"] < 0.5
    middle = len(talk) // 2
    attack = "You are a worthless piece of shit and a stupid idiot. "
    assert scores(talk[:middle] + attack + talk[middle:])["toxicity"] > 0.5


@pytest.mark.parametrize("text", ["", " ", "\u200b", "👍👍👍", "\ud800", "a" * 200_000, "你好 " * 30_000])
def test_any_text_gets_scores_within_bounds_and_in_time(text: str) -> None:
    started = time.thread_time()
    found = scores(text)
    assert set(found) == (EVERYWHERE if "你" in text else MODEL.categories)
    assert all(0.0 <= value <= 1.0 for value in found.values())
    assert time.thread_time() - started < 3.0


def test_ten_thousand_threads_would_share_one_copy() -> None:
    assert MODEL.load() is MODEL.load()
    assert MODEL.load().matrix.nbytes < 4_000_000


def test_all_shipped_classifiers_take_little_memory() -> None:
    program = (
        "import resource\n"
        "from app.core.classify import Context\n"
        "import numpy\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "from app.core.classify.seed import SeedClassifier\n"
        "model = SeedClassifier()\n"
        "model.score(['You are a word number %d' % n for n in range(5000)], Context())\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert int(printed.stdout) < 60 * 1024


def test_the_curve_falls_with_the_threshold_and_exists_for_every_category() -> None:
    for category in MODEL.categories:
        curve = MODEL.curve(category)
        assert curve is not None
        assert (np.diff(curve.caught) <= 0).all()
        assert (np.diff(curve.raised) <= 0).all()
        assert curve.shares_at(0.5)[1] <= 0.02
        assert curve.posts > 0
    assert MODEL.curve("misinformation") is None
