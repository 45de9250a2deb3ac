"""Training without a database: caps, near-duplicates, the blend, the figures, and what makes a version better."""

import math
import random
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.classify.features import named_features, vectorise
from app.core.learning import logistic, training
from app.core.learning.labels import AUTHOR_LEAST, CLUSTER_MOST, Label, Ordinary, capped
from app.core.learning.logistic import Blend, Linear
from app.core.learning.training import Outcome, Version
from tests import talk

SEEN = talk.posts(400)
FRESH = talk.posts(600, seed=99)


def version(labels: list[Label]) -> Version:
    trained = training.train(labels, category="spam", threshold=0.55)
    assert trained.version is not None
    return trained.version


def precision(made: Version | None, found: list[talk.Post] = FRESH) -> float:
    """The average precision over posts that the version has not seen; of the base alone without a version."""
    wrong = np.array([float(item.wrong) for item in found])
    scores = np.array([item.base for item in found])
    if made is not None:
        outputs = np.array([made.linear.output(vectorise(item.text)) for item in found])
        scores = made.blend.scores(scores, outputs)
    return logistic.average_precision(wrong, scores)


def test_a_model_learns_what_the_forum_removes() -> None:
    trained = training.train(talk.labels(SEEN, mistakes=0.05), category="spam", threshold=0.55)
    assert trained.outcome is Outcome.BETTER
    assert trained.version is not None
    figures = trained.version.figures
    assert figures.newest == math.ceil(trained.labels / 5)
    assert figures.own_precision > figures.base_precision + 0.1
    assert figures.own_brier < figures.base_brier
    assert sum(part.count for part in figures.bins) == figures.newest
    assert precision(trained.version) > precision(None) + 0.2


def test_the_same_labels_give_the_same_bytes() -> None:
    labels = talk.labels(SEEN, mistakes=0.05)
    first, second = version(labels), version(list(labels))
    assert first.linear.to_bytes() == second.linear.to_bytes()
    assert (first.blend, first.figures, first.words) == (second.blend, second.figures, second.words)


@pytest.mark.parametrize(
    ("count", "share", "outcome"),
    [
        (training.LEAST_LABELS - 1, 0.5, Outcome.FEW_LABELS),
        (300, 0.05, Outcome.ONE_SIDED),
        (300, 0.97, Outcome.ONE_SIDED),
    ],
)
def test_nothing_is_trained_before_there_are_enough_of_both_kinds(
    count: int, share: float, outcome: Outcome
) -> None:
    found = talk.posts(count, share=share)
    trained = training.train(talk.labels(found))
    assert (trained.outcome, trained.version) == (outcome, None)
    assert 0.9 * count < trained.labels <= count
    assert 0 < trained.positives < trained.labels


def test_without_anything_to_learn_the_model_stays_in_the_shadow() -> None:
    """Decisions by chance: whatever the model says, the others are as good."""
    dice = random.Random(5)  # noqa: S311
    labels = [replace(label, acted=dice.random() < 0.5) for label in talk.labels(SEEN)]
    trained = training.train(labels, category="spam")
    assert trained.outcome in (Outcome.NOT_BETTER, Outcome.LESS_RELIABLE)
    assert trained.version is not None


def test_a_base_that_is_always_right_is_not_beaten() -> None:
    labels = [replace(label, base=0.95 if label.acted else 0.05) for label in talk.labels(SEEN)]
    assert training.train(labels).outcome is Outcome.NOT_BETTER


def test_of_one_author_only_the_newest_labels_count() -> None:
    labels = talk.labels(SEEN)
    mine = [replace(label, author="busy") for label in labels[:100]]
    kept = capped([*mine, *labels[100:]], np.arange(400))
    by_busy = [place for place in kept if place < 100]
    assert by_busy == list(range(100 - AUTHOR_LEAST, 100))
    assert 280 < len(kept) - len(by_busy) <= 300


