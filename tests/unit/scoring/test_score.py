"""Whole communities: regimes, camps, facts, sameness in any order, and what is refused (docs/develop/consensus.md)."""

from collections import Counter
from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.scoring import Facts, FloatArray, IntArray, Regime, Scores, score, score_full
from app.core.vocabulary import NoteStatus
from tests.examples import examples
from tests.unit.scoring.communities import Community, community, with_note

CRH = NoteStatus.CURRENTLY_RATED_HELPFUL
NMR = NoteStatus.NEEDS_MORE_RATINGS
WARM_SIZE, FULL_SIZE = (60, 60, 1500), (160, 260, 9000)
NEW = 5000
Scorer = Callable[..., Scores]


def _of(scores: Scores, note: int) -> tuple[str, str, float]:
    place = int(np.searchsorted(scores.note_ids, note))
    return str(scores.statuses[place]), str(scores.rules[place]), float(scores.intercepts[place])


def _camps(given_: Community) -> tuple[list[int], list[int]]:
    """The most active raters of each camp, most active first."""
    active = [rater for rater, _ in Counter(given_.rater.tolist()).most_common()]
    return [r for r in active if given_.camp[r] < 0], [r for r in active if given_.camp[r] > 0]


@pytest.mark.parametrize(("size", "regime"), [(WARM_SIZE, Regime.WARM), (FULL_SIZE, Regime.FULL)])
def test_what_one_camp_loves_never_publishes_but_the_same_count_across_camps_does(
    size: tuple[int, int, int], regime: Regime
) -> None:
    base = community(*size, seed=5, noise=0.25)
    left, right = _camps(base)
    one_camp = score(*with_note(base, left[:20], [], NEW))
    assert one_camp.regime is regime
    assert _of(one_camp, NEW)[0] == NMR
    against = score(*with_note(base, left[:20], right[:4], NEW))
    assert _of(against, NEW)[0] == NMR
    across = score(*with_note(base, left[:10] + right[:10], [], NEW))
    assert _of(across, NEW)[0] == CRH


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("size", [(60, 60, 900), FULL_SIZE])
def test_camps_are_found_where_they_are_and_nowhere_else(size: tuple[int, int, int], seed: int) -> None:
    assert score(*community(*size, seed=seed, lean=0.4).columns).model.axis
    crowd = score(*community(*size, seed=seed, lean=0.0).columns)
    assert not crowd.model.axis
    assert not crowd.factors.any()
    assert not crowd.rater_factors.any()


@pytest.mark.parametrize("seed", range(4))
def test_camps_are_found_although_most_raters_have_rated_little(seed: int) -> None:
    scores = score(*community(150, 150, 1300, seed=seed, lean=0.3).columns)
    assert scores.axis is not None
    assert scores.model.axis
    assert not score(*community(150, 150, 1300, seed=seed, lean=0.0).columns).model.axis


@pytest.mark.parametrize("size", [(30, 30, 300), (300, 100, 1500)])
def test_camps_are_taken_to_be_there_where_too_few_ratings_or_hardly_any_by_each_rater_could_tell(
    size: tuple[int, int, int],
) -> None:
    scores = score(*community(*size, lean=0.0).columns)
    assert scores.regime is Regime.WARM
    assert scores.axis is None
    assert scores.model.axis


def test_a_crowd_that_rates_everything_has_no_camps_either() -> None:
    crowd = score(*community(300, 300, 75_000, lean=0.0).columns)
    assert crowd.axis is not None
    assert crowd.axis.ratio == pytest.approx(1.0, abs=0.05)
    note, rater = np.divmod(np.arange(250 * 120), 120)
    unanimous = score(note, rater, np.ones(len(note)))
    assert unanimous.axis is not None
    assert unanimous.axis.ratio == 0.0
    assert not unanimous.model.axis
    assert not score(note, rater, (note % 3) / 2).model.axis


def test_the_two_sides_are_the_two_camps() -> None:
    given_ = community(*FULL_SIZE, seed=1, lean=0.4)
    scores = score(*given_.columns)
    kept = scores.raters_kept
    agree = (scores.rater_factors[kept] < 0) == (given_.camp[scores.rater_ids[kept]] < 0)
    assert max(agree.mean(), 1 - agree.mean()) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_a_warm_note_carries_half_a_rating_where_sides_are_asked_and_all_where_they_are_not(
    seed: int,
) -> None:
    size, most = (60, 60, 1500), 0.15 * 1500 / 60
    camps, crowd = (score(*community(*size, seed=seed, lean=lean).columns) for lean in (0.4, 0.0))
    assert (camps.model.axis, crowd.model.axis) == (True, False)
    assert (camps.model.rho_intercept, camps.model.rho_factor) == pytest.approx((0.5, 0.1))
    assert crowd.model.rho_intercept == pytest.approx(most)


