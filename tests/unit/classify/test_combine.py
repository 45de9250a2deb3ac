"""Results of several classifiers as one, and results that cannot be."""

import pytest

from app.core.classify import CATEGORIES, Result, Retryable, combine


def test_the_highest_score_of_each_category_counts() -> None:
    results = [Result({"spam": 0.7, "hate": 0.0}), Result({"spam": 0.2}), Result({}, error=Retryable(2.0))]
    assert combine(results) == {"spam": 0.7, "hate": 0.0}
    assert combine([Result()]) == {}, "not scored is not zero"


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -0.01, 1.01])
def test_a_score_that_is_no_probability_is_refused(score: float) -> None:
    with pytest.raises(ValueError, match="spam"):
        Result({"spam": score})


def test_every_category_is_described_in_one_line() -> None:
    assert all(line and "\n" not in line for line in CATEGORIES.values())
