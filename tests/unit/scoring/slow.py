"""The formulas of docs/develop/consensus.md written down a second time: dense, slow, in loops, optimised by L-BFGS.

It uses nothing of ``app.core.scoring``.
"""

from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

Array = npt.NDArray[np.float64]
LI, LF = 0.15, 0.03
HELPFUL, NOT_HELPFUL, MORE = (
    "CURRENTLY_RATED_HELPFUL",
    "CURRENTLY_RATED_NOT_HELPFUL",
    "NEEDS_MORE_RATINGS",
)


@dataclass
class Solution:
    """Parameters by place; ``loss`` is the objective times the number of ratings."""

    mu: float
    note_intercept: Array
    note_factor: Array
    rater_intercept: Array
    rater_factor: Array
    loss: float


@dataclass
class Problem:
    """Places of notes and raters, values, and the ridges."""

    note: npt.NDArray[np.int64]
    rater: npt.NDArray[np.int64]
    value: Array
    notes: int
    raters: int
    density_floor: float = 0.0

    @property
    def per_note(self) -> float:
        return max(len(self.value) / self.notes, self.density_floor)

    @property
    def per_rater(self) -> float:
        return len(self.value) / self.raters

    def unpack(self, x: Array) -> tuple[float, Array, Array, Array, Array]:
        m, u = self.notes, self.raters
        return x[0], x[1 : 1 + m], x[1 + m : 1 + 2 * m], x[1 + 2 * m : 1 + 2 * m + u], x[1 + 2 * m + u :]

    def loss(self, x: Array) -> tuple[float, Array]:
        """Objective and gradient."""
        mu, note_i, note_f, rater_i, rater_f = self.unpack(x)
        n, u, count = self.note, self.rater, len(self.value)
        e = self.value - mu - rater_i[u] - note_i[n] - rater_f[u] * note_f[n]
        value = e @ e + LI * count * mu**2
        value += self.per_rater * (LI * rater_i @ rater_i + LF * rater_f @ rater_f)
        value += self.per_note * (LI * note_i @ note_i + LF * note_f @ note_f)
        back = np.concatenate(
            [
                [-2 * e.sum() + 2 * LI * count * mu],
                -2 * np.bincount(n, e, self.notes) + 2 * LI * self.per_note * note_i,
                -2 * np.bincount(n, e * rater_f[u], self.notes) + 2 * LF * self.per_note * note_f,
                -2 * np.bincount(u, e, self.raters) + 2 * LI * self.per_rater * rater_i,
                -2 * np.bincount(u, e * note_f[n], self.raters) + 2 * LF * self.per_rater * rater_f,
            ]
        )
        return float(value), back

    def solve(self, seeds: int = 2) -> Solution:
        """The best of a few long L-BFGS runs from random starts."""
        found = []
        for seed in range(seeds):
            start = np.random.default_rng(seed).normal(0, 0.3, 1 + 2 * (self.notes + self.raters))
            found.append(
                minimize(
                    self.loss,
                    start,
                    jac=True,
                    method="L-BFGS-B",
                    options={"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-6, "maxcor": 20},
                )
            )
        best = min(found, key=lambda result: float(result.fun))
        mu, note_i, note_f, rater_i, rater_f = self.unpack(best.x)
        return Solution(float(mu), note_i, note_f, rater_i, rater_f, float(best.fun))


def problem(rows: list[tuple[int, int, float]]) -> tuple[Problem, list[int], list[int]]:
    notes, raters = sorted({n for n, _, _ in rows}), sorted({u for _, u, _ in rows})
    place_n, place_u = {n: k for k, n in enumerate(notes)}, {u: k for k, u in enumerate(raters)}
    return (
        Problem(
            np.array([place_n[n] for n, _, _ in rows]),
            np.array([place_u[u] for _, u, _ in rows]),
            np.array([r for _, _, r in rows]),
            len(notes),
            len(raters),
        ),
        notes,
        raters,
    )


def often(rows: list[tuple[int, int, float]], column: int, least: int) -> list[tuple[int, int, float]]:
    count: dict[float, int] = defaultdict(int)
    for row in rows:
        count[row[column]] += 1
    return [row for row in rows if count[row[column]] >= least]


def note_step(rows: list[tuple[float, float]], r_n: float) -> tuple[float, float]:
    """One note from ``(r - mu - i_u, f_u)``, by least squares on the augmented system."""
    design = [[1.0, f] for _, f in rows] + [[np.sqrt(LI * r_n), 0.0], [0.0, np.sqrt(LF * r_n)]]
    target = [y for y, _ in rows] + [0.0, 0.0]
    solved = np.linalg.lstsq(np.array(design), np.array(target), rcond=None)[0]
    return float(solved[0]), float(solved[1])


def full(rows: list[tuple[int, int, float]]) -> dict[int, tuple[float, float, str]]:
    """Note id to intercept, factor and status: both rounds and every rule of 1.5 that needs no tags or volumes."""
    first_rows = often(often(often(rows, 0, 5), 1, 10), 0, 5)
    model, notes, _ = problem(first_rows)
    first = model.solve()
    provisional = {}
    for place, note in enumerate(notes):
        i, f = first.note_intercept[place], first.note_factor[place]
        if i >= 0.40:
            provisional[note] = 1.0
        elif i <= -0.05 - 0.8 * abs(f):
            provisional[note] = 0.0
    fitted = {u for _, u, _ in first_rows}
    valid: dict[int, int] = defaultdict(int)
    agreed: dict[int, int] = defaultdict(int)
    for n, u, r in rows:
        if n in provisional and r != 0.5:
            valid[u] += 1
            agreed[u] += r == provisional[n]
    kept = {u for u in fitted if valid[u] and agreed[u] / valid[u] >= 0.66}
    second_rows = [row for row in first_rows if row[1] in kept]
    model, _, raters = problem(second_rows)
    second = model.solve()
    r_n = model.per_note
    i_u = dict(zip(raters, second.rater_intercept.tolist(), strict=True))
    sign = -1.0 if sum(second.rater_factor < 0) < sum(second.rater_factor > 0) else 1.0
    f_u = dict(zip(raters, (sign * second.rater_factor).tolist(), strict=True))
    final = often([row for row in rows if row[1] in kept], 0, 5)
    by_note: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for n, u, r in final:
        by_note[n].append((u, r))
    current = len(final) / len(by_note)
    result = {}
    for n, given in by_note.items():
        y = [(r - second.mu - i_u[u], f_u[u]) for u, r in given]
        i, f = note_step(y, r_n)
        bound = note_step(y, current)[0]
        for extreme in (min(f_u.values()), 0.0, max(f_u.values())):
            more = [*y, (1.0 - second.mu - min(i_u.values()), extreme)]
            bound = max(bound, note_step(more, current + 1)[0])
        sides: tuple[list[float], list[float]] = ([], [])
        for u, r in given:
            sides[f_u[u] >= 0].append(r)
        result[n] = (i, f, _status(i, f, bound, sides, len(given)))
    return result


def _status(i: float, f: float, bound: float, sides: tuple[list[float], list[float]], count: int) -> str:
    status = MORE
    if i >= 0.40:
        status = HELPFUL
    if i <= -0.05 - 0.8 * abs(f) or bound < -0.04:
        status = NOT_HELPFUL
    means = [Fraction(sum(side)) / len(side) if side else Fraction(1) for side in sides]
    if (
        min(len(side) for side in sides) >= 3
        and max(means) <= Fraction(2, 5)
        and sum(means) <= Fraction(3, 5)
    ):
        status = NOT_HELPFUL
    if status == HELPFUL and abs(f) > 0.5:
        status = MORE
    net = min(side.count(1.0) - side.count(0.0) for side in sides)
    if status == HELPFUL and (net < 4 or (net < 10 and net / count < 0.05)):
        status = MORE
    return status