def test_notes_that_act_are_judged_as_such_with_all_the_others() -> None:
    note, rater, value = community(40, 60, 600, seed=3).columns
    plain = score(note, rater, value)
    helpful = plain.note_ids[plain.statuses == CRH]
    acting = score(note, rater, value, Facts(acting=helpful[::2]))
    changed = acting.note_ids[acting.statuses != plain.statuses]
    assert 0 < len(changed) < len(helpful[::2])
    assert set(changed) <= set(helpful[::2].tolist())
    assert acting.intercepts == pytest.approx(plain.intercepts)


@pytest.mark.parametrize(
    ("size", "before", "regime"),
    [
        ((19, 40, 400), None, Regime.COLD),
        ((21, 40, 400), None, Regime.WARM),
        ((40, 40, 199), None, Regime.COLD),
        ((99, 240, 9000), None, Regime.WARM),
        ((110, 199, 9000), None, Regime.WARM),
        ((110, 210, 9000), None, Regime.FULL),
        ((110, 210, 5000), None, Regime.WARM),
        ((19, 40, 400), Regime.WARM, Regime.WARM),
        ((15, 40, 400), Regime.WARM, Regime.COLD),
        ((99, 240, 9000), Regime.WARM, Regime.WARM),
        ((99, 240, 9000), Regime.FULL, Regime.FULL),
        ((110, 165, 9000), Regime.FULL, Regime.FULL),
        ((110, 210, 5000), Regime.FULL, Regime.WARM),
        ((79, 240, 9000), Regime.FULL, Regime.WARM),
        ((110, 159, 9000), Regime.FULL, Regime.WARM),
    ],
)
def test_the_regime_follows_the_ratings_and_steps_down_past_a_margin(
    size: tuple[int, int, int], before: Regime | None, regime: Regime
) -> None:
    assert score(*community(*size, seed=1).columns, Facts(regime=before)).regime is regime


def _same(one: Scores, other: Scores) -> bool:
    for field in fields(Scores):
        mine, theirs = getattr(one, field.name), getattr(other, field.name)
        if not (np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else mine == theirs):
            return False
    return True


@pytest.mark.parametrize("size", [(10, 10, 60), WARM_SIZE, FULL_SIZE])
def test_the_order_of_the_ratings_changes_no_bit(size: tuple[int, int, int]) -> None:
    note, rater, value = community(*size, seed=3).columns
    valid = value > -1
    valid[::7] = False
    order = np.random.default_rng(1).permutation(len(note))
    for scorer in (score, score_full):
        one = scorer(note, rater, value, Facts(valid=valid))
        other = scorer(note[order], rater[order], value[order], Facts(valid=valid[order]))
        assert _same(one, other)


@examples(20)
@given(
    st.sets(st.tuples(st.integers(0, 9), st.integers(0, 13)), min_size=1), st.randoms(use_true_random=False)
)
def test_small_communities_in_any_order(pairs: set[tuple[int, int]], dice: object) -> None:
    shuffled = sorted(pairs)
    dice.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = np.array(sorted(pairs)), np.array(shuffled)
    for scorer in (score, score_full):
        results = [scorer(each[:, 0], each[:, 1], (each @ [7, 3]) % 3 / 2) for each in (one, other)]
        assert _same(*results)


@pytest.mark.parametrize("size", [WARM_SIZE, FULL_SIZE])
def test_other_names_change_nothing_essential(size: tuple[int, int, int]) -> None:
    note, rater, value = community(*size, seed=4).columns
    dice = np.random.default_rng(2)
    notes, raters = dice.permutation(size[1]) * 10**15 - 10**12, dice.permutation(size[0]) - 50
    one, other = score(note, rater, value), score(notes[note], raters[rater], value)
    back = np.searchsorted(other.note_ids, notes[one.note_ids])
    assert other.intercepts[back] == pytest.approx(one.intercepts, abs=2e-4)
    assert np.abs(other.factors[back]) == pytest.approx(np.abs(one.factors), abs=2e-3)
    assert other.statuses[back].tolist() == one.statuses.tolist()


