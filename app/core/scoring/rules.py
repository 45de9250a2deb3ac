"""From a note's sums to its status: the rules of docs/develop/consensus.md in their order.

A later rule overrides an earlier one. Firm rejects and notes that need more views are exported as needing more
ratings; a note that was helpful and only needs more views stays helpful.
"""

import math
from dataclasses import dataclass, fields, replace

import numpy as np

from app.core.scoring.arrays import BoolArray, FloatArray, IntArray
from app.core.scoring.model import Model
from app.core.scoring.sums import (
    ANY,
    CORRELATED,
    NEGATIVE,
    POSITIVE,
    SOLVED,
    VOLUME,
    WARM,
    Sums,
    known_raters,
    side_means,
    solve,
    upper_bound,
)
from app.core.scoring.verdict import (
    BLIND_MARGIN,
    BLIND_RATINGS,
    HELPFUL_AT,
    INERTIA,
    NEEDS_NO_RATINGS,
    NUMBER,
    SLUGS,
    Regime,
    Verdict,
    code,
    not_helpful_at,
)
from app.core.vocabulary import NoteStatus

GRAIN = 1e-9
"""Scores closer than this are equal, so that 0.75 - 0.35 counts as 0.40."""
FACTOR_AT_MOST = 0.5
BOUND_AT = -0.04
NOT_MISLEADING_AT = -0.15
FIRM_REJECT = 0.10
"""This much below the helpful threshold: 0.30 where that is 0.40."""
WITHOUT_SOME = 0.03
"""How far the score may fall below the threshold without high-volume or without correlated raters: to 0.37."""
SIDE_RATINGS, SIDE_MEAN, SIDES_MEAN = 3, 0.4, 0.3
FOR_RATINGS, FOR_MEAN, FOR_WEIGHT, FOR_BELOW = 5, 0.60, 2.0, 0.09
"""Both sides are for a note that is only shown from this many ratings and this mean each, if its score is no further
below the threshold than this: with inertia it ends where the firm reject begins. The mean is that of
the cold regime, with two ratings of 0.5 added.
"""
NET_FULL, NET_WARM, NET_AMPLE, NET_SHARE = 4, 2, 10, 0.05
LOPSIDED = 0.30
"""Square of the mean factor of a note's raters, over their mean squared factor: about four of five on one side.

A warm model has seen few ratings of most raters: one in ten is on the wrong side, with a small factor. So when
sixty raters of one camp rate a note, two of them on "the other side" are no second viewpoint.
"""
ACTING_LOPSIDED, ACTING_WEIGHT = 0.18, 3.0
"""The same for a note with an action on a post, about seven of ten on one side; and the minimum weight of the
weaker side, in raters. With few ratings, two raters on the wrong side are likely: a note that is only shown may
depend on them, a note that hides a post may not.
"""
ACTING_COLDER = 0.10
"""How far below the threshold an acting note's score may be for a typical rater of the side that likes it less."""
WELL_APART = 0.70
"""The two bounds above apply as they are from this ``Model.separation`` on. Where the axis separates the camps less
well, more raters of one camp are on the other's side: at 0.35 a crowd of one camp looks like seven of ten on one
side. So the bounds narrow with the separation, which requires more raters and a more even split.
"""
LEAST_APART = 0.10
"""The bounds narrow no further than at this separation: where camps are remembered that the last fit does not show."""
STATUSES = (
    NoteStatus.NEEDS_MORE_RATINGS,
    NoteStatus.CURRENTLY_RATED_HELPFUL,
    NoteStatus.CURRENTLY_RATED_NOT_HELPFUL,
)
_NMR, _CRH, _CRNH = range(3)


