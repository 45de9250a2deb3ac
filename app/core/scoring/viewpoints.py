"""The viewpoint strip: where the Yes and No about one post lie between the two camps (docs/develop/consensus.md).

It tells nobody's side: a mark stands for at least ``LEAST`` answers, at their mean position, rounded. Which camp is
drawn first is decided for each post by itself, so that no camp can be followed from post to post.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from app.core.scoring.model import Model, Rater

LEAST = 3
"""The fewest answers that a mark stands for. Fewer are not drawn: they would tell the side of a person whose answer
is known, and a single answer cannot be told from none.
"""
STEPS = 5
"""Positions are rounded to fifths of the way from the middle to the outermost rater of the camp."""

YES, NO = 1.0, 0.0


@dataclass(frozen=True)
class Mark:
    """Answers of one kind by one camp: how many, and where they lie, from 0.0 (the middle) to 1.0."""

    count: int
    position: float


@dataclass(frozen=True)
class Camp:
    """One camp's answers; None where fewer than ``LEAST`` people gave that answer."""

    yes: Mark | None
    no: Mark | None

    @property
    def leans(self) -> int:
        """1 if at least two thirds of what is drawn said yes, -1 if they said no, 0 if neither."""
        yes, no = self.yes.count if self.yes else 0, self.no.count if self.no else 0
        return int(yes > 0 and yes >= 2 * no) - int(no > 0 and no >= 2 * yes)


@dataclass(frozen=True)
class Strip:
    """Both camps; ``first`` is the one that liked it more."""

    first: Camp
    second: Camp

    @property
    def is_empty(self) -> bool:
        """Whether too few people answered to draw anything."""
        return self.first == self.second == Camp(None, None)


def strip(answers: Iterable[tuple[Rater | None, float]], model: Model) -> Strip | None:
    """Lay out the answers to one post; None if the model finds no camps.

    ``answers`` are raters and their values (0, 0.5, 1). Raters without a known viewpoint and *Not sure* lie nowhere.
    """
    if not model.axis:
        return None
    sides: dict[tuple[bool, float], list[float]] = {}
    for answered, value in answers:
        rater = answered.for_acting() if model.of_acting and answered is not None else answered
        if rater is not None and rater.kept and value in (YES, NO):
            sides.setdefault((rater.factor < 0, value), []).append(abs(rater.factor))
    camps = [
        Camp(*(_mark(sides.get((below, kind), []), outermost) for kind in (YES, NO)))
        for below, outermost in ((True, -model.low_factor), (False, model.high_factor))
    ]
    return Strip(*sorted(camps, key=_order))


def _mark(distances: list[float], outermost: float) -> Mark | None:
    if len(distances) < LEAST:
        return None
    mean = sum(sorted(distances)) / len(distances)
    return Mark(len(distances), round(STEPS * min(1.0, mean / outermost)) / STEPS if outermost > 0 else 1.0)


def _order(camp: Camp) -> tuple[float, ...]:
    """Sort key: the camp with the larger share of yes first, then the one with more answers."""
    yes, no = camp.yes.count if camp.yes else 0, camp.no.count if camp.no else 0
    share = yes / (yes + no) if yes + no else 0.5
    marks = (mark.position if mark else 0.0 for mark in (camp.yes, camp.no))
    return (-share, -(yes + no), *marks)