def test_of_texts_that_are_nearly_the_same_only_few_count() -> None:
    campaign = [
        f"Cheap moorings at the old quay, write to harbour{n}@example.org, berth {n}" for n in range(30)
    ]
    others = [item.text for item in talk.posts(30, seed=3)]
    rows = logistic.matrix([vectorise(text) for text in (*campaign, *others, "", "")])
    clusters = training.clusters(rows)
    assert len(set(clusters[:30])) == 1
    assert not set(clusters[:30]) & set(clusters[30:])
    assert clusters[60] != clusters[61], "texts without words are not alike"
    labels = [
        Label(text, f"author-{n}", True, talk.labels(SEEN)[0].decided_at, 0.6)
        for n, text in enumerate(campaign)
    ]
    assert capped(labels, clusters[:30]) == list(range(30 - CLUSTER_MOST, 30))


def test_different_posts_of_one_kind_are_no_duplicates() -> None:
    texts = [item.text for item in talk.posts(200, seed=4)]
    clusters = training.clusters(logistic.matrix([vectorise(text) for text in texts]))
    assert len(set(clusters)) > 150


def test_one_author_with_five_percent_wrong_labels_hardly_moves_the_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One author's offers of charters were all let through: the caps keep most of it out of the model."""
    clean = talk.labels(talk.posts(1_000), mistakes=0.05)
    dice = random.Random(8)  # noqa: S311
    offers = [item for item in (talk.post(dice, wrong=True) for _ in range(2_000)) if _is_charter(item)]
    poison = [
        Label(item.text, "attacker", False, label.decided_at, 0.6)
        for item, label in zip(offers, clean[::20], strict=False)
    ]
    assert len(poison) == 50
    poisoned = sorted([*clean, *poison], key=lambda label: label.decided_at)
    fresh = [item for item in talk.posts(1_500, seed=99) if item.wrong and _is_charter(item)]

    def mean(made: Version) -> float:
        outputs = [made.linear.output(vectorise(item.text)) for item in fresh]
        scores = [made.blend.score(item.base, output) for item, output in zip(fresh, outputs, strict=True)]
        return sum(scores) / len(scores)

    before, after = version(clean), version(poisoned)
    assert precision(after) > precision(before) - 0.02
    with monkeypatch.context() as patch:
        patch.setattr(training, "capped", lambda labels, _clusters: list(range(len(labels))))
        unprotected = version(poisoned)
    assert mean(before) - mean(after) < 0.5 * (mean(before) - mean(unprotected))

    assert mean(after) > 0.65


def _is_charter(item: talk.Post) -> bool:
    return "charter" in item.text.lower()


def test_a_model_keeps_no_words_of_a_single_author() -> None:
    secret = "zephyrine"
    labels = talk.labels(SEEN)
    labels[5] = replace(labels[5], content=f"{labels[5].content} {secret} {secret}", author="only-one")
    labels[9] = replace(labels[9], content=f"{labels[9].content} {secret}", author="only-one")
    made = version(labels)
    others = {bucket for label in talk.labels(SEEN) for bucket in named_features(label.content)}
    of_secret = set(named_features(secret)) - others
    assert of_secret
    assert not of_secret & set(made.linear.buckets.tolist())
    assert secret not in str(made.words)


def test_words_explain_what_the_model_learned() -> None:
    words = version(talk.labels(SEEN)).words
    raising, lowering = ({word.text for word in side} for side in (words.raising, words.lowering))
    assert {"we offer", "our"} & raising
    assert {"was", "we sailed"} & lowering
    assert not raising & lowering
    assert all(word.authors >= 3 for word in (*words.raising, *words.lowering))


@given(
    st.floats(0, 1),
    st.floats(0, 1),
    st.floats(-6, 6),
    st.floats(-6, 6),
    st.floats(0, 3),
    st.floats(0, 3),
    st.floats(-4, 4),
)
def test_a_higher_base_or_output_never_lowers_the_score(
    base: float, more: float, own: float, higher: float, a: float, b: float, c: float
) -> None:
    made = Blend(a, b, c)
    low, high = sorted((base, more))
    assert made.score(low, own) <= made.score(high, own)
    down, up = sorted((own, higher))
    assert made.score(base, down) <= made.score(base, up)
    assert 0.0 <= made.score(base, own) <= 1.0


