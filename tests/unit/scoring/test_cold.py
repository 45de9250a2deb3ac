"""The cold regime, against the figures of the design (docs/develop/consensus.md)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.scoring import Model, Sums, Verdict, decide
from app.core.vocabulary import NoteStatus

NMR = NoteStatus.NEEDS_MORE_RATINGS
CRH = NoteStatus.CURRENTLY_RATED_HELPFUL
CRNH = NoteStatus.CURRENTLY_RATED_NOT_HELPFUL
RATINGS = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=1, max_size=60)


def _sums(ratings: list[float]) -> Sums:
    sums = Sums.zero()
    for rating in ratings:
        sums = sums.plus(Model.cold(), None, rating)
    return sums


def _score(ratings: list[float], was: NoteStatus = NMR, helpful_at: float = 0.40) -> Verdict:
    verdict = decide(_sums(ratings), Model.cold(helpful_at=helpful_at), was=was)
    assert verdict is not None
    return verdict


@pytest.mark.parametrize(
    ("ratings", "intercept", "status"),
    [
        ([1.0] * 5, 0.507143, CRH),
        ([0.0] * 5, -0.207143, CRNH),
        ([1.0] * 4, 0.483333, NMR),  # too few
        ([1.0] * 4 + [0.0], 0.364286, NMR),  # four of five do not publish
        ([1.0] * 5 + [0.0], 0.4, CRH),  # exactly at 0.40
        ([0.5] * 8, 0.15, NMR),
        ([0.0] * 6 + [1.0, 0.5], 0.0 - 0.1, CRNH),
    ],
)
def test_known_scores(ratings: list[float], intercept: float, status: NoteStatus) -> None:
    verdict = _score(ratings)
    assert verdict.intercept == pytest.approx(intercept, abs=1e-6)
    assert verdict.status is status


def test_a_helpful_note_keeps_its_status_within_the_inertia() -> None:
    between = [1.0] * 29 + [0.5] + [0.0] * 9  # (1 + 29.5) / 41 - 0.35 = 0.3939
    assert _score(between, was=CRH).rule == "cold:inertia"
    assert _score(between, was=NMR).status is NMR
    assert _score([*between, 0.0], was=CRH).status is NMR


def test_what_cannot_be_taken_back_needs_more() -> None:
    assert _score([1.0] * 5 + [0.0], helpful_at=0.50).status is NMR
    assert _score([1.0] * 5, helpful_at=0.50).status is CRH
    raised = decide(_sums([1.0] * 5 + [0.0]), Model.cold(), was=NMR, raised=0.10)
    assert raised is not None
    assert raised.status is NMR


@pytest.mark.parametrize(("intercept", "shown"), [(0.40, 75), (-0.35, 0), (0.9, 100), (-1.0, 0)])
def test_the_public_score_is_a_whole_number(intercept: float, shown: int) -> None:
    assert Verdict(CRH, intercept, 1.0, "").shown == shown


@given(RATINGS, st.randoms(use_true_random=False))
def test_order_does_not_matter(ratings: list[float], dice: object) -> None:
    shuffled = list(ratings)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = _score(ratings), _score(shuffled)
    assert (one.status, one.rule) == (other.status, other.rule)
    assert one.intercept == pytest.approx(other.intercept, abs=1e-12)


@given(RATINGS)
def test_one_more_helpful_rating_never_lowers_the_score(ratings: list[float]) -> None:
    assert _score([*ratings, 1.0]).intercept >= _score(ratings).intercept


@given(RATINGS)
def test_figures_stay_in_their_ranges(ratings: list[float]) -> None:
    verdict = _score(ratings)
    assert 0.0 <= verdict.confidence <= 1.0
    assert 0 <= verdict.shown <= 100
    assert verdict.factor == 0.0
    assert verdict.ratings == len(ratings)
    if len(ratings) < 5:
        assert verdict.status is NMR
