"""The sums of a note's ratings: enough to compute its score without the ratings (docs/develop/consensus.md)."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from app.core.scoring.arrays import FloatArray
from app.core.scoring.model import Model, Rater
from app.core.scoring.verdict import Regime

ANY = slice(0, 3)
"""Ratings of any kind: the number of 0, 0.5 and 1."""
SOLVED = slice(3, 8)
"""Over the ratings that count: n, S_f, S_ff, S_y, S_yf, with y = r - mu - i_u."""
NEGATIVE = slice(8, 11)
POSITIVE = slice(11, 14)
"""Per side: the number of 0, 0.5 and 1 among known raters."""
VOLUME = slice(14, 19)
CORRELATED = slice(19, 24)
"""The part of ``SOLVED`` from high-volume raters, and from correlated ones."""
WARM = slice(24, 29)
"""``SOLVED`` under ``Model.acting``, for ordinary notes in the full regime: what the warm model says of them."""
WIDTH = 29


@dataclass(frozen=True)
class Counts:
    """The number of raters per rating level."""

    not_helpful: int
    somewhat_helpful: int
    helpful: int

    @property
    def total(self) -> int:
        return self.not_helpful + self.somewhat_helpful + self.helpful

    @property
    def net(self) -> int:
        """Helpful minus not helpful."""
        return self.helpful - self.not_helpful


@dataclass(frozen=True)
class Sides:
    """The two viewpoints by the sign of the raters' factor; raters without a known viewpoint are on neither side."""

    negative: Counts
    positive: Counts


@dataclass(frozen=True)
class Sums:
    """One note's sums under one model. ``row`` has ``WIDTH`` numbers, laid out by the slices above."""

    row: tuple[float, ...]

    @classmethod
    def zero(cls) -> Self:
        return cls((0.0,) * WIDTH)

    @classmethod
    def from_list(cls, stored: "list[float] | FloatArray") -> Self:
        """Parse the list of ``to_list``. Raises ValueError for a wrong length."""
        if len(stored) != WIDTH:
            raise ValueError(f"sums: {len(stored)} numbers, not {WIDTH}")
        return cls(tuple(float(number) for number in stored))

    def to_list(self) -> list[float]:
        return list(self.row)

    def plus(self, model: Model, rater: Rater | None, value: float) -> Self:
        """The sums with one more rating; ``value`` is 0, 0.5 or 1."""
        added = _contribution(model, rater, value)
        return type(self)(tuple([a + b for a, b in zip(self.row, added, strict=True)]))

    def minus(self, model: Model, rater: Rater | None, value: float) -> Self:
        """The sums without one of its ratings. Raises ValueError if there is no such rating."""
        removed = _contribution(model, rater, value)
        row = tuple([a - b for a, b in zip(self.row, removed, strict=True)])
        if min(row[ANY]) < 0 or row[SOLVED.start] < 0:
            raise ValueError(f"value: the note has no rating of {value} to take away")
        return type(self)(row) if sum(row[ANY]) else self.zero()

    @property
    def counts(self) -> Counts:
        """Ratings of any kind, whether or not they count for the score."""
        return _counts(self.row[ANY])

    @property
    def counted(self) -> int:
        """The number of ratings that count for the score."""
        return round(self.row[SOLVED.start])

    @property
    def sides(self) -> Sides:
        return Sides(_counts(self.row[NEGATIVE]), _counts(self.row[POSITIVE]))

    def as_array(self) -> FloatArray:
        return np.array([self.row])


def _counts(part: tuple[float, ...]) -> Counts:
    return Counts(round(part[0]), round(part[1]), round(part[2]))


def _contribution(model: Model, rater: Rater | None, value: float) -> list[float]:
    if value not in (0.0, 0.5, 1.0):
        raise ValueError("value: must be 0, 0.5 or 1")
    if model.of_acting and rater is not None:
        rater = rater.for_acting()
    row = [0.0] * WIDTH
    level = int(2 * value)
    row[level] = 1.0
    if model.acting is not None:
        row[WARM] = _contribution(model.acting, rater, value)[SOLVED]
    known = rater is not None and rater.kept
    if model.regime is Regime.FULL and not known:
        return row
    intercept = factor = 0.0
    if known and rater is not None and model.regime is not Regime.COLD:
        intercept, factor = rater.intercept, rater.factor if model.axis else 0.0
    elif model.regime is Regime.WARM:
        intercept = model.mean_intercept
    y = value - model.mu - intercept
    solved = [1.0, factor, factor * factor, y, y * factor]
    row[SOLVED] = solved
    if known and model.axis:
        row[(NEGATIVE if factor < 0 else POSITIVE).start + level] = 1.0
    if known and rater is not None and rater.volume:
        row[VOLUME] = solved
    if known and rater is not None and rater.correlated:
        row[CORRELATED] = solved
    return row
