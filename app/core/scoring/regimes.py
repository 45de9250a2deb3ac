"""The three regimes: how each fits a community's ratings (docs/develop/consensus.md)."""

from dataclasses import dataclass, field, replace

import numpy as np

from app.core.scoring.arrays import BoolArray, Matrix, Ratings
from app.core.scoring.axis import AxisTest, Camps, axis_test
from app.core.scoring.model import Facts, Model
from app.core.scoring.reputation import Reputation, correlated, high_volume, reputation
from app.core.scoring.solver import Fit, Ridges, Start, fit
from app.core.scoring.sums import RaterArrays
from app.core.scoring.verdict import Regime

NOTE_RATINGS, RATER_RATINGS = 5, 10
WARM_RATINGS_EACH = 3
WARM_DENSITY = 10.0
"""Minimum R_n of the warm regime: the reference's own value for its small sub-sample."""
WARM_PRIOR = 0.5
"""Most pseudo-ratings of zero in a note's score where a warm model with camps solves for it.

The fit's own value, 0.15 N/M, grows with the community, so that a note would need ever more approval than the
threshold says; it is right where the sides are not checked. The factor's ridge shrinks in proportion: if it were
stronger than a fifth of the intercept's, a note that only one side likes would look liked by all.
"""
SUSPECT_ERROR, SUSPECT_NOTES = 0.16, 200
LEAST_ERROR = 0.01
"""Minimum residual variance for confidences: a handful of raters who always agree are not that certain."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """The result of a regime before the statuses.

    ``acting_raters`` belong to ``model.acting``, if there is one. ``fitted_raters`` and ``fitted_ratings`` are the
    size of the last fit; ``first_mse``, ``suspect``, ``axis``, ``camps`` and ``passes`` as in ``Scores``.
    """

    model: Model
    raters: RaterArrays
    acting_raters: RaterArrays | None = None
    fitted_raters: int = 0
    fitted_ratings: int = 0
    reputation: Reputation | None = None
    first_mse: float = 0.0
    axis: AxisTest | None = None
    camps: Camps = field(default_factory=Camps)
    suspect: bool = False
    passes: tuple[int, ...] = ()


def full_filter(ratings: Ratings) -> BoolArray:
    return ratings.eligible(NOTE_RATINGS, RATER_RATINGS)


def warm_filter(ratings: Ratings) -> BoolArray:
    return ratings.eligible(WARM_RATINGS_EACH, WARM_RATINGS_EACH)


def cold(ratings: Ratings, facts: Facts) -> Outcome:
    """A Bayesian average; every rating has the same weight."""
    model = Model.cold(facts.min_ratings, facts.helpful_at)
    return Outcome(model, RaterArrays.blank(len(ratings.rater_ids), kept=True), camps=facts.camps)


def warm(ratings: Ratings, chosen: BoolArray, facts: Facts) -> Outcome:
    """One fit of the ``chosen`` ratings, with a ridge per note of at least ten ratings."""
    matrix = Matrix.from_ratings(ratings, chosen)
    size, notes, raters = len(matrix), len(matrix.notes), len(matrix.raters)
    ridges = Ridges.from_counts(size, notes, raters, WARM_DENSITY)
    tested = axis_test(matrix, ridges)
    remembered = facts.camps.with_test(tested)
    camps = tested is None or remembered.found
    fitted = fit(matrix, ridges, factored=camps)
    arrays, mu = _rater_arrays(ratings, matrix, fitted)
    return Outcome(
        _warm_model(matrix, fitted, arrays, mu, facts, tested, camps),
        arrays,
        fitted_raters=raters,
        fitted_ratings=size,
        first_mse=fitted.error / size,
        axis=tested,
        camps=remembered,
        suspect=_is_suspect(matrix, fitted),
        passes=(fitted.passes,),
    )


def _warm_model(
    matrix: Matrix,
    fitted: Fit,
    raters: RaterArrays,
    mu: float,
    facts: Facts,
    tested: AxisTest | None,
    camps: bool,
) -> Model:
    size, notes = len(matrix), len(matrix.notes)
    ridges = Ridges.from_counts(size, notes, len(matrix.raters), WARM_DENSITY)
    bound = Ridges.from_counts(size + notes, notes, len(matrix.raters), WARM_DENSITY)
    model = _model(Regime.WARM, facts, raters, (ridges, ridges, bound), mu, fitted.error / size, camps)
    if not camps:
        return model
    share = min(1.0, WARM_PRIOR / ridges.note_intercept)
    return replace(
        model,
        rho_intercept=share * ridges.note_intercept,
        rho_factor=share * ridges.note_factor,
        separation=1.0 if tested is None else tested.separation,
    )


def full(ratings: Ratings, chosen: BoolArray, facts: Facts, *, test_axis: bool) -> Outcome:
    """Both rounds over the ``chosen`` ratings.

    The final round, with raters frozen, is computed from the sums (docs/develop/consensus.md).
    """
    if not chosen.any():
        return _without_raters(ratings, facts)
    matrix = Matrix.from_ratings(ratings, chosen)
    ridges = Ridges.from_counts(len(matrix), len(matrix.notes), len(matrix.raters))
    tested = axis_test(matrix, ridges) if test_axis else None
    remembered = facts.camps.with_test(tested)
    camps = tested is None or remembered.found
    first = fit(matrix, ridges, factored=camps)
    raters_reputation = reputation(ratings, matrix, first, facts)
    so_far = Outcome(
        _without_raters(ratings, facts).model,
        RaterArrays.blank(len(ratings.rater_ids), kept=False),
        reputation=raters_reputation,
        first_mse=first.error / len(matrix),
        axis=tested,
        camps=remembered,
        suspect=_is_suspect(matrix, first),
        passes=(first.passes,),
    )
    chosen = chosen & raters_reputation.kept[ratings.rater]
    if not chosen.any():
        return so_far
    again = Matrix.from_ratings(ratings, chosen)
    size = len(again)
    ridges = Ridges.from_counts(size, len(again.notes), len(again.raters))
    second = fit(again, ridges, factored=camps, start=_start(matrix, first, again))
    arrays, mu = _rater_arrays(ratings, again, second)
    arrays = replace(arrays, volume=high_volume(ratings), correlated=correlated(ratings))
    all_ridges = (ridges, *_final_ridges(ratings, arrays.kept, facts))
    model = _model(Regime.FULL, facts, arrays, all_ridges, mu, second.error / size, camps)
    acting = None
    if test_axis:
        acting, acting_model = _acting(ratings, matrix, first, facts, tested, camps)
        acting = replace(acting, volume=arrays.volume, correlated=arrays.correlated)
        model = replace(model, acting=acting_model)
    return replace(
        so_far,
        model=model,
        raters=arrays,
        acting_raters=acting,
        fitted_raters=len(again.raters),
        fitted_ratings=size,
        passes=(first.passes, second.passes),
    )


def _acting(
    ratings: Ratings, matrix: Matrix, first: Fit, facts: Facts, tested: AxisTest | None, camps: bool
) -> tuple[RaterArrays, Model]:
    """The separate model of acting notes in the full regime: the warm model over the first round's raters.

    So acting needs the same there as in the warm regime, no less and no more (docs/develop/consensus.md).
    """
    ridges = Ridges.from_counts(len(matrix), len(matrix.notes), len(matrix.raters), WARM_DENSITY)
    if len(matrix) < WARM_DENSITY * len(matrix.notes):
        first = fit(matrix, ridges, factored=camps, start=_start(matrix, first, matrix))
    raters, mu = _rater_arrays(ratings, matrix, first)
    model = _warm_model(matrix, first, raters, mu, facts, tested, camps)
    return raters, replace(model, of_acting=True)


def _without_raters(ratings: Ratings, facts: Facts) -> Outcome:
    """No rater is kept: every note has score 0 and needs more ratings."""
    model = Model(
        Regime.FULL,
        mu=0.0,
        rho_intercept=1.0,
        rho_factor=1.0,
        axis=True,
        min_counted=_min_counted(facts),
        min_ratings=facts.min_ratings,
        helpful_at=facts.helpful_at,
    )
    return Outcome(model, RaterArrays.blank(len(ratings.rater_ids), kept=False))


def _min_counted(facts: Facts) -> int:
    """The final stage's filter. A community that needs fewer ratings than 5 does not need 5 that count."""
    return min(NOTE_RATINGS, facts.min_ratings)