@dataclass(frozen=True, eq=False)
class Judged:
    """One entry per note: ``status`` indexes ``STATUSES``, ``rule`` indexes ``SLUGS``.

    ``z`` is how many standard errors the note is beyond the bound that decided its status.
    """

    intercept: FloatArray
    factor: FloatArray
    status: IntArray
    rule: IntArray
    z: FloatArray

    def with_others(self, where: BoolArray, others: "Judged") -> "Judged":
        """A copy with the notes ``where`` replaced by ``others``, which has only those notes, in the same order."""
        columns = []
        for field in fields(self):
            column = getattr(self, field.name).copy()
            column[where] = getattr(others, field.name)
            columns.append(column)
        return Judged(*columns)


def decide(
    sums: Sums,
    model: Model,
    *,
    was: NoteStatus,
    not_misleading: bool = False,
    raised: float = 0.0,
    acting: bool = False,
) -> Verdict | None:
    """The status of one note from its ratings; None while it has none.

    ``was`` is its current status; ``raised`` is added to the helpful threshold; ``acting`` notes have an action on
    a post and need more of the weaker side. A NOT_MISLEADING note can become helpful here, which it never does in
    the reference (docs/develop/consensus.md), and is rejected already at a score below -0.15.
    """
    if not sum(sums.row[ANY]):
        return None
    was_helpful = was is NoteStatus.CURRENTLY_RATED_HELPFUL
    threshold = model.helpful_at + raised
    judged = judge(
        sums.as_array(),
        model,
        np.array([was_helpful]),
        np.array([not_misleading]),
        np.array([threshold]),
        np.array([acting]),
    )
    return Verdict(
        status=STATUSES[judged.status[0]],
        intercept=float(judged.intercept[0]),
        confidence=0.5 * (1.0 + math.erf(float(judged.z[0]) / math.sqrt(2.0))),
        rule=code(model.regime, SLUGS[judged.rule[0]]),
        factor=float(judged.factor[0]),
        regime=model.regime,
        threshold=threshold,
        ratings=sums.counts.total,
    )


def judge(
    rows: FloatArray,
    model: Model,
    was_helpful: BoolArray,
    not_misleading: BoolArray,
    threshold: FloatArray,
    acting: BoolArray,
) -> Judged:
    """The statuses of all notes; ``rows`` is ``(notes, WIDTH)``, the others have one entry per note."""
    main = rows[:, SOLVED]
    intercept, factor, error = solve(main, model)
    enough = rows[:, ANY].sum(axis=1) >= model.min_ratings
    counted = enough & (main[:, 0] >= model.min_counted)
    low = not_helpful_at(factor)
    sheet = _Sheet(counted, intercept, threshold)
    sheet.put(~enough, _NMR, "few-ratings")
    sheet.put(enough & ~counted, _NMR, "few-counted")
    sheet.put(intercept >= threshold - GRAIN, _CRH, "helpful")
    sheet.put(intercept <= low + GRAIN, _CRNH, "not-helpful", low - intercept)
    if model.regime is not Regime.COLD:
        bound = upper_bound(main, model)
        sheet.put(bound < BOUND_AT, _CRNH, "not-even-with-help", BOUND_AT - bound)
        if model.axis:
            mean = _both_sides_mean(rows)
            sheet.put(mean <= SIDES_MEAN + GRAIN, _CRNH, "both-sides-against", SIDES_MEAN - mean)
        rejected = not_misleading & (intercept < NOT_MISLEADING_AT)
        sheet.put(rejected, _CRNH, "not-misleading-rejected", NOT_MISLEADING_AT - intercept)
    inert = was_helpful & (intercept >= threshold - INERTIA - GRAIN)
    sheet.put(inert & (sheet.status != _CRH), _CRH, "inertia")
    if model.regime is Regime.WARM and model.axis:
        mean = _lower_side_mean(rows)
        inertia = np.where(was_helpful, INERTIA, 0.0)
        bar = FOR_MEAN + threshold - HELPFUL_AT - inertia
        agreed = (mean >= bar - GRAIN) & (intercept >= threshold - FOR_BELOW - inertia - GRAIN)
        agreed &= ~_lopsided(rows, acting, model.separation) & ~acting & ~not_misleading
        sheet.put(agreed & (sheet.status == _NMR), _CRH, "both-sides-for", mean - bar)
    if model.regime is not Regime.COLD:
        divisive = np.abs(factor) > FACTOR_AT_MOST + GRAIN
        if model.regime is Regime.WARM and model.axis:
            colder = intercept - np.abs(factor) * _rms_factor(rows)
            divisive |= acting & (colder < threshold - ACTING_COLDER - GRAIN)
        sheet.put(divisive & (sheet.status == _CRH), _NMR, "divisive")
        hopeless = intercept < threshold - FIRM_REJECT - GRAIN
        sheet.put(hopeless & (sheet.status != _CRNH), _NMR, "low-score")
        _ask_for_more_views(sheet, rows, model, was_helpful, threshold, acting)
    if model.acting is not None and not model.published:
        _show_agreed(sheet, rows, model.acting, was_helpful, not_misleading, threshold)
    return Judged(intercept, factor, sheet.status, sheet.rule, sheet.distance / error)