def test_the_blend_never_turns_the_base_around() -> None:
    """Labels in which high scores were dismissed and low ones acted on: the base is ignored, not inverted."""
    base = np.linspace(0.9, 0.3, 40)
    labels = (np.arange(40) >= 20).astype(float)
    assert logistic.fit_blend(base, np.zeros(40), labels).a >= 0.0
    assert logistic.fit_blend(base, -labels, labels).b >= 0.0


def test_ordinary_posts_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nearly everything that was asked about was acted on. That says nothing about posts that nobody asked about."""
    found = [item for item in talk.posts(900, seed=6) if item.wrong or item.base > 0.65]
    labels = talk.labels([replace(item, base=min(item.base, 0.6)) for item in found])
    calm = [Ordinary(f"Happy birthday {number}, dear grandmother!", {"spam": 0.3}) for number in range(400)]
    threshold = 0.4

    def asked(made: Version) -> int:
        outputs = [made.linear.output(vectorise(post.content)) for post in calm]
        return sum(made.blend.score(0.3, output) > threshold for output in outputs)

    careful = training.train(labels, category="spam", ordinary=calm, threshold=threshold).version
    with monkeypatch.context() as patch:
        patch.setattr(training, "_guarded", lambda fitted, *_given: fitted)
        bold = training.train(labels, category="spam", threshold=threshold).version
    assert bold is not None
    assert careful is not None
    assert asked(bold) > training.ORDINARY_SHARE * len(calm)
    assert asked(careful) <= training.ORDINARY_SHARE * len(calm)


def test_where_no_ordinary_post_is_known_the_forums_own_talk_is_left_alone_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Eight in ten of what people were asked about was acted on, and nothing else is known."""
    dice = random.Random(4)  # noqa: S311
    seen = talk.posts(3_000, seed=7)
    found = [item for item in seen if item.base > 0.5 and (item.wrong or dice.random() < 0.25)]
    labels = talk.labels(found[:400], mistakes=0.05)
    quiet = [replace(item, base=0.9 * item.base) for item in FRESH if not item.wrong and item.base <= 0.5]

    def raised() -> float:
        made = training.train(labels, category="spam", threshold=0.5).version
        assert made is not None
        assert (made.figures.ordinary, made.figures.more_a_day) == (0, None)
        outputs = [made.linear.output(vectorise(item.text)) for item in quiet]
        scores = [made.blend.score(item.base, output) for item, output in zip(quiet, outputs, strict=True)]
        return sum(score > 0.5 for score in scores) / len(scores)

    careful = raised()
    monkeypatch.setattr(training, "_guarded", lambda fitted, *_given: fitted)
    assert raised() > 0.2
    assert careful < 0.1


def test_what_the_model_alone_raised_and_people_left_alone_counts_as_its_mistakes() -> None:
    threshold = 0.4
    dice = random.Random(3)  # noqa: S311
    found = [replace(item, base=0.6) for item in SEEN]
    labels = talk.labels(found)
    kept = [talk.post(dice, wrong=True, author=f"kept-{number}") for number in range(12)]
    calm = [Ordinary(f"Happy birthday {number}, dear grandmother!", {"spam": 0.3}) for number in range(400)]

    def trained(base: float) -> Version:
        mistakes = [
            replace(label, acted=False, base=base, decided_at=labels[-1].decided_at)
            for label in talk.labels(kept)
        ]
        made = training.train([*labels, *mistakes], category="spam", ordinary=calm, threshold=threshold)
        assert made.version is not None
        return made.version

    def raised(made: Version) -> int:
        offers = [vectorise(item.text) for item in FRESH if item.wrong]
        return sum(made.blend.score(0.35, made.linear.output(offer)) > threshold for offer in offers)

    by_others, by_model = trained(threshold + 0.01), trained(threshold - 0.01)
    assert by_others.figures.ordinary == 400
    assert 405 < by_model.figures.ordinary <= 412
    assert raised(by_model) < 0.5 * raised(by_others)


