"""The optimum: what must hold there, and that it is one (docs/develop/consensus.md)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.scoring import FloatArray, arrays
from app.core.scoring.arrays import Matrix
from app.core.scoring.solver import FACTOR_RIDGE, INTERCEPT_RIDGE, Fit, Ridges, fit, half_step
from tests.examples import examples
from tests.unit.scoring import slow
from tests.unit.scoring.communities import Community, community


def _matrix(given: Community) -> Matrix:
    return _of(*given.columns)


def _of(note: object, rater: object, value: object) -> Matrix:
    ratings = arrays.ratings(note, rater, value)  # type: ignore[arg-type]
    return Matrix.from_ratings(ratings, np.ones(len(ratings), np.bool_))


def _ridges(matrix: Matrix, at_least: float = 0.0) -> Ridges:
    return Ridges.from_counts(len(matrix), len(matrix.notes), len(matrix.raters), at_least)


def _problem(matrix: Matrix, at_least: float = 0.0) -> slow.Problem:
    rows = matrix.values.tocoo()
    note, rater = rows.row.astype(np.int64), rows.col.astype(np.int64)
    return slow.Problem(note, rater, rows.data, len(matrix.notes), len(matrix.raters), at_least)


def _packed(found: Fit) -> FloatArray:
    return np.concatenate(
        [found.mu, found.note_intercept, found.note_factor, found.rater_intercept, found.rater_factor]
    )


CASES = [(community(40, 30, 400, seed=s), floor) for s in (1, 2) for floor in (0.0, 10.0)]
CASES += [(community(120, 90, 2500, seed=3), 0.0)]


@pytest.mark.parametrize(("given_", "floor"), CASES)
def test_the_gradient_vanishes_at_the_solution(given_: Community, floor: float) -> None:
    matrix = _matrix(given_)
    found = fit(matrix, _ridges(matrix, floor), tolerance=1e-12)
    _, gradient = _problem(matrix, floor).loss(_packed(found))
    assert np.abs(gradient).max() < 1e-6


@pytest.mark.parametrize(("given_", "floor"), CASES)
def test_no_long_search_from_elsewhere_finds_a_lower_loss(given_: Community, floor: float) -> None:
    matrix = _matrix(given_)
    found = fit(matrix, _ridges(matrix, floor))
    problem = _problem(matrix, floor)
    loss, _ = problem.loss(_packed(found))
    assert loss <= problem.solve(seeds=2).loss * (1 + 1e-6)


@pytest.mark.parametrize("seed", [1, 2])
def test_the_four_identities_hold(seed: int) -> None:
    matrix = _matrix(community(60, 50, 900, seed=seed))
    found = fit(matrix, _ridges(matrix), tolerance=1e-12)
    mu = found.mu[0]
    assert found.rater_intercept.mean() == pytest.approx(mu, abs=1e-7)
    assert found.note_intercept.mean() == pytest.approx(mu, abs=1e-7)
    assert np.mean(found.rater_factor**2) == pytest.approx(np.mean(found.note_factor**2), abs=1e-7)
    of_notes = INTERCEPT_RIDGE * np.mean(found.note_intercept * found.note_factor)
    of_raters = INTERCEPT_RIDGE * np.mean(found.rater_intercept * found.rater_factor)
    assert FACTOR_RIDGE * found.rater_factor.mean() == pytest.approx(of_notes, abs=1e-7)
    assert FACTOR_RIDGE * found.note_factor.mean() == pytest.approx(of_raters, abs=1e-7)


def test_the_error_is_the_sum_of_squared_residuals() -> None:
    matrix = _matrix(community(60, 50, 900, seed=4))
    found = fit(matrix, _ridges(matrix))
    rows = matrix.values.tocoo()
    guess = found.mu[0] + found.rater_intercept[rows.col] + found.note_intercept[rows.row]
    guess += found.rater_factor[rows.col] * found.note_factor[rows.row]
    assert found.error == pytest.approx(np.square(rows.data - guess).sum(), rel=1e-9)


TERMS = st.lists(st.tuples(st.floats(-1, 1), st.floats(-2, 2)), min_size=1, max_size=12)


@given(TERMS, st.floats(0.01, 50), st.floats(0.01, 50))
def test_the_half_step_is_least_squares_on_the_augmented_system(
    terms: list[tuple[float, float]], rho_i: float, rho_f: float
) -> None:
    y, x = np.array(terms).T
    design = np.vstack([np.column_stack([np.ones_like(x), x]), np.diag(np.sqrt([rho_i, rho_f]))])
    expected = np.linalg.lstsq(design, np.concatenate([y, [0.0, 0.0]]), rcond=None)[0]
    n, s, ss = (np.array([value]) for value in (float(len(y)), x.sum(), x @ x))
    intercept, factor, variance = half_step(n, s, ss, np.array([y.sum()]), np.array([y @ x]), rho_i, rho_f)
    assert [intercept[0], factor[0]] == pytest.approx(expected, abs=1e-9)
    assert variance[0] == pytest.approx(np.linalg.inv(design.T @ design)[0, 0], rel=1e-6)


def test_a_heavy_ridge_pulls_scores_to_nothing_and_a_light_one_lets_them_be_averages() -> None:
    n, zero, y = np.array([4.0]), np.zeros(1), np.array([3.0])
    assert half_step(n, zero, zero, y, zero, 1e12, 1.0)[0] == pytest.approx(0.0, abs=1e-9)
    assert half_step(n, zero, zero, y, zero, 1e-12, 1.0)[0] == pytest.approx(0.75)
    x = np.array([2.0])
    heavy = half_step(n, x, np.array([2.0]), y, np.array([1.0]), 1.0, 1e12)
    assert heavy[1] == pytest.approx(0.0, abs=1e-9)
    assert heavy[0] == pytest.approx(3.0 / 5.0)


def test_without_factors_the_model_is_additive() -> None:
    matrix = _matrix(community(40, 30, 400, seed=5))
    found = fit(matrix, _ridges(matrix), factored=False, tolerance=1e-12)
    assert not found.note_factor.any()
    assert not found.rater_factor.any()
    _, gradient = _problem(matrix).loss(_packed(found))
    notes, raters = len(matrix.notes), len(matrix.raters)
    intercepts = np.r_[0 : 1 + notes, 1 + 2 * notes : 1 + 2 * notes + raters]
    assert np.abs(gradient[intercepts]).max() < 1e-6


@pytest.mark.parametrize("seed", range(4))
def test_at_least_half_of_the_raters_have_a_negative_factor(seed: int) -> None:
    matrix = _matrix(community(40, 30, 400, seed=seed))
    factor = fit(matrix, _ridges(matrix)).rater_factor
    assert np.count_nonzero(factor < 0) >= np.count_nonzero(factor > 0)


def test_components_are_fitted_as_if_each_were_alone() -> None:
    one, other = community(40, 30, 400, seed=6), community(40, 30, 400, seed=7, noise=0.2)
    both = _of(
        np.concatenate([one.note, other.note + 1000]),
        np.concatenate([one.rater, other.rater + 1000]),
        np.concatenate([one.value, other.value]),
    )
    ridges = _ridges(both)
    together = fit(both, ridges, tolerance=1e-11)
    assert both.parts == 2
    for part, given_ in enumerate((one, other)):
        alone = fit(_matrix(given_), ridges, tolerance=1e-11)
        here = both.note_part == part
        assert together.mu[part] == pytest.approx(alone.mu[0], abs=1e-8)
        assert together.note_intercept[here] == pytest.approx(alone.note_intercept, abs=1e-7)
        assert np.abs(together.note_factor[here]) == pytest.approx(np.abs(alone.note_factor), abs=1e-6)


@examples(25)
@given(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=40), st.integers(1, 6))
def test_any_ratings_at_all_are_solved(values: list[float], raters: int) -> None:
    places = np.arange(len(values))
    matrix = _of(places // raters, places % raters, values)
    found = fit(matrix, _ridges(matrix))
    assert np.isfinite(_packed(found)[1:]).all()
    assert np.isfinite(found.mu).all()
