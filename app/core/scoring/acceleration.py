"""Fewer passes of a large fit: Anderson acceleration of the alternating half-steps (Anderson 1965; Walker, Ni 2011).

Each pass of the fit leads from the raters' parameters x to new ones, g(x), and the solution is where the two are the
same. Plain passes leave about a third of the distance each time. Here the next x is the combination of the last
three g(x) whose combined step, g(x) - x, is shortest: that leaves about a fifth.
"""

import numpy as np

from app.core.scoring.blocks import FloatArray

REMEMBERED = 2
"""Earlier passes that are combined with the last one. More of them save no further pass."""
SINGULAR = 1e-8
"""Steps in almost the same direction, by the determinant of their cosines, are not combined: rounding would decide."""


class Acceleration:
    """The last passes. ``next`` is called once a pass."""

    def __init__(self) -> None:
        self._began: list[FloatArray] = []
        self._steps: list[FloatArray] = []

    def next(self, began: FloatArray, ended: FloatArray) -> FloatArray:
        """Where the next pass begins, given where this one began and where it ended."""
        step = ended - began
        better = ended
        if self._steps:
            moves = [began - earlier for earlier in self._began]
            turns = [step - earlier for earlier in self._steps]
            for share, move, turn in zip(self._shares(turns, step), moves, turns, strict=True):
                better = better - share * (move + turn)
        self._began = [*self._began, began][-REMEMBERED:]
        self._steps = [*self._steps, step][-REMEMBERED:]
        return better

    @staticmethod
    def _shares(turns: list[FloatArray], step: FloatArray) -> FloatArray:
        """The combination of ``turns`` that comes closest to ``step``: least squares by the normal equations."""
        gram = np.array([[one @ other for other in turns] for one in turns])
        lengths = np.sqrt(np.diag(gram))
        if not lengths.all():
            return np.zeros(len(turns))
        scaled = gram / np.outer(lengths, lengths)
        if np.linalg.det(scaled) < SINGULAR:
            return np.zeros(len(turns))
        shares: FloatArray = (
            np.linalg.solve(scaled, np.array([turn @ step for turn in turns]) / lengths) / lengths
        )
        return shares

    def forget(self) -> None:
        """Forget earlier passes, because a combination led away from the solution."""
        self._began, self._steps = [], []
