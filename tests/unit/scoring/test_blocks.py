"""Work on many ratings is divided and in single precision: the results stay those of the undivided work."""

import numpy as np
import pytest

from app.core.scoring import arrays, blocks, matrix, regimes, score, tally
from app.core.scoring.acceleration import Acceleration
from app.core.scoring.blocks import Cells, at_once, begin, each_block
from tests.unit.scoring.communities import community


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide already what the tests can afford."""
    for module in (arrays, blocks, matrix, regimes, tally):
        monkeypatch.setattr(module, "LARGE", 1000)
    monkeypatch.setattr(blocks, "BLOCK", 512)


@pytest.mark.parametrize("size", [(60, 60, 1500), (160, 260, 9000)])
def test_statuses_are_the_same_whether_work_is_divided_or_not(
    size: tuple[int, int, int], request: pytest.FixtureRequest
) -> None:
    columns = community(*size, seed=5, noise=0.25).columns
    whole = score(*columns)
    request.getfixturevalue("everything_is_large")
    divided = score(*columns)
    assert (divided.regime, divided.model.axis) == (whole.regime, whole.model.axis)
    assert divided.rules.tolist() == whole.rules.tolist()
    assert divided.intercepts == pytest.approx(whole.intercepts, abs=2e-5)
    assert divided.rater_factors == pytest.approx(whole.rater_factors, abs=2e-4)
    assert sum(divided.passes) < sum(whole.passes), "a large fit needs fewer passes"
    again = score(*columns)
    assert np.array_equal(again.intercepts, divided.intercepts), "threads change nothing"


@pytest.mark.usefixtures("everything_is_large")
def test_a_second_rating_is_found_also_where_two_blocks_meet() -> None:
    note, rater = np.divmod(np.arange(1024), 32)
    note[512], rater[512] = note[511], rater[511]
    with pytest.raises(ValueError, match=r"more than one rating of note 15, rater 31"):
        score(note, rater, np.ones(1024))


@pytest.mark.usefixtures("everything_is_large")
def test_two_large_communities_without_a_common_rater_are_scored_side_by_side() -> None:
    one, other = (community(80, 90, 2500, seed=seed, noise=0.2) for seed in (6, 7))
    note, rater = np.r_[one.note, other.note + 1000], np.r_[one.rater, other.rater + 1000]
    both = score(note, rater, np.r_[one.value, other.value])
    blocks_apart = [np.flatnonzero((both.rater_ids >= 1000) == far) for far in (False, True)]
    for raters in blocks_apart:
        factor = both.rater_factors[raters][both.raters_kept[raters]]
        assert min(np.count_nonzero(factor < -0.1), np.count_nonzero(factor > 0.1)) >= 10, (
            "camps on each island"
        )


@pytest.mark.usefixtures("everything_is_large")
def test_each_block_is_worked_on_once() -> None:
    times = np.zeros(5000, np.int64)

    def once(part: slice) -> None:
        times[part] += 1

    each_block(len(times), once)
    assert (times == 1).all()


def test_accelerated_passes_come_closer_than_plain_ones() -> None:
    rates = np.linspace(0.1, 0.6, 6)
    solution, plain = np.arange(6.0), np.zeros(6)
    accelerated, acceleration = np.zeros(6), Acceleration()

    def one_pass(x: "np.typing.NDArray[np.float64]") -> "np.typing.NDArray[np.float64]":
        return solution + rates * (x - solution)

    for _ in range(8):
        plain = one_pass(plain)
        accelerated = acceleration.next(accelerated, one_pass(accelerated))
    error, plain_error = np.abs(accelerated - solution).max(), np.abs(plain - solution).max()
    assert error < plain_error / 20
    assert acceleration.next(solution, one_pass(solution)) == pytest.approx(solution, abs=error)
    at_rest = Acceleration()
    for _ in range(3):
        assert np.array_equal(at_rest.next(solution, solution), solution), (
            "steps of no length are not combined"
        )


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("columns", [3, 4])
def test_products_are_those_of_the_whole_matrix(columns: int) -> None:
    dice = np.random.default_rng(2)
    dense = np.where(dice.random((90, 70)) < 0.4, dice.random((90, 70)), 0.0)
    row = np.r_[0, np.cumsum(np.count_nonzero(dense, axis=1))].astype(np.int32)
    cells = Cells(dense[dense != 0], np.nonzero(dense)[1].astype(np.int32), row, dense.shape)
    assert len(cells.halves) == 2
    left, right = dice.random((columns, 70)), dice.random((columns, 90))
    assert np.array(cells.times(*left)) == pytest.approx(left @ dense.T)
    assert np.array(cells.transposed_times(*right)) == pytest.approx(right @ dense)
    double = cells.with_entries(2 * cells.entries)
    products = cells.transposed_times(*right, also=(double, right[0]))
    assert products[-1] == pytest.approx(2 * right[0] @ dense)
    assert cells.times(*left, also=(double, left[0]))[-1] == pytest.approx(2 * left[0] @ dense.T)


def test_an_error_in_a_thread_reaches_who_waits() -> None:
    def fail() -> None:
        raise ValueError("no")

    for work in (begin(fail), lambda: at_once(int, fail)):
        with pytest.raises(ValueError, match="no"):
            work()
