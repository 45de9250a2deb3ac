"""Scoring a community: the regime its ratings can carry, then every note's status (docs/consensus.md)."""

import numpy as np
import numpy.typing as npt

from app.core.scoring import regimes
from app.core.scoring.arrays import BoolArray, FloatArray, IntArray, Ratings, ratings, whole_numbers
from app.core.scoring.codes import codes
from app.core.scoring.model import Facts
from app.core.scoring.regimes import Outcome
from app.core.scoring.rules import STATUSES, judge
from app.core.scoring.scores import Scores
from app.core.scoring.tally import RaterArrays, tally
from app.core.scoring.verdict import Regime

FULL_NOTES, FULL_RATERS = 200, 100
FULL_EACH = 20
"""Ratings that each of these notes has from eligible raters. Full asks each side to be net 4 in favour: with fewer,
what three in four like does not get there, and warm misses less of the same ratings and acts wrongly no more often."""
WARM_RATERS, WARM_RATINGS = 20, 200
MARGIN = 0.80
"""A community steps down a regime once it has less than this share of what the regime asks for."""

_NOTHING = Facts()


def score(
    note_ids: npt.ArrayLike, rater_ids: npt.ArrayLike, values: npt.ArrayLike, facts: Facts = _NOTHING
) -> Scores:
    """Score a community in the regime its ratings can carry, named in ``Scores.regime``.

    One that is large enough for the full regime, but whose rater filter keeps fewer than 20 raters or 200 ratings,
    is scored warm. Of earlier fits nothing is used but the regime and what they found of camps
    (``Facts.regime``, ``Facts.camps``): their parameters are not, so the result depends on the ratings.

    ``note_ids`` and ``rater_ids`` are whole numbers, ``values`` 0, 0.5 or 1, one entry per rating, in any order:
    the same ratings give the same result bit for bit. No ratings give an empty result. Ids in ``facts`` that
    nobody rated, or who rated nothing, change nothing.

    Raises ValueError naming the argument for columns of unequal length, ids that are not whole numbers of at most
    64 bits, values other than 0, 0.5 and 1, a second rating of the same note by the same rater, or ``facts`` that
    do not fit.
    """
    given = _check(note_ids, rater_ids, values, facts)
    return _finish(given, _outcome(given, facts), facts)


def score_full(
    note_ids: npt.ArrayLike, rater_ids: npt.ArrayLike, values: npt.ArrayLike, facts: Facts = _NOTHING
) -> Scores:
    """Score a community by the full algorithm as the reference runs it, whatever its size (docs/consensus.md).

    There is no axis test here: the factor is always fitted. Notes with fewer than 5 ratings by kept raters need
    more ratings; their intercept is solved from what kept raters gave them, and is 0 where none did. Without kept
    raters all notes stand at 0. A NOT_MISLEADING note may become helpful, which it never does in the reference
    (docs/consensus.md). Arguments and errors are those of ``score``.
    """
    given = _check(note_ids, rater_ids, values, facts)
    return _finish(given, regimes.full(given, regimes.full_filter(given), facts, test_axis=False), facts)


def _check(note_ids: npt.ArrayLike, rater_ids: npt.ArrayLike, values: npt.ArrayLike, facts: Facts) -> Ratings:
    if facts.min_ratings < 1:
        raise ValueError("facts.min_ratings: must be at least 1")
    if not np.isfinite(facts.helpful_at):
        raise ValueError("facts.helpful_at: must be a number")
    return ratings(note_ids, rater_ids, values, facts.valid)


def _outcome(given: Ratings, facts: Facts) -> Outcome:
    chosen = regimes.full_filter(given)
    margin = _margin(facts, Regime.FULL)
    notes = int(np.count_nonzero(np.bincount(given.note[chosen]) >= FULL_EACH))
    raters = _distinct(given.rater, chosen)
    if notes >= margin * FULL_NOTES and raters >= margin * FULL_RATERS:
        outcome = regimes.full(given, chosen, facts, test_axis=True)
        # Where the rater filter keeps next to nobody, no note could ever be published again.
        if outcome.fitted_raters >= WARM_RATERS and outcome.fitted_ratings >= WARM_RATINGS:
            return outcome
    chosen = regimes.warm_filter(given)
    margin = _margin(facts, Regime.WARM)
    left = np.count_nonzero(chosen)
    if left >= margin * WARM_RATINGS and _distinct(given.rater, chosen) >= margin * WARM_RATERS:
        return regimes.warm(given, chosen, facts)
    return regimes.cold(given, facts)


def _margin(facts: Facts, regime: Regime) -> float:
    return MARGIN if facts.regime is not None and facts.regime.rank >= regime.rank else 1.0


def _distinct(places: npt.NDArray[np.int32], chosen: BoolArray) -> int:
    return int(np.count_nonzero(np.bincount(places[chosen])))


def _finish(given: Ratings, outcome: Outcome, facts: Facts) -> Scores:
    model, raters, standing = outcome.model, outcome.raters, outcome.reputation
    notes, nothing = given.note_ids, np.zeros(len(given.rater_ids))
    acting = np.isin(notes, whole_numbers(facts.acting, "facts.acting"))
    rows = tally(given, raters, model)
    helpful = np.isin(notes, whole_numbers(facts.helpful, "facts.helpful"))
    not_misleading = np.isin(notes, whole_numbers(facts.not_misleading, "facts.not_misleading"))
    threshold = model.helpful_at + _raised(notes, facts)
    judged = judge(rows, model, helpful, not_misleading, threshold, acting)
    rules = np.array(codes(model.regime))[judged.rule]
    known = outcome.acting_raters or RaterArrays.blank(len(given.rater_ids), kept=False)
    if model.acting is not None and acting.any():
        rows[acting] = tally(given.of_notes(acting), known, model.acting)
        apart = judge(
            rows[acting],
            model.acting,
            helpful[acting],
            not_misleading[acting],
            threshold[acting],
            acting[acting],
        )
        judged = judged.with_others(acting, apart)
        rules = np.where(acting, np.array(codes(model.acting.regime))[judged.rule], rules)
    return Scores(
        regime=model.regime,
        model=model,
        note_ids=notes,
        intercepts=judged.intercept,
        factors=judged.factor,
        statuses=np.array(STATUSES, np.str_)[judged.status],
        rules=rules,
        sums=rows,
        rater_ids=given.rater_ids,
        rater_intercepts=raters.intercept,
        rater_factors=raters.factor,
        rater_valid=standing.valid if standing else nothing.astype(np.int64),
        rater_helpfulness=standing.helpfulness if standing else nothing,
        raters_kept=raters.kept,
        raters_volume=raters.volume,
        raters_correlated=raters.correlated,
        acting_intercepts=known.intercept,
        acting_factors=known.factor,
        raters_acting=known.kept,
        mse=model.mse,
        first_mse=outcome.first_mse,
        suspect=outcome.suspect,
        axis=outcome.axis,
        camps=outcome.camps,
        passes=outcome.passes,
    )


def _raised(notes: IntArray, facts: Facts) -> FloatArray:
    """What is added to each note's helpful threshold."""
    raised = np.zeros(len(notes))
    if facts.raised and len(notes):
        ids = whole_numbers(list(facts.raised), "facts.raised")
        by = np.array(list(facts.raised.values()), np.float64)
        if not np.all(np.isfinite(by)):
            raise ValueError("facts.raised: must be numbers")
        place = np.minimum(np.searchsorted(notes, ids), len(notes) - 1)
        there = notes[place] == ids
        raised[place[there]] = by[there]
    return raised