def test_raters_who_do_not_agree_with_the_outcome_are_left_out() -> None:
    note, rater, value = community(*FULL_SIZE, seed=7).columns
    contrary = rater == np.bincount(rater).argmax()
    value = np.where(contrary, 1.0 - value, value)
    scores = score(note, rater, value)
    place = int(np.bincount(rater).argmax())
    assert scores.rater_valid[place] > 0
    assert scores.rater_helpfulness[place] < 0.5
    assert not scores.raters_kept[place]
    assert scores.rater_intercepts[place] == scores.rater_factors[place] == 0.0


def test_only_ratings_that_may_count_make_a_rater_helpful() -> None:
    note, rater, value = community(*FULL_SIZE, seed=7).columns
    kept = int(score_full(note, rater, value).raters_kept.nonzero()[0][0])
    scores = score_full(note, rater, value, Facts(valid=rater != kept))
    assert scores.rater_valid[kept] == 0
    assert not scores.raters_kept[kept]
    nobody = score_full(note, rater, value, Facts(valid=np.zeros(len(note), np.bool_)))
    assert not nobody.raters_kept.any()
    assert not nobody.intercepts.any()
    assert set(nobody.statuses) == {NMR}


def test_who_writes_poor_notes_does_not_decide_over_others() -> None:
    note, rater, value = community(*FULL_SIZE, seed=7).columns
    plain = score_full(note, rater, value)
    worst = int(plain.note_ids[plain.intercepts.argmin()])
    best = int(plain.note_ids[plain.intercepts.argmax()])
    author = int(plain.rater_ids[plain.raters_kept][0])
    for notes, kept in (([best], True), ([worst], False), ([best, worst], False), ([best, 10**9], True)):
        scores = score_full(note, rater, value, Facts(authors=dict.fromkeys(notes, author)))
        assert scores.raters_kept[author] == kept


def test_facts_about_notes_reach_their_statuses() -> None:
    note, rater, value = community(*FULL_SIZE, seed=7).columns
    plain = score(note, rater, value)
    first = int(plain.note_ids[plain.statuses == CRH][0])
    assert _of(score(note, rater, value, Facts(raised={first: 2.0})), first)[0] == NMR
    one_sided = plain.note_ids[plain.rules == "full:one-sided"]
    assert len(one_sided)
    kept = score(note, rater, value, Facts(helpful=one_sided))
    assert _of(kept, int(one_sided[0]))[:2] == (CRH, "full:kept")
    high = score(note, rater, value, Facts(helpful_at=0.9, min_ratings=7))
    assert not np.any(high.statuses == CRH)
    assert high.intercepts == pytest.approx(plain.intercepts)


def test_a_group_that_rates_alike_carries_no_note() -> None:
    base = community(200, 400, 9000, seed=8)
    group, notes = range(1000, 1012), range(0, 400, 8)
    note = np.concatenate([base.note, np.repeat(notes, len(group))])
    rater = np.concatenate([base.rater, np.tile(group, len(notes))])
    value = np.concatenate([base.value, np.repeat(np.array(notes) % 3 / 2, len(group))])
    scores = score(note, rater, value)
    assert set(scores.rater_ids[scores.raters_correlated]) == set(group)
    assert not score(*base.columns).raters_correlated.any()


def test_where_everybody_rates_everything_nobody_is_correlated() -> None:
    note, rater = np.divmod(np.arange(60 * 120), 120)
    value = np.where((note % 3 == 0) == (rater % 2 == 0), 1.0, 0.0)
    assert not score_full(note, rater, value).raters_correlated.any()


def test_the_few_who_rate_most_are_named_only_among_many() -> None:
    base = community(*FULL_SIZE, seed=9)
    assert not score_full(*base.columns).raters_volume.any()
    crowd = np.arange(2000, 3200)
    many = score_full(
        np.concatenate([base.note, crowd % 200]),
        np.concatenate([base.rater, crowd]),
        np.concatenate([base.value, np.ones(len(crowd))]),
    )
    busiest = np.bincount(base.rater).argmax()
    assert many.raters_volume[busiest]
    assert 1 <= many.raters_volume.sum() <= 2


