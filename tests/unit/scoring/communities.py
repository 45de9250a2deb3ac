"""Made-up communities: two camps of raters, or one crowd, from fixed seeds."""

from dataclasses import dataclass

import numpy as np

from app.core.scoring import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Community:
    """``note``, ``rater`` and ``value`` have one entry per rating; ``camp`` is -1 or 1 per rater."""

    note: IntArray
    rater: IntArray
    value: FloatArray
    camp: FloatArray

    @property
    def columns(self) -> tuple[IntArray, IntArray, FloatArray]:
        return self.note, self.rater, self.value


def community(
    raters: int, notes: int, ratings: int, *, seed: int = 0, lean: float = 0.28, noise: float = 0.3
) -> Community:
    """Notes of a quality and a lean; with ``lean`` 0 there are no camps."""
    dice = np.random.default_rng(seed)
    weight = np.outer(dice.pareto(2, notes) + 1, dice.pareto(2, raters) + 1).ravel()
    pair = np.sort(dice.choice(notes * raters, ratings, replace=False, p=weight / weight.sum()))
    note, rater = pair // raters, pair % raters
    camp = np.where(dice.random(raters) < 0.5, 1.0, -1.0)
    liked = dice.normal(0.5, 0.25, notes)[note] + lean * dice.normal(0, 1, notes)[note] * camp[rater]
    felt = liked + dice.normal(0, 0.1, raters)[rater] + dice.normal(0, noise, ratings)
    value = np.where(felt > 0.67, 1.0, np.where(felt < 0.33, 0.0, 0.5))
    return Community(note, rater, value, camp)


def loved_by(
    camp_raters: list[int], others: list[int], note: int
) -> tuple[list[int], list[int], list[float]]:
    """Columns of one more note: helpful to some raters, not helpful to the others."""
    raters = camp_raters + others
    return [note] * len(raters), raters, [1.0] * len(camp_raters) + [0.0] * len(others)


def with_note(
    base: Community, camp_raters: list[int], others: list[int], note: int
) -> tuple[IntArray, IntArray, FloatArray]:
    notes, raters, values = loved_by(camp_raters, others, note)
    return (
        np.concatenate([base.note, notes]),
        np.concatenate([base.rater, raters]),
        np.concatenate([base.value, values]),
    )
