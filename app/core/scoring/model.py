"""What a fit leaves behind, and what a fit is told beside the ratings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np

from app.core.scoring.arrays import BoolArray, IntArray
from app.core.scoring.scale import HELPFUL_AT, MIN_RATINGS, OFFSET
from app.core.scoring.verdict import Regime

COLD_WEIGHT = 2.0
COLD_MEAN = 0.5
COLD_MSE = 0.10


@dataclass(frozen=True, eq=False)
class Facts:
    """What the ratings alone do not say. Every part may be left out.

    ``not_misleading``: ids of notes classed NOT_MISLEADING. ``helpful``: ids of notes that are helpful now (inertia).
    ``raised``: note id to what is added to its helpful threshold. ``acting``: ids of notes that would have something
    done to a post, which asks for more of the weaker side. ``authors``: note id to the rater id of its
    author (SCORING: 1.4 step 3). ``valid``: per rating, in the order given, whether it may count for its rater's
    helpfulness (SCORING: 1.4 step 2); None lets all count. ``regime``: that of the fit before; stepping down
    takes a 20 % margin. ``min_ratings``: ratings of any kind that a status needs. ``helpful_at``: the threshold.
    """

    not_misleading: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    helpful: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    raised: Mapping[int, float] = field(default_factory=dict)
    acting: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    authors: Mapping[int, int] = field(default_factory=dict)
    valid: BoolArray | None = None
    regime: Regime | None = None
    min_ratings: int = MIN_RATINGS
    helpful_at: float = HELPFUL_AT


@dataclass(frozen=True)
class Rater:
    """A rater as the fit left them; None stands for a rater the fit did not know."""

    intercept: float = 0.0
    factor: float = 0.0
    kept: bool = True
    volume: bool = False
    correlated: bool = False


@dataclass(frozen=True)
class Model:
    """All that a fit leaves behind for the notes of a community; raters are kept apart (``Rater``).

    ``rho_*`` are ridges in pseudo-ratings (SCORING: 1.3); ``*_bound`` those of the augmented ratings, ``*_plain``
    those of the current ratings as they are (SCORING: 1.5, upper bound); ``low_intercept``, ``low_factor`` and
    ``high_factor`` are the extremes over the kept raters. ``shift`` is added to a solved intercept, so that all
    regimes share one scale. ``mean_intercept`` is what a rater unknown to a warm model enters with.
    ``min_counted`` is how many ratings of kept raters a note needs before its score decides anything.
    """

    regime: Regime
    mu: float
    rho_intercept: float
    rho_factor: float
    axis: bool = False
    mse: float = COLD_MSE
    shift: float = 0.0
    mean_intercept: float = 0.0
    low_intercept: float = 0.0
    low_factor: float = 0.0
    high_factor: float = 0.0
    rho_intercept_bound: float = 1.0
    rho_factor_bound: float = 1.0
    rho_intercept_plain: float = 1.0
    rho_factor_plain: float = 1.0
    min_counted: int = 0
    min_ratings: int = MIN_RATINGS
    helpful_at: float = HELPFUL_AT

    @classmethod
    def cold(cls, min_ratings: int = MIN_RATINGS, helpful_at: float = HELPFUL_AT) -> "Model":
        """``i = (C m + sum r) / (C + n) - 0.35``: the model with f = 0 and i_u = 0 (SCORING: 2.1)."""
        return cls(
            Regime.COLD,
            mu=COLD_MEAN,
            rho_intercept=COLD_WEIGHT,
            rho_factor=1.0,
            shift=COLD_MEAN - OFFSET,
            min_ratings=min_ratings,
            helpful_at=helpful_at,
        )

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "regime": self.regime.value}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Model":
        """Raises ValueError naming what is missing or unknown."""
        known = {one.name for one in fields(cls)}
        if unknown := sorted(set(stored) - known):
            raise ValueError(f"model: unknown {', '.join(unknown)}")
        if missing := sorted({"regime", "mu", "rho_intercept", "rho_factor"} - set(stored)):
            raise ValueError(f"model: without {', '.join(missing)}")
        return cls(**{**stored, "regime": Regime(stored["regime"])})