def test_two_communities_without_a_common_rater_are_scored_side_by_side() -> None:
    one, other = (community(80, 90, 2500, seed=seed, noise=0.2) for seed in (6, 7))
    note, rater = np.r_[one.note, other.note + 1000], np.r_[one.rater, other.rater + 1000]
    both = score(note, rater, np.r_[one.value, other.value])
    islands = [np.flatnonzero((both.rater_ids >= 1000) == far) for far in (False, True)]
    for raters in islands:
        factor = both.rater_factors[raters][both.raters_kept[raters]]
        assert min(np.count_nonzero(factor < -0.1), np.count_nonzero(factor > 0.1)) >= 10, (
            "camps on each island"
        )


def test_noise_is_called_suspect() -> None:
    base = community(*FULL_SIZE, seed=1)
    assert not score(*base.columns).suspect
    noise = np.random.default_rng(1).integers(0, 2, len(base.note)).astype(float)
    assert score(base.note, base.rater, noise).suspect


@pytest.mark.parametrize("scorer", [score, score_full])
def test_no_ratings_give_an_empty_result(scorer: Scorer) -> None:
    scores = scorer([], [], [])
    for column in (scores.note_ids, scores.intercepts, scores.statuses, scores.rules, scores.rater_ids):
        assert len(column) == 0


@pytest.mark.parametrize("scorer", [score, score_full])
@pytest.mark.parametrize(
    "columns", [([3], [9], [1.0]), ([3] * 30, range(30), [1.0] * 30), (range(30), [3] * 30, [0.0] * 30)]
)
def test_one_note_or_one_rater_has_a_defined_result(
    scorer: Scorer,
    columns: tuple[list[int], list[int], list[float]],
) -> None:
    scores = scorer(*columns)
    assert np.isfinite(scores.intercepts).all()
    assert len(scores.note_ids) == len(set(columns[0])) == len(scores.statuses)


NAN = float("nan")


@pytest.mark.parametrize(
    ("note", "rater", "value", "name"),
    [
        ([1, 2], [1], [1.0, 0.0], "rater_ids"),
        ([1], [1, 2], [1.0, 0.0], "rater_ids"),
        ([1, 2], [1, 2], [1.0], "values"),
        ([1, 2], [1, 2], [1.0, NAN], "values"),
        ([1, 2], [1, 2], [1.0, 0.7], "values"),
        ([1, 2], [1, 2], [1.0, -1.0], "values"),
        ([1, 2], [1, 2], ["1", "0"], "values"),
        ([1, 2], [1, 2], [True, None], "values"),
        ([1.0, 2.0], [1, 2], [1.0, 0.0], "note_ids"),
        ([1, 2], ["a", "b"], [1.0, 0.0], "rater_ids"),
        ([1, 2**70], [1, 2], [1.0, 0.0], "note_ids"),
        ([[1, 2]], [1, 2], [1.0, 0.0], "note_ids"),
        ([1, 1, 2], [7, 7, 7], [1.0, 0.0, 1.0], "note_ids, rater_ids.*note 1, rater 7"),
    ],
)
@pytest.mark.parametrize("scorer", [score, score_full])
def test_bad_ratings_are_refused_by_name(
    scorer: Scorer,
    note: list[int],
    rater: list[int],
    value: list[float],
    name: str,
) -> None:
    with pytest.raises(ValueError, match=name):
        scorer(note, rater, value)


@pytest.mark.parametrize(
    ("facts", "name"),
    [
        (Facts(valid=np.array([True])), "valid"),
        (Facts(valid=np.array([1, 0])), "valid"),
        (Facts(min_ratings=0), "min_ratings"),
        (Facts(helpful_at=NAN), "helpful_at"),
        (Facts(helpful=np.array([0.5])), "helpful"),
        (Facts(raised={1: NAN}), "raised"),
    ],
)
def test_bad_facts_are_refused_by_name(facts: Facts, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        score([1, 2], [1, 2], [1.0, 0.0], facts)


def test_ids_may_be_any_whole_numbers() -> None:
    note: IntArray = np.array([-(2**62), 2**62, 0] * 5)
    rater: IntArray = np.repeat(np.arange(5, dtype=np.uint8), 3).astype(np.int64)
    value: FloatArray = np.ones(15)
    scores = score(note, rater.astype(np.uint8), value)
    assert scores.note_ids.tolist() == [-(2**62), 0, 2**62]
    assert set(scores.statuses) == {CRH}