def _show_agreed(
    sheet: "_Sheet",
    rows: FloatArray,
    warm: Model,
    was_helpful: BoolArray,
    not_misleading: BoolArray,
    threshold: FloatArray,
) -> None:
    """Show, in the full regime, the notes that the warm model shows and both sides of the kept raters are for.

    The published ridge grows with the ratings per note, so that with hundreds of votes on each note hardly any
    reaches the threshold. What the guards against a few raters held back stays held back (docs/develop/consensus.md).
    """
    mean = _lower_side_mean(rows)
    bar = FOR_MEAN - np.where(was_helpful, INERTIA, 0.0)
    held_back = (sheet.rule == NUMBER["high-volume"]) | (sheet.rule == NUMBER["correlated"])
    agreed = (mean >= bar - GRAIN) & (sheet.status == _NMR) & ~held_back
    if not agreed.any():
        return
    warm_rows = rows[agreed]
    warm_rows[:, SOLVED] = warm_rows[:, WARM]
    shown = judge(
        warm_rows,
        replace(warm, of_acting=False),
        was_helpful[agreed],
        not_misleading[agreed],
        threshold[agreed],
        np.zeros(len(warm_rows), np.bool_),
    )
    agreed[agreed] = shown.status == _CRH
    sheet.put(agreed, _CRH, "both-sides-for", mean - bar)


class _Sheet:
    """The statuses while the rules run. Only notes with enough ratings can get one; ``put`` overrides earlier ones."""

    def __init__(self, counted: BoolArray, intercept: FloatArray, threshold: FloatArray) -> None:
        self.counted = counted
        self.beyond = intercept - threshold
        self.status: IntArray = np.zeros(len(intercept), np.int64)
        self.rule: IntArray = np.full(len(intercept), NUMBER["undecided"])
        self.distance = self.beyond.copy()

    def put(self, where: BoolArray, status: int, slug: str, distance: FloatArray | None = None) -> None:
        """Set the status of the notes ``where``.

        ``distance`` is how far the note is beyond the deciding bound, if that is not the helpful one.
        """
        if slug not in NEEDS_NO_RATINGS:
            where = where & self.counted
        np.copyto(self.status, status, where=where)
        np.copyto(self.rule, NUMBER[slug], where=where)
        np.copyto(self.distance, self.beyond if distance is None else distance, where=where)


def _both_sides_mean(rows: FloatArray) -> FloatArray:
    """The mean of the two sides' means; 1 unless each side has 3 ratings and a mean of at most 0.4."""
    (total, mean), (other_total, other_mean) = side_means(rows)
    enough = np.minimum(total, other_total) >= SIDE_RATINGS
    against = enough & (np.maximum(mean, other_mean) <= SIDE_MEAN + GRAIN)
    return np.where(against, 0.5 * (mean + other_mean), 1.0)


