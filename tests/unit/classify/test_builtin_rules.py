"""The starter pack: what it finds, how sure it is, and what it leaves alone."""

import threading

import pytest

from app.core.classify import CATEGORIES, Classifier, Context, Result
from app.core.classify.corpus import SAMPLES
from app.core.classify.rulepack import CompiledPack, RulePackClassifier, starter_pack
from app.core.classify.rules import compile_unless
from tests.unit.classify import texts

ENGLISH = Context(language="en")
CLASSIFIER = RulePackClassifier()


def result(text: str) -> Result:
    return CLASSIFIER.score([text], ENGLISH)[0]


def scores(text: str) -> dict[str, float]:
    return dict(result(text).scores)


def test_it_is_a_classifier_of_all_categories_whose_spam_and_pii_may_act_alone() -> None:
    classifier: Classifier = CLASSIFIER
    assert classifier.name == "builtin.rules"
    assert classifier.categories == set(CATEGORIES)
    assert classifier.tier1_categories == {"spam", "pii"}
    assert classifier.local
    assert not classifier.calibrated


def test_every_rule_and_exception_of_the_pack_compiles() -> None:
    pack = starter_pack()
    compiled = CompiledPack(pack)
    for rule in pack.rules:
        exception = compile_unless(rule, pack.lists)
        assert exception is None or not exception.hits(b"")
    assert compiled.read("")[1] == ()


@pytest.mark.parametrize(("category", "text"), texts.CERTAIN)
def test_unmistakable_spam_and_private_details_pass_tier_1(category: str, text: str) -> None:
    assert scores(text)[category] > 0.95


@pytest.mark.parametrize(("category", "text"), texts.DOUBTFUL)
def test_what_people_should_look_at_lies_between(category: str, text: str) -> None:
    assert 0.5 < scores(text)[category] <= 0.95


@pytest.mark.parametrize(("category", "text"), texts.FAINT)
def test_a_single_weak_sign_is_noted_but_not_enough(category: str, text: str) -> None:
    assert 0.0 < scores(text)[category] < 0.5


@pytest.mark.parametrize("text", texts.BENIGN)
def test_ordinary_talk_stays_below_a_half_everywhere(text: str) -> None:
    assert max(scores(text).values()) < 0.5


@pytest.mark.parametrize("text", SAMPLES["spam_certain"])
def test_samples_of_certain_spam_pass_tier_1(text: str) -> None:
    assert scores(text)["spam"] > 0.95


@pytest.mark.parametrize(
    ("category", "text"), [(name, text) for name in CATEGORIES for text in SAMPLES[name]]
)
def test_samples_of_a_category_are_for_reviewers(category: str, text: str) -> None:
    assert 0.55 <= scores(text)[category] <= 0.9


@pytest.mark.parametrize("text", SAMPLES["clean"])
def test_clean_samples_are_clean(text: str) -> None:
    assert max(scores(text).values()) < 0.5


def test_there_are_enough_samples_and_none_twice() -> None:
    assert set(SAMPLES) == {*CATEGORIES, "spam_certain", "clean"}
    assert all(len(texts) >= 6 for texts in SAMPLES.values())
    every = [text for texts in SAMPLES.values() for text in texts]
    assert len(every) == len(set(every))


@pytest.mark.parametrize(
    ("category", "text"),
    [
        ("toxicity", "you are an i\u200bd\u200bi\u200bo\u200bt"),
        ("toxicity", "yоu аre аn idiоt"),
        ("toxicity", "y0u are an 1d10t"),
        ("toxicity", "you are an i d i o t"),
        ("toxicity", "Y O U A R E A N I D I O T"),
        ("toxicity", "youuuuu are an idiooooot"),
        ("toxicity", "you.are.an.idiot"),
        ("toxicity", "y̶o̶u̶ a̶r̶e̶ a̶n̶ i̶d̶i̶o̶t̶"),
        ("toxicity", "𝐲𝐨𝐮 𝐚𝐫𝐞 𝐚𝐧 𝐢𝐝𝐢𝐨𝐭"),
        ("toxicity", "ｙｏｕ ａｒｅ ａｎ ｉｄｉｏｔ"),
        ("threat", "I will k1ll you"),
        ("threat", "I will k\u00adi\u00adl\u00adl you"),
        ("spam", "B.u.y cheap v1agr@ online"),
        ("spam", "get fr33 sp1ns at our c@sino, b0nus"),
        ("sexual", "s e n d   n u d e s"),
        ("self_harm", "i want to k i l l myself"),
    ],
)
def test_a_disguise_does_not_help(category: str, text: str) -> None:
    assert scores(text)[category] > 0.5


