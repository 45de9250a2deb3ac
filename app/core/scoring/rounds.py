"""Scores a community: the regime for its number of ratings, then every note's status (docs/develop/consensus.md)."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from app.core.scoring import regimes
from app.core.scoring.arrays import BoolArray, FloatArray, IntArray, Ratings, ratings, whole_numbers
from app.core.scoring.axis import AxisTest, Camps
from app.core.scoring.model import Facts, Model, Rater
from app.core.scoring.regimes import Outcome
from app.core.scoring.rules import STATUSES, judge
from app.core.scoring.sums import SOLVED, WARM, RaterArrays, Sums, tally
from app.core.scoring.verdict import SLUGS, Regime, code

FULL_NOTES, FULL_RATERS = 200, 100
FULL_EACH = 20
"""Ratings that each of these notes needs from eligible raters. The full regime needs net 4 in favour on each side:
with fewer ratings, a note that three in four like would not reach that, and warm misses fewer such notes and acts
wrongly no more often.
"""
WARM_RATERS, WARM_RATINGS = 20, 200
MARGIN = 0.80
"""A community steps down a regime when it has less than this share of the regime's requirements."""

StringArray = npt.NDArray[np.object_]
"""Of texts, each of them only once in memory: an array of ``np.str_`` has 100 bytes a note."""


@dataclass(frozen=True, eq=False)
class Scores:
    """All notes that have a rating, and all raters that gave one, by ascending id; no NaN anywhere.

    Parallel to ``note_ids``: ``intercepts`` (the score), ``factors``, ``statuses`` (values of ``NoteStatus``),
    ``rules`` (codes of ``rules.RULES``), ``sums`` of shape (notes, ``sums.WIDTH``). Parallel to ``rater_ids``:
    ``rater_intercepts`` and ``rater_factors`` (0 for raters that the model does not know; a warm model uses its
    mean intercept for them), ``rater_valid`` (ratings that could agree or disagree with a note's provisional
    status) and ``rater_helpfulness`` (the share of them that agrees, 0.0 to 1.0; 0 without any), ``raters_kept``
    (whose viewpoint the model knows), ``raters_volume``, ``raters_correlated``. ``acting_intercepts``,
    ``acting_factors`` and ``raters_acting`` belong to ``model.acting``: its raters' parameters, and which raters it
    knows; 0 and none without such a model. Sums, scores and rules of acting notes use that model.

    ``mse``: mean squared error of the ratings that count. ``first_mse``: that of the first round. ``suspect``: the
    first round explains so little (above 0.16 with 200 notes or more) that a caller with an older model should keep
    it (docs/develop/consensus.md). ``axis``: the axis test; None if not made. ``camps``: what to pass to the next
    fit as ``Facts.camps``. ``passes``: the iterations of each round of the solver.
    """

    regime: Regime
    model: Model
    note_ids: IntArray
    intercepts: FloatArray
    factors: FloatArray
    statuses: StringArray
    rules: StringArray
    sums: FloatArray
    rater_ids: IntArray
    rater_intercepts: FloatArray
    rater_factors: FloatArray
    rater_valid: IntArray
    rater_helpfulness: FloatArray
    raters_kept: BoolArray
    raters_volume: BoolArray
    raters_correlated: BoolArray
    acting_intercepts: FloatArray
    acting_factors: FloatArray
    raters_acting: BoolArray
    mse: float
    first_mse: float = 0.0
    suspect: bool = False
    axis: AxisTest | None = None
    camps: Camps = field(default_factory=Camps)
    passes: tuple[int, ...] = ()

    def sums_of(self, note: int) -> Sums:
        """The sums of the note at this index of ``note_ids``."""
        return Sums.from_list(self.sums[note])

    def rater(self, place: int) -> Rater:
        """The rater at this index of ``rater_ids``."""
        known = bool(self.raters_acting[place])
        return Rater(
            intercept=float(self.rater_intercepts[place]),
            factor=float(self.rater_factors[place]),
            kept=bool(self.raters_kept[place]),
            volume=bool(self.raters_volume[place]),
            correlated=bool(self.raters_correlated[place]),
            acting_intercept=float(self.acting_intercepts[place]) if known else None,
            acting_factor=float(self.acting_factors[place]),
        )


_NO_FACTS = Facts()


def score(
    note_ids: npt.ArrayLike, rater_ids: npt.ArrayLike, values: npt.ArrayLike, facts: Facts = _NO_FACTS
) -> Scores:
    """Score a community in the regime that its ratings allow, named in ``Scores.regime``.

    A community that is large enough for the full regime, but whose rater filter keeps fewer than 20 raters or 200
    ratings, is scored warm. Of earlier fits only the regime and what they found about camps is used
    (``Facts.regime``, ``Facts.camps``), not their parameters, so that the result depends on the ratings.

    ``note_ids`` and ``rater_ids`` are whole numbers, ``values`` 0, 0.5 or 1, one entry per rating, in any order:
    the same ratings give the same result bit for bit. No ratings give an empty result. Ids in ``facts`` without
    ratings have no effect.

    Raises ValueError naming the argument for columns of unequal length, ids that are not whole numbers of at most
    64 bits, values other than 0, 0.5 and 1, a second rating of the same note by the same rater, or invalid
    ``facts``.
    """
    sorted_ratings = _check(note_ids, rater_ids, values, facts)
    return _finish(sorted_ratings, _outcome(sorted_ratings, facts), facts)


