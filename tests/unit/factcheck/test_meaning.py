"""Vectors beside words: they show what words are not sure of, whatever the model's cosines are, and never unshow."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import click
import numpy as np
import pytest

from app.core.factcheck.matching import features, matcher, terms
from app.core.factcheck.matching.features import NAMES, Background
from app.core.factcheck.matching.matcher import Outcome, match
from app.core.factcheck.matching.weights import (
    meaning_file,
    read_meaning_weights,
    shipped,
    shipped_meaning,
)
from app.core.factcheck.search import MemoryIndex
from tools.training import spaces

SEAWATER = "Drinking seawater every morning cures diabetes within two weeks"
OTHERS = [
    f"{doing} {what} {when} {does} {illness}"
    for doing in ("Drinking", "Eating", "Smelling", "Keeping")
    for what in ("onions", "vinegar", "chalk", "garlic", "coffee")
    for when in ("every morning", "at breakfast", "before bed", "for weeks")
    for does, illness in (
        ("cures", "asthma"),
        ("causes", "gout"),
        ("prevents", "measles"),
        ("heals", "burns"),
    )
]
INDEX = MemoryIndex([(SEAWATER, "Does seawater cure diabetes?"), *((text, "") for text in OTHERS)])
SEA = 0
IN_OTHER_WORDS = "Drinking ocean water every morning healed his diabetes"
"""Too few of its words are the claim's to be sure."""
SURE = "They say that drinking seawater each morning cured diabetes in two weeks"
DENIED = "Drinking ocean water every morning never healed his diabetes"


@dataclass(frozen=True)
class Known:
    """The cosines of a post with all items, by their numbers."""

    near: Sequence[float]
    unknown: frozenset[int] = frozenset()

    @cached_property
    def numbers(self) -> Sequence[int]:
        order = np.argsort(-np.array(self.near), kind="stable")
        return [int(number) for number in order[: matcher.NEAR_MOST] if self.near[number] > 0]

    @property
    def background(self) -> Background | None:
        return features.background(np.array(self.near))

    def cosines(self, numbers: Collection[int]) -> Mapping[int, float]:
        return {number: self.near[number] for number in numbers if number not in self.unknown}


def space(*, sea: float = 0.0, mean: float = 0.0, spread: float = 0.1) -> Known:
    """Cosines by chance; that of the seawater claim is so many standard deviations above the mean."""
    chance = np.random.default_rng(4).normal(size=INDEX.size)
    chance[SEA] = sea
    return Known((mean + spread * chance).tolist())


def ask(text: str, near: Known | None) -> Outcome:
    return match(text, INDEX, shipped(), near=near)


def shown(text: str, near: Known | None) -> int | None:
    found = ask(text, near).shown
    return None if found is None else found.number


@pytest.mark.parametrize(("mean", "spread"), [(0.0, 0.1), (0.8, 0.03), (-0.2, 0.05)])
def test_what_stands_out_is_shown_whatever_the_cosines_of_a_model_are(mean: float, spread: float) -> None:
    assert shown(IN_OTHER_WORDS, None) is None, "words alone are not sure"
    assert shown(IN_OTHER_WORDS, space(sea=9, mean=mean, spread=spread)) == SEA
    assert shown(IN_OTHER_WORDS, space(sea=1, mean=mean, spread=spread)) is None
    first, second = (
        ask(IN_OTHER_WORDS, one) for one in (space(sea=9), space(sea=9, mean=mean, spread=spread))
    )
    assert first.ranked[0].score == pytest.approx(second.ranked[0].score, abs=0.001)


def test_vectors_that_mean_nothing_change_nothing_that_is_shown() -> None:
    dice = np.random.default_rng(8)
    for text in (SURE, IN_OTHER_WORDS, DENIED, "The tram to the casino is late again"):
        alone = ask(text, None)
        for _ in range(20):
            found = ask(text, Known((0.1 * dice.normal(size=INDEX.size)).tolist()))
            assert found.shown == alone.shown, text


def test_where_words_are_sure_vectors_are_not_asked() -> None:
    against = space(sea=-3)
    assert ask(SURE, against).shown == ask(SURE, None).shown is not None
    assert shown(DENIED, space(sea=9)) is None, "vectors do not see a denial; words do"


def test_too_few_items_or_one_without_a_vector_leave_it_to_words() -> None:
    standing_out = space(sea=9)
    assert shown(IN_OTHER_WORDS, replace(standing_out, unknown=frozenset({SEA}))) is None
    few = MemoryIndex([(SEAWATER, ""), *((text, "") for text in OTHERS[: features.BACKGROUND_LEAST - 2])])
    cosines = Known(standing_out.near[: few.size])
    assert cosines.background is None
    found, alone = (match(IN_OTHER_WORDS, few, shipped(), near=near) for near in (cosines, None))
    assert (found.shown, found.ranked[0]) == (None, alone.ranked[0])


def test_near_items_never_displace_the_candidates_of_words_alone() -> None:
    shared = [(f"A tram number{number} stands at the harbour gate", "") for number in range(60)]
    index = MemoryIndex([*shared, *((f"Unlike words{number}", "") for number in range(60))])
    post, background = terms.read("The tram stands at the harbour gate"), shipped().background

    def found(near: range) -> set[int]:
        known = Known([1.0 - number / 1_000 if number in near else 0.0 for number in range(120)])
        return {one.number for one in matcher.find(post, index, background, near=known).found}

    alone = found(range(0))
    assert len(alone) == matcher.MOST
    assert found(range(60, 120)) == alone | {*range(60, 60 + matcher.NEAR_MOST)}
    assert found(range(45, 50)) == alone | {*range(45, 50)}, "also those that words found too late"


def test_the_shipped_weights_fit_the_words_weights_that_they_were_trained_with() -> None:
    weights = shipped_meaning()
    assert len(weights.ranking) == len(NAMES) + len(features.MEANING_NAMES)
    with pytest.raises(ValueError, match="other weights of words"):
        read_meaning_weights(meaning_file().read_bytes(), replace(shipped(), digest="0" * 64))


def test_vectors_of_a_model_are_read_for_training_only_if_each_text_has_one(tmp_path: Path) -> None:
    file = tmp_path / "model.npz"
    rows = {name: np.full((4, 3), 2.0) for name in ("claims", "train_queries", "nomatch_queries")}
    np.savez(file, **rows)
    read = spaces.read_space(file, *[range(4)] * 3)
    assert np.linalg.norm(read.posts, axis=1) == pytest.approx(1.0)
    assert (len(read.claims), len(read.others)) == (4, 2)
    with pytest.raises(click.BadParameter, match=r"model\.npz has no vector for each claim"):
        spaces.read_space(file, range(4), range(5), range(4))
