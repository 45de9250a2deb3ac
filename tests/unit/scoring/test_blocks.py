"""Work on many ratings is divided and in single precision: the results stay those of the undivided work."""

import numpy as np
import pytest

from app.core.scoring import blocks, matrix, regimes, score
from app.core.scoring.blocks import Cells, at_once, begin
from tests.unit.scoring.communities import community


@pytest.fixture
def everything_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide already what the tests can afford."""
    for module in (blocks, matrix, regimes):
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
    again = score(*columns)
    assert np.array_equal(again.intercepts, divided.intercepts), "threads change nothing"


@pytest.mark.usefixtures("everything_is_large")
def test_a_second_rating_is_found_also_where_two_blocks_meet() -> None:
    note, rater = np.divmod(np.arange(1024), 32)
    note[512], rater[512] = note[511], rater[511]
    with pytest.raises(ValueError, match=r"more than one rating of note 15, rater 31"):
        score(note, rater, np.ones(1024))


@pytest.mark.usefixtures("everything_is_large")
def test_products_are_those_of_the_whole_matrix() -> None:
    dice = np.random.default_rng(2)
    dense = np.where(dice.random((90, 70)) < 0.4, dice.random((90, 70)), 0.0)
    row = np.r_[0, np.cumsum(np.count_nonzero(dense, axis=1))].astype(np.int32)
    cells = Cells(dense[dense != 0], np.nonzero(dense)[1].astype(np.int32), row, dense.shape)
    assert len(cells.halves) == 2
    left, right = dice.random((2, 70)), dice.random((2, 90))
    assert np.array(cells.times(*left)) == pytest.approx(left @ dense.T)
    assert np.array(cells.transposed_times(*right)) == pytest.approx(right @ dense)


def test_an_error_in_a_thread_reaches_who_waits() -> None:
    def fail() -> None:
        raise ValueError("no")

    for work in (begin(fail), lambda: at_once(int, fail)):
        with pytest.raises(ValueError, match="no"):
            work()
