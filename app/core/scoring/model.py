"""The result of a fit, and its inputs besides the ratings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from app.core.scoring.arrays import BoolArray, IntArray
from app.core.scoring.axis import Camps
from app.core.scoring.verdict import HELPFUL_AT, MIN_RATINGS, OFFSET, Regime

COLD_WEIGHT = 2.0
COLD_MEAN = 0.5
COLD_MSE = 0.10


@dataclass(frozen=True, eq=False)
class Facts:
    """Inputs of a fit besides the ratings. Each may be omitted.

    ``not_misleading``: ids of notes classed NOT_MISLEADING. ``helpful``: ids of notes that are helpful now
    (inertia). ``raised``: note id to the amount added to its helpful threshold. ``acting``: ids of notes with an
    action on a post, which need more of the weaker side. ``authors``: note id to the rater id of its author
    (docs/develop/consensus.md). ``valid``: per rating, in the given order, whether it may count for its rater's
    helpfulness; None: all count. ``regime``: that of the previous fit; stepping down needs a 20 % margin.
    ``camps``: what previous fits found about camps, ``Scores.camps`` of the last one. ``min_ratings``: ratings of
    any kind that a status needs. ``helpful_at``: the threshold. ``published``: see ``Model``.
    """

    not_misleading: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    helpful: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    raised: Mapping[int, float] = field(default_factory=dict)
    acting: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))
    authors: Mapping[int, int] = field(default_factory=dict)
    valid: BoolArray | None = None
    regime: Regime | None = None
    camps: Camps = field(default_factory=Camps)
    min_ratings: int = MIN_RATINGS
    helpful_at: float = HELPFUL_AT
    published: bool = False


@dataclass(frozen=True)
class Rater:
    """A rater's parameters in a fit; where a rater is None, the fit did not know them.

    ``acting_intercept`` and ``acting_factor`` belong to ``Model.acting``; None if that model does not know the
    rater.
    """

    intercept: float = 0.0
    factor: float = 0.0
    kept: bool = True
    volume: bool = False
    correlated: bool = False
    acting_intercept: float | None = None
    acting_factor: float = 0.0

    def for_acting(self) -> "Rater | None":
        """The rater's parameters in the separate model of acting notes; None if it does not know the rater."""
        if self.acting_intercept is None:
            return None
        return Rater(self.acting_intercept, self.acting_factor, True, self.volume, self.correlated)


@dataclass(frozen=True)
class Model:
    """The result of a fit for the notes of a community; raters are stored separately (``Rater``).

    ``rho_*`` are ridges in pseudo-ratings (docs/develop/consensus.md); ``*_bound`` those of the augmented ratings,
    ``*_plain`` those of the current ratings (docs/develop/consensus.md); ``low_intercept``, ``low_factor`` and
    ``high_factor`` are the extremes over the kept raters. ``shift`` is added to a solved intercept, so that all
    regimes share one scale. ``mean_intercept`` is the intercept of a rater unknown to a warm model. ``min_counted``
    is how many ratings of kept raters a note needs before its score decides anything. ``separation`` is how well
    the axis separates the camps, 0.0 to 1.0 (``axis.AxisTest``). ``acting`` is the separate model of acting notes,
    if there is one; ``of_acting`` marks such a model. ``published``: whether the full regime shows only the notes
    that the published algorithm shows, not also those that both sides are for (docs/develop/consensus.md).
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
    separation: float = 1.0
    of_acting: bool = False
    published: bool = False
    acting: "Model | None" = None

    @classmethod
    def cold(cls, min_ratings: int = MIN_RATINGS, helpful_at: float = HELPFUL_AT) -> "Model":
        """``i = (C m + sum r) / (C + n) - 0.35``: the model with f = 0 and i_u = 0 (docs/develop/consensus.md)."""
        return cls(
            Regime.COLD,
            mu=COLD_MEAN,
            rho_intercept=COLD_WEIGHT,
            rho_factor=1.0,
            shift=COLD_MEAN - OFFSET,
            min_ratings=min_ratings,
            helpful_at=helpful_at,
        )

    def for_note(self, *, acting: bool) -> "Model":
        """The model that judges a note: ``Model.acting`` for acting notes, if there is one, otherwise this one."""
        return self.acting if acting and self.acting is not None else self

    def with_settings(self, min_ratings: int, helpful_at: float, *, published: bool = False) -> "Model":
        """The same fit with other settings of the community."""
        acting = None if self.acting is None else self.acting.with_settings(min_ratings, helpful_at)
        return replace(
            self, min_ratings=min_ratings, helpful_at=helpful_at, published=published, acting=acting
        )

    def to_json(self) -> dict[str, Any]:
        acting = None if self.acting is None else self.acting.to_json()
        return {**asdict(self), "regime": self.regime.value, "acting": acting}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> "Model":
        """Parse the JSON of ``to_json``. Raises ValueError naming a missing or unknown field."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(stored) - known):
            raise ValueError(f"model: unknown {', '.join(unknown)}")
        if missing := sorted({"regime", "mu", "rho_intercept", "rho_factor"} - set(stored)):
            raise ValueError(f"model: without {', '.join(missing)}")
        acting = stored.get("acting")
        return cls(
            **{
                **stored,
                "regime": Regime(stored["regime"]),
                "acting": None if acting is None else cls.from_json(acting),
            }
        )
