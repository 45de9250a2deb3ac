"""How much reports weigh. Pure.

A report weighs the share of its reporter's earlier reports that were upheld, shrunk by four cases of which half were:
0.5 of someone unknown, 0.75 after four upheld ones, 0.25 after four rejected ones. Half, and not the community's own
share, so that a community that keeps most posts does not silence everyone who is new.

Two groups weigh at most one together: the reporters of one side of the axis that ratings taught, until the other side
reports the post too; and people who were first seen within the last day.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from app.core import texts
from app.core.texts import ngettext

PRIOR_CASES = 4
PRIOR_SHARE = 0.5
NEWCOMER_FOR = timedelta(days=1)
ALONE = 1.0
"""The most that reporters of one side, or newcomers, weigh together."""


def share(upheld: int, rejected: int) -> float:
    """The weight of a reporter, 0.0 to 1.0, from their resolved reports."""
    return (upheld + PRIOR_CASES * PRIOR_SHARE) / (upheld + rejected + PRIOR_CASES)


@dataclass(frozen=True)
class Alike:
    """Reports of one post in one category, by people of one side (-1, 1; 0 unknown) or newcomers.

    ``weight`` is their sum; ``right`` of the ``number`` are by people who were right more often than not.
    """

    category: str
    side: int
    is_newcomer: bool
    number: int
    weight: float
    right: int = 0


def weigh(reports: Iterable[Alike], *, alone: float = ALONE) -> float:
    """What the reports of one post weigh together. ``alone``: the most of one side without the other; of newcomers."""
    newcomers, sides = 0.0, {-1: 0.0, 0: 0.0, 1: 0.0}
    for alike in reports:
        if alike.is_newcomer:
            newcomers += alike.weight
        else:
            sides[alike.side] += alike.weight
    partisan = sides[-1] + sides[1]
    if not (sides[-1] and sides[1]):
        partisan = min(alone, partisan)
    return round(sides[0] + partisan + min(alone, newcomers), 6)


def urgency(reports: Iterable[Alike]) -> float:
    """What the reports of one post count in its place in the queue: one side alone, or newcomers, move nothing."""
    return weigh(reports, alone=0.0)


def has_both_sides(reports: Iterable[Alike]) -> bool:
    """Whether reports that weigh something come from both sides."""
    return {alike.side for alike in reports if alike.weight and not alike.is_newcomer} >= {-1, 1}


@dataclass(frozen=True)
class Tally:
    """How many reports a post has, and how many are by people who were right more often than not."""

    number: int = 0
    right: int = 0
    categories: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """In words: "3 reports, 2 of them by people whose reports were right before"."""
        if not self.right:
            return ngettext("%(num)s report", "%(num)s reports", self.number)
        if self.right == self.number:
            return ngettext(
                "%(num)s report, by a person whose reports were right before",
                "%(num)s reports, all by people whose reports were right before",
                self.number,
            )
        return ngettext(
            "%(num)s report, %(right)s of them by people whose reports were right before",
            "%(num)s reports, %(right)s of them by people whose reports were right before",
            self.number,
            right=texts.number(self.right),
        )


def tally(reports: Iterable[Alike]) -> Tally:
    """Count the reports of one post; its categories are in the order of their numbers."""
    number = right = 0
    by_category: dict[str, int] = {}
    for alike in reports:
        number += alike.number
        right += alike.right
        by_category[alike.category] = by_category.get(alike.category, 0) + alike.number
    ordered = sorted(by_category, key=lambda name: (-by_category[name], name))
    return Tally(number, right, tuple(ordered))