def score_full(
    note_ids: npt.ArrayLike, rater_ids: npt.ArrayLike, values: npt.ArrayLike, facts: Facts = _NO_FACTS
) -> Scores:
    """Score a community with the full algorithm, whatever its size (docs/develop/consensus.md).

    There is no axis test here: the factor is always fitted. Notes with fewer than 5 ratings by kept raters need
    more ratings; their intercept is solved from the ratings of kept raters, and is 0 without any. Without kept
    raters all notes have score 0. A NOT_MISLEADING note may become helpful, which it never does in the reference
    (docs/develop/consensus.md). Arguments and errors are those of ``score``.
    """
    sorted_ratings = _check(note_ids, rater_ids, values, facts)
    return _finish(
        sorted_ratings,
        regimes.full(sorted_ratings, regimes.full_filter(sorted_ratings), facts, test_axis=False),
        facts,
    )


def _check(note_ids: npt.ArrayLike, rater_ids: npt.ArrayLike, values: npt.ArrayLike, facts: Facts) -> Ratings:
    if facts.min_ratings < 1:
        raise ValueError("facts.min_ratings: must be at least 1")
    if not np.isfinite(facts.helpful_at):
        raise ValueError("facts.helpful_at: must be a number")
    return ratings(note_ids, rater_ids, values, facts.valid)


def _outcome(sorted_ratings: Ratings, facts: Facts) -> Outcome:
    chosen = regimes.full_filter(sorted_ratings)
    margin = _margin(facts, Regime.FULL)
    notes = np.count_nonzero(np.bincount(sorted_ratings.note[chosen]) >= FULL_EACH)
    raters = _distinct(sorted_ratings.rater, chosen)
    if notes >= margin * FULL_NOTES and raters >= margin * FULL_RATERS:
        outcome = regimes.full(sorted_ratings, chosen, facts, test_axis=True)
        # Where the rater filter keeps almost no raters, no note could ever be published again.
        if outcome.fitted_raters >= WARM_RATERS and outcome.fitted_ratings >= WARM_RATINGS:
            return outcome
    chosen = regimes.warm_filter(sorted_ratings)
    margin = _margin(facts, Regime.WARM)
    left = np.count_nonzero(chosen)
    if left >= margin * WARM_RATINGS and _distinct(sorted_ratings.rater, chosen) >= margin * WARM_RATERS:
        return regimes.warm(sorted_ratings, chosen, facts)
    return regimes.cold(sorted_ratings, facts)


def _margin(facts: Facts, regime: Regime) -> float:
    return MARGIN if facts.regime is not None and facts.regime.rank >= regime.rank else 1.0


def _distinct(places: npt.NDArray[np.int32], chosen: BoolArray) -> int:
    return int(np.count_nonzero(np.bincount(places[chosen])))


def _finish(sorted_ratings: Ratings, outcome: Outcome, facts: Facts) -> Scores:
    model, raters, standing = outcome.model, outcome.raters, outcome.reputation
    notes, nothing = sorted_ratings.note_ids, np.zeros(len(sorted_ratings.rater_ids))
    acting = np.isin(notes, whole_numbers(facts.acting, "facts.acting"))
    known = outcome.acting_raters or RaterArrays.blank(len(sorted_ratings.rater_ids), kept=False)
    helpful = np.isin(notes, whole_numbers(facts.helpful, "facts.helpful"))
    not_misleading = np.isin(notes, whole_numbers(facts.not_misleading, "facts.not_misleading"))
    threshold = model.helpful_at + _raised(notes, facts)
    sums = tally(sorted_ratings, raters, model)
    if model.acting is not None:
        warm_sums = tally(sorted_ratings, known, model.acting)
        sums[:, WARM] = warm_sums[:, SOLVED]
        sums[acting] = warm_sums[acting]
    judged = judge(sums, model, helpful, not_misleading, threshold, acting)
    codes = _codes(model.regime)[judged.rule]
    if model.acting is not None and acting.any():
        apart = judge(
            sums[acting],
            model.acting,
            helpful[acting],
            not_misleading[acting],
            threshold[acting],
            acting[acting],
        )
        judged = judged.with_others(acting, apart)
        codes = np.where(acting, _codes(model.acting.regime)[judged.rule], codes)
    return Scores(
        regime=model.regime,
        model=model,
        note_ids=notes,
        intercepts=judged.intercept,
        factors=judged.factor,
        statuses=np.array(STATUSES, np.object_)[judged.status],
        rules=codes,
        sums=sums,
        rater_ids=sorted_ratings.rater_ids,
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


def _codes(regime: Regime) -> StringArray:
    """The rule codes of a regime, indexed by the numbers in ``Judged.rule``."""
    return np.array([code(regime, slug) for slug in SLUGS], np.object_)


def _raised(notes: IntArray, facts: Facts) -> FloatArray:
    """The amount added to each note's helpful threshold."""
    raised = np.zeros(len(notes))
    if facts.raised and len(notes):
        ids = whole_numbers(list(facts.raised), "facts.raised")
        amounts = np.array(list(facts.raised.values()), np.float64)
        if not np.all(np.isfinite(amounts)):
            raise ValueError("facts.raised: must be numbers")
        place = np.minimum(np.searchsorted(notes, ids), len(notes) - 1)
        present = notes[place] == ids
        raised[place[present]] = amounts[present]
    return raised