@pytest.mark.parametrize(
    ("text", "rule", "highlighted"),
    [
        ("👩‍👩‍👧 well, you are an idiot 👍", "tox.you-are-noun", "you are an idiot"),
        ("e\u0301té: you are an i\u200bdiot!", "tox.you-are-noun", "you are an i\u200bdiot"),
        ("ﬁne. YOU ARE AN 1D10T 🤷", "tox.you-are-noun", "YOU ARE AN 1D10T"),
        ("so 𝐲𝐨𝐮 𝐚𝐫𝐞 𝐚𝐧 𝐢𝐝𝐢𝐨𝐭.", "tox.you-are-noun", "𝐲𝐨𝐮 𝐚𝐫𝐞 𝐚𝐧 𝐢𝐝𝐢𝐨𝐭"),
        ("😀 card: 4012 8888 8888 1881 😀", "pii.card", "4012 8888 8888 1881"),
        ("see https://bit.ly/x", "spam.domain.bit-ly", "bit.ly"),
    ],
)
def test_matches_point_at_the_text_as_submitted(text: str, rule: str, highlighted: str) -> None:
    places = {match.rule: text[match.start : match.end] for match in result(text).matches}
    assert places[rule] == highlighted


GROUPS = (
    *("Jews", "Muslims", "Christians", "Atheists", "Mexicans", "Asians", "Indians", "Immigrants", "Refugees"),
    *("Women", "Men", "Gay people", "Trans people", "Black people", "White people", "Disabled people"),
)
NEUTRAL = (
    "{} live in every large town.",
    "My neighbours are {} and we cook together.",
    "{} were asked about their working hours in the survey.",
    "The report describes how {} are treated by landlords.",
    "I met {} at the festival and learned a lot.",
    "{} deserve the same pay.",
    "Some {} vote, some do not.",
    "A film about {} opens on Friday.",
)


@pytest.mark.parametrize("sentence", NEUTRAL)
def test_naming_another_group_in_a_neutral_sentence_changes_no_score(sentence: str) -> None:
    answers = [scores(sentence.format(group)) for group in GROUPS]
    assert all(answer == dict.fromkeys(CATEGORIES, 0.0) for answer in answers)


@pytest.mark.parametrize("sentence", ["{} are vermin", "deport all {}", "I hate all {}", "all {} are evil"])
def test_an_attack_counts_the_same_whoever_it_names(sentence: str) -> None:
    assert len({scores(sentence.format(group.lower()))["hate"] for group in GROUPS}) == 1


@pytest.mark.parametrize(
    "text",
    [
        "a" * 100_000,
        "you are an " * 10_000,
        "you are an idiot " * 6_000,
        "4" * 100_000,
        "4012888888881881 " * 5_000,
        "1 " * 50_000,
        "i will i will " * 8_000,
        "(" * 50_000,
        "@" * 50_000,
        "a@a." * 25_000,
        "http://" * 10_000,
        "\ud800" * 10_000,
        "\x00" * 100_000,
        "k\x00i\x00l\x00l",
        "😀" * 50_000,
        "e\u0301" * 50_000,
    ],
    ids=lambda text: repr(text[:8]),
)
def test_hostile_texts_are_scored_to_the_end(text: str) -> None:
    answer = result(text)
    assert set(answer.scores) == set(CATEGORIES)
    assert answer.error is None
    assert all(0 <= match.start < match.end <= len(text) for match in answer.matches)


def test_words_of_the_rules_in_any_order_are_scored_to_the_end() -> None:
    words = sorted({word for _, text in texts.DOUBTFUL for word in text.split()})
    text = " ".join(words[(n * n * 31 + n * 7) % len(words)] for n in range(8_000))
    assert result(text).error is None


def test_scores_have_four_decimals_and_every_category() -> None:
    for text in SAMPLES["spam_certain"]:
        answer = scores(text)
        assert set(answer) == set(CATEGORIES)
        assert all(score == round(score, 4) for score in answer.values())


def test_a_batch_is_answered_in_order_and_as_each_alone() -> None:
    batch = [*SAMPLES["clean"], *SAMPLES["threat"]]
    together = CLASSIFIER.score(batch, ENGLISH)
    assert [answer.scores for answer in together] == [scores(text) for text in batch]


def test_the_language_that_a_submitter_names_hides_nothing() -> None:
    text = SAMPLES["spam_certain"][0]
    found = {category: score for category, score in scores(text).items() if score > 0}
    assert found
    assert CLASSIFIER.score([text], Context(language="fr"))[0].scores == found, (
        "what was not found is not scored"
    )


def test_threads_share_one_pack_and_agree() -> None:
    fresh = RulePackClassifier()
    answers: list[object] = []

    def ask() -> None:
        answers.append((fresh.version, [r.scores for r in fresh.score(list(SAMPLES["hate"]), ENGLISH)]))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 6
    assert all(answer == answers[0] for answer in answers)


def test_the_version_names_the_pack_it_read() -> None:
    assert CLASSIFIER.version.endswith(starter_pack().digest[:12])
