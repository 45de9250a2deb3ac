"""Results of several classifiers as one, and results that cannot be."""

import pytest

from app.core.classify import CATEGORIES, Result, Retryable, combine


def test_the_highest_voice_counts_by_default() -> None:
    assert combine([Result({"spam": 0.2}), Result({"spam": 0.7})]) == {"spam": 0.7}


def test_a_mean_is_of_those_who_scored() -> None:
    results = [Result({"spam": 0.2, "hate": 0.9}), Result({"spam": 0.7}), Result({}, error=Retryable(2.0))]
    assert combine(results, "mean") == {"spam": 0.45, "hate": 0.9}


def test_nobody_scored_is_not_zero() -> None:
    assert combine([Result()], "mean") == {}


def test_another_way_to_combine_is_refused() -> None:
    with pytest.raises(ValueError, match="max"):
        combine([], "median")  # type: ignore[arg-type]


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -0.01, 1.01])
def test_a_score_that_is_no_probability_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="spam"):
        Result({"spam": score})


def test_every_category_is_described_in_one_line() -> None:
    assert all(line and "\n" not in line for line in CATEGORIES.values())