def _is_suspect(matrix: Matrix, fitted: Fit) -> bool:
    return len(matrix.notes) >= SUSPECT_NOTES and fitted.error / len(matrix) > SUSPECT_ERROR


def _start(matrix: Matrix, first: Fit, again: Matrix) -> Start:
    """The first round's rater parameters as the start of the second round."""
    place = np.searchsorted(matrix.raters, again.raters)
    mu = np.zeros(again.parts)
    # Removing raters can split a component but never join two: all raters of a part had one mu before.
    mu[again.rater_part] = first.mu[matrix.rater_part[place]]
    return mu, first.rater_intercept[place], first.rater_factor[place]


def _rater_arrays(ratings: Ratings, matrix: Matrix, fitted: Fit) -> tuple[RaterArrays, float]:
    """The raters' parameters, with one mu for all.

    Where components differ in mu, the difference is moved into their raters' intercepts.
    """
    size = len(ratings.rater_ids)
    mu = float(np.bincount(matrix.rater_part, matrix.rater_counts, matrix.parts) @ fitted.mu) / len(matrix)
    intercept, factor, kept = np.zeros(size), np.zeros(size), np.zeros(size, np.bool_)
    intercept[matrix.raters] = fitted.rater_intercept + (fitted.mu - mu)[matrix.rater_part]
    factor[matrix.raters] = fitted.rater_factor
    kept[matrix.raters] = True
    nobody = np.zeros(size, np.bool_)
    return RaterArrays(intercept, factor, kept, nobody, nobody), mu


