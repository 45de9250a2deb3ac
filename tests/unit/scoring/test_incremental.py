"""One rating at a time comes to the same as all at once (docs/develop/consensus.md)."""

import functools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.scoring import Facts, Model, Rater, Regime, Scores, Sums, decide, score, score_full
from app.core.vocabulary import NoteStatus
from tests.examples import examples
from tests.unit.scoring.communities import Community, community

NMR = NoteStatus.NEEDS_MORE_RATINGS
SIZES = {Regime.COLD: (15, 20, 150), Regime.WARM: (40, 30, 500), Regime.FULL: (130, 260, 9000)}
LEVELS = st.sampled_from([0.0, 0.5, 1.0])


@functools.cache
def _scored(regime: Regime) -> tuple[Community, Scores]:
    given_ = community(*SIZES[regime], seed=2)
    facts = Facts(
        helpful=np.arange(0, 300, 3),
        not_misleading=np.arange(0, 300, 4),
        raised={note: 0.1 for note in range(0, 300, 5)},
    )
    scores = score(*given_.columns, facts)
    assert scores.regime is regime
    return given_, scores


@pytest.mark.parametrize("regime", Regime)
def test_deciding_note_by_note_is_scoring_all_of_them(regime: Regime) -> None:
    given_, scores = _scored(regime)
    raters = {int(rater): scores.rater(place) for place, rater in enumerate(scores.rater_ids)}
    for place, note in enumerate(scores.note_ids.tolist()):
        sums = Sums.zero()
        for at in np.flatnonzero(given_.note == note)[::-1]:
            sums = sums.plus(scores.model, raters[int(given_.rater[at])], float(given_.value[at]))
        assert sums.row == pytest.approx(scores.sums_of(place).row, abs=1e-9)
        verdict = decide(
            sums,
            scores.model,
            was=NoteStatus.CURRENTLY_RATED_HELPFUL if note % 3 == 0 else NMR,
            not_misleading=note % 4 == 0,
            raised=0.1 if note % 5 == 0 else 0.0,
        )
        assert verdict is not None
        assert verdict.status == scores.statuses[place]
        assert verdict.rule == scores.rules[place]
        assert verdict.intercept == pytest.approx(scores.intercepts[place], abs=1e-9)
        assert verdict.factor == pytest.approx(scores.factors[place], abs=1e-9)


@pytest.mark.parametrize("regime", Regime)
@examples(40)
@given(steps=st.lists(st.tuples(st.integers(0, 12), st.none() | LEVELS), min_size=1, max_size=40))
def test_any_ratings_changes_and_withdrawals_leave_what_is_there(
    regime: Regime, steps: list[tuple[int, float | None]]
) -> None:
    """A step is a rater and their rating, or None for taking it back. Raters 10 to 12 are unknown to the model."""
    _, scores = _scored(regime)
    there: dict[int, float] = {}
    sums = Sums.zero()
    for rater, value in steps:
        who = _rater(scores, rater)
        if rater in there:
            sums = sums.minus(scores.model, who, there.pop(rater))
        if value is not None:
            there[rater] = value
            sums = sums.plus(scores.model, who, value)
    anew = Sums.zero()
    for rater, value in sorted(there.items()):
        anew = anew.plus(scores.model, _rater(scores, rater), value)
    assert sums.row == pytest.approx(anew.row, abs=1e-9)
    assert sums.counts.total == len(there)
    one, other = (decide(each, scores.model, was=NMR) for each in (sums, anew))
    if one is None or other is None:
        assert one is other
        assert not there
    else:
        assert (one.status, one.rule, one.ratings) == (other.status, other.rule, other.ratings)
        assert one.intercept == pytest.approx(other.intercept, abs=1e-9)


def _rater(scores: Scores, place: int) -> Rater | None:
    return scores.rater(place) if place < 10 else None


def test_an_unknown_rater_waits_for_the_next_fit_in_the_full_regime_alone() -> None:
    for regime in Regime:
        model = _scored(regime)[1].model
        sums = Sums.zero().plus(model, None, 1.0)
        assert sums.counts.helpful == 1
        assert sums.counted == (0 if regime is Regime.FULL else 1)
        assert sums.sides.negative.total + sums.sides.positive.total == 0


def test_each_side_is_counted_by_the_sign_of_the_factor() -> None:
    model = _scored(Regime.FULL)[1].model
    left, right, none = Rater(0.1, -0.5), Rater(0.1, 0.5), Rater(0.1, 0.0)
    sums = (
        Sums.zero()
        .plus(model, left, 1.0)
        .plus(model, left, 0.5)
        .plus(model, right, 0.0)
        .plus(model, none, 1.0)
    )
    assert (sums.sides.negative.helpful, sums.sides.negative.somewhat_helpful) == (1, 1)
    assert (sums.sides.positive.not_helpful, sums.sides.positive.helpful) == (1, 1)
    assert sums.sides.positive.net == 0


def test_ratings_that_are_not_there_cannot_be_taken_away() -> None:
    model = Model.cold()
    with pytest.raises(ValueError, match="value"):
        Sums.zero().plus(model, None, 1.0).minus(model, None, 0.5)
    with pytest.raises(ValueError, match="value"):
        Sums.zero().plus(model, None, 0.7)


@pytest.mark.parametrize("regime", Regime)
def test_model_and_sums_survive_storage(regime: Regime) -> None:
    _, scores = _scored(regime)
    assert Model.from_json(json.loads(json.dumps(scores.model.to_json()))) == scores.model
    stored = json.loads(json.dumps(scores.sums_of(0).to_list()))
    assert Sums.from_list(stored) == scores.sums_of(0)
    with pytest.raises(ValueError, match="sums"):
        Sums.from_list(stored[1:])
    with pytest.raises(ValueError, match="model: without mu"):
        Model.from_json({key: value for key, value in scores.model.to_json().items() if key != "mu"})


def test_raters_whose_ratings_do_not_count_leave_the_score_alone() -> None:
    given_ = community(*SIZES[Regime.FULL], seed=2)
    scores = score_full(*given_.columns)
    out = np.flatnonzero(~scores.raters_kept)
    assert len(out)
    before = scores.sums_of(0)
    after = before.plus(scores.model, scores.rater(int(out[0])), 0.0)
    assert after.row[3:] == before.row[3:]
    assert after.counts.not_helpful == before.counts.not_helpful + 1
