"""What is told of a community's moderation over a period: one entry for each part of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.periods import Period


@dataclass(frozen=True)
class Volume:
    """Of what was submitted in one part: acted on at once, sent to review, ignored, and not scored (yet)."""

    submitted: int = 0
    acted: int = 0
    reviewed: int = 0
    ignored: int = 0
    unscored: int = 0


@dataclass(frozen=True)
class Delay:
    """From submission to the decision of a review, in seconds, for what was decided in one part."""

    decided: int = 0
    median: int | None = None
    p90: int | None = None


@dataclass(frozen=True)
class Backlog:
    """Reviews that began and ended in one part, and how many waited at its end."""

    opened: int = 0
    closed: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class Activity:
    """Ratings given in one part, and by how many people."""

    ratings: int = 0
    raters: int = 0


@dataclass(frozen=True)
class Agreement:
    """Ratings of one part that took a side on a note that has its status by now, and those that the status bore out;
    reviews that raters decided in it, and those that were split."""

    sided: int = 0
    borne_out: int = 0
    reviews: int = 0
    split: int = 0

    @property
    def share(self) -> float | None:
        return self.borne_out / self.sided if self.sided else None

    @property
    def split_share(self) -> float | None:
        return self.split / self.reviews if self.reviews else None


@dataclass(frozen=True)
class Overturned:
    """Actions of one category, or that one classifier led to: proposed in the period, and overturned since."""

    name: str
    acted: int
    overturned: int

    @property
    def share(self) -> float:
        return self.overturned / self.acted


@dataclass(frozen=True)
class Trends:
    """One entry for each part of the period, and what the whole comes to."""

    period: Period
    volume: Sequence[Volume]
    delays: Sequence[Delay]
    delay: Delay
    backlog: Sequence[Backlog]
    activity: Sequence[Activity]
    raters: int
    agreement: Sequence[Agreement]
    categories: Sequence[Overturned]
    classifiers: Sequence[Overturned]

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened and nothing waited."""
        return not (
            any(one.submitted for one in self.volume)
            or any(one.decided for one in self.delays)
            or any(one.opened or one.closed or one.waiting for one in self.backlog)
            or any(one.ratings for one in self.activity)
            or self.categories
        )
