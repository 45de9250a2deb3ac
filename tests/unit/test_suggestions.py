"""A suggested Tier 1: the lowest whose known outcomes prove the wished precision."""

import pytest

from app.core.thresholds.outcomes import lower_bound, lowest

RIGHT, WRONG = True, False


@pytest.mark.parametrize(
    ("right", "of", "bound"), [(0, 0, 0.0), (10, 10, 0.7225), (8, 10, 0.4902), (95, 100, 0.8882), (0, 5, 0.0)]
)
def test_the_bound_is_wilsons(right: int, of: int, bound: float) -> None:
    assert lower_bound(right, of) == pytest.approx(bound, abs=1e-4)


def test_the_lowest_threshold_that_holds_the_precision_is_suggested() -> None:
    known = [(0.99, RIGHT)] * 60 + [(0.8, RIGHT)] * 40 + [(0.7, WRONG)] * 30
    found = lowest("spam", 0.95, known)
    assert (found.tier1, found.above, found.upheld) == (0.7999, 100, 100)
    assert found.bound == pytest.approx(0.963, abs=1e-3)


def test_equal_scores_are_on_one_side_together() -> None:
    known = [(0.9, RIGHT)] * 80 + [(0.9, WRONG)] * 80
    assert lowest("spam", 0.95, known).tier1 is None


@pytest.mark.parametrize(("precision", "needed"), [(0.9, 35), (0.95, 73), (0.99, 381)])
def test_too_few_outcomes_say_how_many_it_takes(precision: float, needed: int) -> None:
    few = lowest("spam", precision, [(0.9, RIGHT)] * (needed - 1))
    assert (few.tier1, few.known, few.needed) == (None, needed - 1, needed)
    assert lowest("spam", precision, [(0.9, RIGHT)] * needed).tier1 == 0.8999