def _lower_side_mean(rows: FloatArray) -> FloatArray:
    """The lower of the two sides' means, with two ratings of 0.5 added; 0 unless each side has 5 ratings."""
    (total, mean), (other_total, other_mean) = side_means(rows, FOR_WEIGHT)
    return np.where(np.minimum(total, other_total) >= FOR_RATINGS, np.minimum(mean, other_mean), 0.0)


def _lopsided(rows: FloatArray, acting: BoolArray, separation: float) -> BoolArray:
    """Whether almost all known raters of a note are on one side; for acting notes also if the other side is light.

    The weaker side weighs ``(n - |sum f| / rms f) / 2``: its number of raters if all were equally far from 0. Where
    the axis separates the camps less well than ``WELL_APART``, ``sum f`` counts as that much larger.
    """
    apart = min(1.0, max(separation, LEAST_APART) / WELL_APART)
    known = known_raters(rows)
    _, total, squares, _, _ = rows[:, SOLVED].T
    lopsided = total * total > np.where(acting, apart * ACTING_LOPSIDED, LOPSIDED) * known * squares + GRAIN
    # Without a division: |sum f| > (n - 2 w) rms f, where rms f is sqrt(sum f^2 / n).
    spare = np.maximum(known - 2.0 * ACTING_WEIGHT, 0.0)
    light = (known < 2.0 * ACTING_WEIGHT) | (total * total * known > apart * spare * spare * squares + GRAIN)
    return np.asarray(lopsided | (acting & light))


def _rms_factor(rows: FloatArray) -> FloatArray:
    """Root mean square of the factors of a note's known raters."""
    return np.asarray(
        np.sqrt(np.maximum(rows[:, SOLVED.start + 2], 0.0) / np.maximum(known_raters(rows), 1.0))
    )


def _ask_for_more_views(
    sheet: _Sheet,
    rows: FloatArray,
    model: Model,
    was_helpful: BoolArray,
    threshold: FloatArray,
    acting: BoolArray,
) -> None:
    """Keep a note at "needs more ratings" that is helpful by its score, but not yet by enough viewpoints."""
    if not (sheet.status == _CRH).any():
        return
    needs: list[tuple[BoolArray, str]] = []
    if not model.axis:
        few = rows[:, ANY].sum(axis=1) < BLIND_RATINGS
        needs.append((acting & (few | (sheet.beyond < BLIND_MARGIN - GRAIN)), "no-camps"))
    if model.axis:
        net = np.minimum(
            rows[:, NEGATIVE.stop - 1] - rows[:, NEGATIVE.start],
            rows[:, POSITIVE.stop - 1] - rows[:, POSITIVE.start],
        )
        if model.regime is Regime.WARM:
            needs.append((net < NET_WARM, "one-sided"))
            # Even with many raters on the other side: of 240 raters of one camp, twenty are on the wrong side.
            needs_both_sides = (net < NET_AMPLE) | acting
            needs.append((needs_both_sides & _lopsided(rows, acting, model.separation), "unbalanced"))
        else:
            needs.append((net < NET_FULL, "one-sided"))
            small = net < NET_SHARE * rows[:, SOLVED.start] - GRAIN
            needs.append(((net < NET_AMPLE) & small, "unbalanced"))
    if model.regime is Regime.FULL or model.of_acting:
        for part, slug in ((VOLUME, "high-volume"), (CORRELATED, "correlated")):
            if not rows[:, part.start].any():
                continue
            without = solve(rows[:, SOLVED] - rows[:, part], model)[0]
            needs.append((without < threshold - WITHOUT_SOME - GRAIN, slug))
    for where, slug in needs:
        candidates = where & (sheet.status == _CRH)
        sheet.put(candidates & ~was_helpful, _NMR, slug)
        sheet.put(candidates & was_helpful, _CRH, "kept")