def test_the_page_can_say_how_many_more_posts_a_day_it_asks_about() -> None:
    begin = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    ordinary = [
        Ordinary(item.text, {"spam": 0.4}, begin + timedelta(days=10) * number / 599)
        for number, item in enumerate(FRESH)
    ]
    labels = talk.labels([replace(item, base=0.6) for item in SEEN])
    made = training.train(labels, category="spam", ordinary=ordinary, threshold=0.5).version
    assert made is not None
    assert made.figures.ordinary == len(ordinary)
    assert made.figures.more_a_day is not None
    assert 0.1 < made.figures.more_a_day <= 0.6, "one in a hundred of 60 a day"


def test_a_blend_that_does_not_rise_with_the_others_is_refused() -> None:
    """High scores were dismissed and low ones acted on, whatever was written: only a flat blend fits."""
    shuffled = random.Random(9).sample(SEEN, len(SEEN))  # noqa: S311
    labels = [
        replace(label, content=other.text, acted=label.base < 0.55)
        for label, other in zip(talk.labels(SEEN), shuffled, strict=True)
    ]
    trained = training.train(labels, category="spam", threshold=0.55)
    assert trained.version is not None
    figures = trained.version.figures
    assert not trained.version.blend.rises
    assert figures.own_precision > figures.base_precision + training.GAIN
    assert trained.outcome is Outcome.NOT_BETTER


def test_labels_by_lot_hardly_ever_look_better() -> None:
    """The newest labels of 200 decisions, many times: what is no better by more than chance passes in one of 50."""
    by_figures = by_draws = 0
    for seed in range(100):
        dice = np.random.default_rng(seed)
        labels = (dice.random(40) < 0.5).astype(float)
        base, own = np.clip(dice.normal(0.7, 0.12, 40), 0.56, 0.99), dice.normal(0.0, 1.0, 40)
        scores = logistic.cross_fitted(base, own, labels)
        gain = logistic.average_precision(labels, scores) - logistic.average_precision(labels, base)
        if gain >= training.GAIN and logistic.brier(labels, scores) <= logistic.brier(labels, base):
            by_figures += 1
            by_draws += logistic.surely_more_precise(labels, base, scores)
    assert by_figures >= 5
    assert by_draws <= 2


def test_average_precision_does_not_depend_on_the_order_of_equal_scores() -> None:
    labels = np.array([1.0, 0.0, 0.0, 1.0])
    assert logistic.average_precision(labels, np.full(4, 0.5)) == 0.5
    assert logistic.average_precision(labels[::-1], np.full(4, 0.5)) == 0.5
    assert logistic.average_precision(labels, np.array([0.9, 0.1, 0.2, 0.8])) == 1.0
    assert logistic.average_precision(np.array([0.0, 1.0]), np.array([0.9, 0.8])) == 0.5
    assert logistic.average_precision(np.zeros(3), np.ones(3)) == 0.0


def test_a_model_is_stored_as_plain_small_bytes() -> None:
    made = version(talk.labels(SEEN)).linear
    stored = made.to_bytes()
    again = Linear.from_bytes(stored)
    assert len(stored) < 300_000
    text = vectorise("We offer a fishing trip near the lock, best price.")
    assert again.output(text) == made.output(text) > 0
    assert made.output(vectorise("")) == 0.0
    for broken in (b"", b"no model", stored[:-9]):
        with pytest.raises(ValueError, match="no model"):
            Linear.from_bytes(broken)


def test_the_largest_model_stays_below_the_limit() -> None:
    dice = np.random.default_rng(1)
    buckets = np.sort(dice.choice(1 << 18, logistic.KEPT_WEIGHTS, replace=False)).astype(np.int32)
    levels = dice.integers(-127, 128, logistic.KEPT_WEIGHTS).astype(np.int8)
    assert len(Linear(buckets, levels, 0.01).to_bytes()) < 300_000
