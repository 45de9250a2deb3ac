"""The status rules at their bounds, and in their order (docs/develop/consensus.md)."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.scoring import RULES, Model, Rater, Regime, Sums, Verdict, decide, slug_of
from app.core.scoring.sums import CORRELATED, NEGATIVE, POSITIVE, SOLVED, VOLUME, WIDTH
from app.core.vocabulary import NoteStatus

NMR = NoteStatus.NEEDS_MORE_RATINGS
CRH = NoteStatus.CURRENTLY_RATED_HELPFUL
CRNH = NoteStatus.CURRENTLY_RATED_NOT_HELPFUL

FULL = Model(
    Regime.FULL,
    mu=0.2,
    rho_intercept=5.0,
    rho_factor=1.0,
    axis=True,
    low_intercept=-8.0,  # so that the upper bound decides nothing where it is not asked
    low_factor=-0.9,
    high_factor=0.9,
    rho_intercept_bound=5.0,
    rho_factor_bound=1.0,
    rho_intercept_plain=5.0,
    rho_factor_plain=1.0,
    min_counted=5,
)
WARM = replace(FULL, regime=Regime.WARM, min_counted=0)
BOTH_NET_TEN = ((0, 0, 10), (0, 0, 10))
NET_FOUR = ((0, 0, 4), (0, 0, 4))
Side = tuple[int, int, int]


def _sums(
    i: float, f: float = 0.0, sides: tuple[Side, Side] = BOTH_NET_TEN, count: int | None = None
) -> Sums:
    """Sums that solve to score ``i`` and factor ``f`` under the models above, with raters of factors 1 and -1."""
    row = np.zeros(WIDTH)
    row[NEGATIVE], row[POSITIVE] = sides
    n = sum(map(sum, sides)) if count is None else count
    row[:3] = row[NEGATIVE] + row[POSITIVE]
    row[2] += n - row[:3].sum()
    row[SOLVED] = n, 0.0, n, i * (n + FULL.rho_intercept), f * (n + FULL.rho_factor)
    return Sums.from_list(row)


def _decided(sums: Sums, model: Model = FULL, was: NoteStatus = NMR, **options: float) -> Verdict:
    verdict = decide(sums, model, was=was, **options)  # type: ignore[arg-type]
    assert verdict is not None
    assert verdict.rule in RULES
    return verdict


@pytest.mark.parametrize("model", [WARM, FULL])
@pytest.mark.parametrize(
    ("score", "was", "status", "rule"),
    [
        (0.40, NMR, CRH, "helpful"),
        (0.3999, NMR, NMR, "undecided"),
        (0.39, CRH, CRH, "inertia"),
        (0.39, CRNH, NMR, "undecided"),
        (0.3899, CRH, NMR, "undecided"),
        (0.30, NMR, NMR, "undecided"),
        (0.2999, CRH, NMR, "low-score"),
        (-0.0499, NMR, NMR, "low-score"),
        (-0.05, NMR, CRNH, "not-helpful"),
        (-0.05, CRH, CRNH, "not-helpful"),
    ],
)
def test_where_the_score_decides(
    model: Model, score: float, was: NoteStatus, status: NoteStatus, rule: str
) -> None:
    verdict = _decided(_sums(score, sides=NET_FOUR), model, was)
    assert (verdict.status, verdict.rule) == (status, f"{model.regime}:{rule}")
    assert verdict.intercept == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("model", [WARM, FULL])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_note_that_depends_on_the_viewpoint_needs_a_lower_score_to_be_refused(
    model: Model, sign: int
) -> None:
    assert _decided(_sums(-0.20, sign * 0.25), model).status is NMR
    assert _decided(_sums(-0.25, sign * 0.25), model).status is CRNH


@pytest.mark.parametrize("model", [WARM, FULL])
def test_a_factor_beyond_one_half_blocks(model: Model) -> None:
    assert _decided(_sums(0.6, -0.5), model).status is CRH
    for was in (NMR, CRH):
        assert _decided(_sums(0.6, 0.5001), model, was).rule == f"{model.regime}:divisive"
        assert _decided(_sums(0.6, 0.5001), model, was).status is NMR


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        ([-0.5] * 8, [0.5] * 4, "helpful"),
        ([-0.5] * 20, [0.5] * 2, "unbalanced"),
        ([-0.5] * 8, [0.05] * 4, "unbalanced"),
        ([-0.5] * 60, [0.05] * 10, "helpful"),
    ],
)
def test_a_warm_model_wants_more_than_a_few_strays_on_the_other_side(
    one: list[float], other: list[float], rule: str
) -> None:
    model = replace(WARM, rho_factor=5.0)
    sums = Sums.zero()
    for factor in one + other:
        sums = sums.plus(model, Rater(factor=factor), 1.0)
    assert slug_of(_decided(sums, model).rule) == rule


@pytest.mark.parametrize(
    ("one", "other", "rule"),
    [
        ([-0.5] * 3, [0.5] * 2, "unbalanced"),  # two raters weigh two
        ([-0.5] * 3, [0.5] * 3, "helpful"),
        ([-0.5] * 3, [0.2] * 3, "unbalanced"),
        ([-0.5] * 11, [0.5] * 4, "unbalanced"),  # (7 / 15)^2 = 0.22
        ([-0.5] * 10, [0.5] * 4, "unbalanced"),  # (6 / 14)^2 = 0.184
        ([-0.5] * 10, [0.5] * 5, "helpful"),
        ([-0.5] * 60, [0.05] * 10, "unbalanced"),  # ten of seventy are no second viewpoint, though net ten
        ([-0.5] * 60, [0.5] * 30, "helpful"),
    ],
)
def test_a_warm_note_that_acts_asks_for_more_of_the_weaker_side(
    one: list[float], other: list[float], rule: str
) -> None:
    model = replace(WARM, rho_intercept=1.0, rho_factor=50.0)
    sums = Sums.zero()
    for factor in one + other:
        sums = sums.plus(model, Rater(factor=factor), 1.0)
    assert slug_of(_decided(sums, model, acting=True).rule) == rule
    assert _decided(sums, model).status is CRH
    assert _decided(sums, model, CRH, acting=True).status is CRH


@pytest.mark.parametrize(("factor", "rule"), [(0.14, "helpful"), (-0.14, "helpful"), (0.16, "divisive")])
def test_a_warm_note_that_acts_pleases_the_side_that_likes_it_less(factor: float, rule: str) -> None:
    # Raters of factors 1 and -1: the score for the colder side is 0.45 less the note's factor; 0.30 is asked for.
    assert _decided(_sums(0.45, factor), WARM, acting=True).rule == f"warm:{rule}"
    assert _decided(_sums(0.45, factor), WARM).status is CRH
    assert _decided(_sums(0.45, factor), FULL, acting=True).status is CRH


@pytest.mark.parametrize(("model", "net"), [(FULL, 4), (WARM, 2)])
def test_each_side_must_be_net_in_favour(model: Model, net: int) -> None:
    enough = ((0, 0, 20), (1, 0, net + 1))
    too_few = ((0, 1, net - 1), (0, 0, 20))
    assert _decided(_sums(0.5, sides=enough), model).status is CRH
    assert _decided(_sums(0.5, sides=too_few), model).status is NMR
    assert _decided(_sums(0.5, sides=too_few), model).rule == f"{model.regime}:one-sided"
    kept = _decided(_sums(0.5, sides=too_few), model, CRH)
    assert (kept.status, kept.rule) == (CRH, f"{model.regime}:kept")


@pytest.mark.parametrize(
    ("net", "count", "rule"), [(4, 81, "unbalanced"), (4, 80, "helpful"), (10, 400, "helpful")]
)
def test_a_small_side_must_be_five_percent_unless_it_is_net_ten(net: int, count: int, rule: str) -> None:
    sides = ((0, 0, net), (0, 0, count - net))
    assert _decided(_sums(0.5, sides=sides)).rule == f"full:{rule}"
    assert _decided(_sums(0.5, sides=sides), WARM).status is CRH


def test_without_camps_there_are_no_sides_to_ask() -> None:
    one_side = _sums(0.45, sides=((0, 0, 12), (0, 0, 0)))
    for model in (FULL, WARM):
        assert _decided(one_side, replace(model, axis=False)).status is CRH
    against = _sums(0.1, sides=((3, 0, 0), (3, 0, 0)))
    assert _decided(against).rule == "full:both-sides-against"
    assert _decided(against, replace(FULL, axis=False)).status is NMR


@pytest.mark.parametrize(
    ("negative", "positive", "refused"),
    [
        ((3, 0, 2), (4, 0, 1), True),  # 0.4 and 0.2
        ((3, 0, 2), (3, 1, 1), False),  # 0.4 and 0.3
        ((1, 3, 1), (8, 0, 0), False),  # 0.5 and 0.0
        ((2, 0, 0), (9, 0, 0), False),  # two ratings are no side
        ((3, 0, 0), (9, 0, 0), True),
    ],
)
def test_both_sides_together_can_refuse_a_note(negative: Side, positive: Side, refused: bool) -> None:
    verdict = _decided(_sums(0.1, sides=(negative, positive)))
    assert verdict.status is (CRNH if refused else NMR)


def test_a_note_that_one_more_helpful_rating_would_not_lift_is_refused() -> None:
    # With 20 ratings one more, from a rater of intercept -0.4, adds (1 - 0.2 + 0.4) / 26 to a score of 25/26 of it.
    rule = "full:not-even-with-help"
    lifted = (-0.04 - 1.2 / 26) * 26 / 25
    extremes = replace(FULL, low_intercept=-0.4)
    only_bound = replace(extremes, low_factor=0.0, high_factor=0.0)
    assert _decided(_sums(lifted - 1e-6, 0.3), only_bound).rule == rule
    assert _decided(_sums(lifted + 1e-6, 0.3), only_bound).status is NMR
    # An extreme rater for whose viewpoint the note is not made could lift it further.
    assert _decided(_sums(lifted - 1e-6, 0.3), extremes).status is NMR


def test_what_says_the_content_is_not_misleading_is_refused_sooner_but_may_be_helpful() -> None:
    assert _decided(_sums(-0.16, 0.3)).status is NMR
    refused = _decided(_sums(-0.16, 0.3), not_misleading=True)
    assert (refused.status, refused.rule) == (CRNH, "full:not-misleading-rejected")
    assert _decided(_sums(-0.15, 0.3), not_misleading=True).status is NMR
    assert _decided(_sums(0.5), not_misleading=True).status is CRH


@pytest.mark.parametrize(("part", "slug"), [(VOLUME, "high-volume"), (CORRELATED, "correlated")])
def test_some_raters_alone_do_not_carry_a_note(part: slice, slug: str) -> None:
    def with_part(y: float) -> Sums:
        row = _sums(0.40).to_list()
        row[part] = [5.0, 0.0, 5.0, y, 0.0]
        return Sums.from_list(row)

    # 0.40 * 25 = 10 in all; without five of them (10 - y) / 20 remains.
    assert _decided(with_part(10 - 0.37 * 20)).status is CRH
    verdict = _decided(with_part(10 - 0.3699 * 20))
    assert (verdict.status, verdict.rule) == (NMR, f"full:{slug}")
    assert _decided(with_part(10 - 0.3699 * 20), was=CRH).rule == "full:kept"
    assert _decided(with_part(10 - 0.3699 * 20), WARM).status is CRH


@pytest.mark.parametrize("model", [Model.cold(), WARM, FULL])
def test_five_ratings_of_any_kind_are_needed(model: Model) -> None:
    for count, status in ((4, NMR), (5, CRH)):
        sums = _sums(0.7, sides=((0, 0, 0), (0, 0, 0)), count=count)
        assert _decided(sums, replace(model, axis=False)).status is status
    assert _decided(sums, replace(model, axis=False, min_ratings=6)).rule == f"{model.regime}:few-ratings"


def test_in_the_full_regime_five_of_them_must_count() -> None:
    row = _sums(0.7, count=4, sides=((0, 0, 0), (0, 0, 0))).to_list()
    row[0] += 3
    verdict = _decided(Sums.from_list(row), replace(FULL, axis=False))
    assert (verdict.status, verdict.rule, verdict.ratings) == (NMR, "full:few-counted", 7)


def test_a_raised_threshold_moves_everything_on_the_helpful_side() -> None:
    assert _decided(_sums(0.499), raised=0.10).status is NMR
    assert _decided(_sums(0.50), raised=0.10).status is CRH
    assert _decided(_sums(0.49), was=CRH, raised=0.10).rule == "full:inertia"
    assert _decided(_sums(0.45), replace(FULL, helpful_at=0.45)).threshold == 0.45
    assert _decided(_sums(-0.05), raised=0.10).status is CRNH


def test_confidence_is_one_half_at_a_bound_and_grows_beyond_it() -> None:
    at, beyond, below = (_decided(_sums(score)).confidence for score in (0.40, 0.60, 0.35))
    assert at == pytest.approx(0.5)
    assert below < 0.5 < beyond < 1.0
    assert _decided(_sums(-0.05)).confidence == pytest.approx(0.5)
    assert _decided(_sums(-0.30)).confidence > 0.9
    many = _sums(0.60, sides=((0, 0, 100), (0, 0, 100)))
    assert _decided(many).confidence > beyond


RATINGS = st.lists(
    st.tuples(st.floats(-0.5, 0.5), st.floats(0.01, 0.9), st.booleans(), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("model", [WARM, FULL])
@given(ratings=RATINGS)
def test_which_way_the_axis_points_means_nothing(
    model: Model, ratings: list[tuple[float, float, bool, float]]
) -> None:
    one, mirrored = Sums.zero(), Sums.zero()
    for intercept, factor, side, value in ratings:
        signed = factor if side else -factor
        one = one.plus(model, Rater(intercept, signed), value)
        mirrored = mirrored.plus(model, Rater(intercept, -signed), value)
    this, that = _decided(one, model), _decided(mirrored, model)
    assert (this.status, this.rule) == (that.status, that.rule)
    assert this.intercept == pytest.approx(that.intercept, abs=1e-12)
    assert this.factor == pytest.approx(-that.factor, abs=1e-12)


def test_an_unrated_note_has_no_verdict() -> None:
    assert decide(Sums.zero(), FULL, was=NMR) is None


def test_every_rule_has_a_sentence() -> None:
    assert {rule.split(":")[0] for rule in RULES} == set(Regime)
    assert all(sentence.endswith(".") for sentence in RULES.values())


@pytest.mark.parametrize(
    ("one", "other", "score", "was", "status"),
    [
        ((2, 3, 4), (2, 3, 4), 0.36, NMR, NMR),  # (1 + 5.5) / 11 = 0.59
        ((0, 2, 3), (0, 2, 3), 0.31, NMR, CRH),
        ((0, 2, 3), (0, 2, 3), 0.3099, NMR, NMR),
        ((0, 2, 3), (0, 2, 3), 0.3099, CRH, CRH),
        ((0, 2, 3), (0, 2, 3), 0.30, CRH, CRH),
        ((0, 2, 3), (0, 2, 3), 0.2999, CRH, NMR),
        ((0, 0, 4), (0, 0, 9), 0.36, NMR, NMR),
        ((3, 0, 5), (0, 0, 9), 0.36, NMR, CRH),  # (1 + 5) / 10 = 0.6
        ((3, 1, 5), (0, 0, 9), 0.36, NMR, NMR),
        ((3, 1, 5), (0, 0, 9), 0.36, CRH, CRH),
        ((0, 0, 60), (0, 0, 8), 0.36, NMR, NMR),
    ],
)
def test_in_warm_both_sides_can_be_for_a_note_that_misses_the_bar_by_little(
    one: Side, other: Side, score: float, was: NoteStatus, status: NoteStatus
) -> None:
    sums = _sums(score, sides=(one, other))
    sums = replace(sums, row=(*sums.row[:4], float(sum(other) - sum(one)), *sums.row[5:]))
    verdict = _decided(sums, WARM, was)
    assert verdict.status is status
    assert (verdict.rule == "warm:both-sides-for@2") is (status is CRH)
    assert _decided(sums, WARM, NMR, acting=True).status is NMR
    assert _decided(sums, WARM, NMR, not_misleading=True).status is NMR
    assert slug_of(_decided(sums, FULL, NMR).rule) != "both-sides-for"
