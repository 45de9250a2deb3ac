"""Whether there are camps: the test judged by its own spread, and what a community remembers."""

from math import exp

import numpy as np
import pytest

from app.core.scoring import AxisTest, Camps, Facts, Regime, Scores, score
from app.core.scoring.axis import ENOUGH_EACH, ENOUGH_RATINGS, EVEN_AT, FOUND_AT, GONE_AT
from tests.unit.scoring.communities import community

FOUND = Camps(True, -GONE_AT, 1000)
GONE = Camps(False, GONE_AT, 1000)
MILD = {"raters": 1000, "notes": 1500, "ratings": 15_000, "lean": 0.14}
"""Two camps that disagree about little: the ratio is below 1.06 in some of these communities, and above in others."""


def _test(scores: Scores) -> AxisTest:
    assert scores.axis is not None
    return scores.axis


def _at(z: float, ratings: int) -> AxisTest:
    return AxisTest(1.0 + z / 100, z, ratings)


@pytest.mark.parametrize("size", [(60, 60, 900), (120, 240, 5000), (300, 300, 20_000), (1000, 1500, 15_000)])
def test_noise_stays_within_the_spread_of_random_signs(size: tuple[int, int, int]) -> None:
    found = [_test(score(*community(*size, seed=seed, lean=0.0).columns)).z for seed in range(6)]
    assert max(found) < FOUND_AT
    assert abs(float(np.mean(found))) < 1.2


def test_mild_camps_are_found_although_their_ratio_is_close_to_one() -> None:
    tests = []
    for seed in range(4):
        scores = score(*community(**MILD, seed=seed).columns)  # type: ignore[arg-type]  # three whole numbers, one not
        tests.append(_test(scores))
        assert scores.model.axis
        assert scores.camps.found
    assert min(test.ratio for test in tests) < 1.06
    assert min(test.z for test in tests) > FOUND_AT


def test_turning_every_rating_round_changes_nothing() -> None:
    note, rater, value = community(60, 60, 1200, seed=3, lean=0.1).columns
    one, other = _test(score(note, rater, value)), _test(score(note, rater, 1.0 - value))
    assert other.ratio == pytest.approx(one.ratio, abs=1e-6)
    assert other.z == pytest.approx(one.z, abs=1e-4)


@pytest.mark.parametrize(
    ("size", "tested"),
    [
        ((60, 60, ENOUGH_RATINGS), True),
        ((60, 60, ENOUGH_RATINGS - 1), False),
        ((100, 60, 100 * ENOUGH_EACH - 20), False),
    ],
)
def test_with_too_few_ratings_nothing_is_tested_and_nothing_remembered(
    size: tuple[int, int, int], tested: bool
) -> None:
    note, rater = np.divmod(np.arange(size[0] * size[1]), size[0])
    keep = np.random.default_rng(0).permutation(len(note))[: size[2]]
    value = np.random.default_rng(1).integers(0, 3, size[2]) / 2
    for camps in (Camps(), GONE):
        scores = score(note[keep], rater[keep], value, Facts(camps=camps))
        assert (scores.axis is not None) == tested
        if not tested:
            assert scores.model.axis, "camps are presumed"
            assert scores.camps == camps


def test_a_community_that_had_camps_keeps_them_where_a_new_one_has_none() -> None:
    columns = community(120, 240, 5000, seed=1, lean=0.0).columns
    fresh = score(*columns)
    assert (fresh.model.axis, fresh.camps.found) == (False, False)
    remembers = score(*columns, Facts(camps=Camps(True, -GONE_AT, 4500)))
    assert (remembers.model.axis, remembers.camps.found) == (True, True)
    assert -GONE_AT < remembers.camps.against < GONE_AT
    again = score(*columns, Facts(camps=remembers.camps))
    assert again.camps == remembers.camps, "the same ratings are no new evidence"
    assert again.model == remembers.model


def test_what_is_remembered_reaches_the_full_regime_too() -> None:
    columns = community(120, 240, 9000, seed=1, lean=0.0).columns
    for camps, axis in ((Camps(), False), (Camps(True, -GONE_AT, 8000), True)):
        scores = score(*columns, Facts(camps=camps))
        assert scores.regime is Regime.FULL
        assert scores.model.axis is axis
        assert scores.model.acting is not None
        assert scores.model.acting.axis is axis


@pytest.mark.parametrize("z", [FOUND_AT, 50.0])
@pytest.mark.parametrize("before", [Camps(), FOUND, GONE, Camps(True, 0.4, 700)])
def test_one_clear_test_is_enough_to_have_camps(before: Camps, z: float) -> None:
    assert before.with_test(_at(z, 1200)) == Camps(True, -GONE_AT, 1200)


@pytest.mark.parametrize(
    ("before", "growth"), [(Camps(True, 0.0, 1000), GONE_AT / EVEN_AT), (FOUND, 2 * GONE_AT / EVEN_AT)]
)
def test_camps_are_given_up_only_after_many_new_ratings_that_show_none(before: Camps, growth: float) -> None:
    just_before, just_after = (round(1000 * exp(growth + step)) for step in (-0.01, 0.01))
    assert before.with_test(_at(0.0, just_before)).found
    assert not before.with_test(_at(0.0, just_after)).found
    assert before.with_test(_at(-9.0, 1150)).found, "one test says no more than so much"


def test_it_does_not_matter_into_how_many_fits_the_same_growth_falls() -> None:
    one, many = FOUND.with_test(_at(0.5, 1300)), FOUND
    for ratings in range(1001, 1301):
        many = many.with_test(_at(0.5, ratings))
    assert many.against == pytest.approx(one.against, abs=1e-9)
    assert many.found == one.found


def test_a_run_of_doubtful_tests_neither_takes_camps_away_nor_gives_them() -> None:
    kept, gone = FOUND, GONE
    for ratings in range(1000, 3000, 20):
        kept, gone = kept.with_test(_at(EVEN_AT, ratings)), gone.with_test(_at(EVEN_AT, ratings))
    assert kept.found
    assert not gone.found


def test_ratings_that_come_and_go_are_no_evidence() -> None:
    camps = FOUND
    for _ in range(200):
        camps = camps.with_test(_at(0.0, 990)).with_test(_at(0.0, 1000))
    assert camps == FOUND
    fewer = camps.with_test(_at(0.0, 500))
    assert (fewer.found, fewer.ratings) == (True, 500), "what is left after a deletion is counted from there"


def test_a_test_that_could_not_be_made_changes_nothing() -> None:
    for camps in (Camps(), FOUND, GONE):
        assert camps.with_test(None) is camps


def test_what_is_remembered_is_stored_and_read_again() -> None:
    for camps in (Camps(), FOUND, GONE):
        assert Camps.from_json(camps.to_json()) == camps
    assert Camps.from_json(None) == Camps()
    for broken in ({}, {**FOUND.to_json(), "more": 1}, {**FOUND.to_json(), "ratings": 0}):
        with pytest.raises(ValueError, match="camps"):
            Camps.from_json(broken)


def test_the_clearer_the_axis_the_better_it_tells_the_camps_apart() -> None:
    found = [AxisTest(ratio, 0.0, 1000).separation for ratio in (0.0, 1.0, 1.05, 1.2, 2.0)]
    assert found[:2] == [0.0, 0.0]
    assert found == sorted(found)
    assert found[2] == pytest.approx(0.47, abs=0.01)
    assert found[-1] > 0.9