def _final_ridges(ratings: Ratings, kept: BoolArray, facts: Facts) -> tuple[Ridges, Ridges]:
    """Ridges of the final stage's ratings: as they are, and with one more per note (docs/develop/consensus.md)."""
    counts = np.bincount(ratings.note[kept[ratings.rater]])
    counts = counts[counts >= _min_counted(facts)]
    size, notes = int(counts.sum()), max(1, len(counts))
    raters = max(1, int(np.count_nonzero(kept)))
    return Ridges.from_counts(max(1, size), notes, raters), Ridges.from_counts(size + notes, notes, raters)


def _model(
    regime: Regime,
    facts: Facts,
    raters: RaterArrays,
    ridges: tuple[Ridges, Ridges, Ridges],
    mu: float,
    mse: float,
    camps: bool,
) -> Model:
    """``ridges``: of the scores, and of the upper bound without and with one more rating."""
    score, plain, bound = ridges
    intercept, factor = raters.intercept[raters.kept], raters.factor[raters.kept]
    return Model(
        regime,
        mu=mu,
        rho_intercept=score.note_intercept,
        rho_factor=score.note_factor,
        axis=camps,
        mse=max(mse, LEAST_ERROR),
        mean_intercept=float(intercept.mean()),
        low_intercept=float(intercept.min()),
        low_factor=float(factor.min()),
        high_factor=float(factor.max()),
        rho_intercept_plain=plain.note_intercept,
        rho_factor_plain=plain.note_factor,
        rho_intercept_bound=bound.note_intercept,
        rho_factor_bound=bound.note_factor,
        min_counted=_min_counted(facts) if regime is Regime.FULL else 0,
        min_ratings=facts.min_ratings,
        helpful_at=facts.helpful_at,
        published=facts.published,
    )
