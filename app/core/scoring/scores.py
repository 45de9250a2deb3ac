"""The result of scoring a community."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from app.core.scoring.arrays import BoolArray, FloatArray, IntArray
from app.core.scoring.axis import AxisTest, Camps
from app.core.scoring.model import Model, Rater
from app.core.scoring.sums import Sums
from app.core.scoring.verdict import Regime

StringArray = npt.NDArray[np.str_]


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


FullScores = Scores
