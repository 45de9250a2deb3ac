"""The rows of a community's moderation statistics over a period: one entry per bucket."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core.periods import Period


@dataclass(frozen=True)
class Volume:
    """Submissions of one bucket: acted on at once, sent to review, ignored, and not scored (yet).

    ``partly_scored``: those of them that no classifier could read for at least one of the active categories.
    """

    submitted: int = 0
    acted: int = 0
    reviewed: int = 0
    ignored: int = 0
    unscored: int = 0
    partly_scored: int = 0


@dataclass(frozen=True)
class Delay:
    """Seconds from submission to the decision of a review, for decisions of one bucket."""

    decided: int = 0
    median: int | None = None
    p90: int | None = None


@dataclass(frozen=True)
class Backlog:
    """Reviews that began and ended in one bucket, and how many were open at its end."""

    opened: int = 0
    closed: int = 0
    waiting: int = 0


@dataclass(frozen=True)
class Activity:
    """Ratings given in one bucket, and the number of raters."""

    ratings: int = 0
    raters: int = 0


@dataclass(frozen=True)
class Agreement:
    """Agreement of one bucket.

    ``sided``: ratings on a side of a note that has its status by now; ``borne_out``: those that agree with the
    status. ``reviews``: reviews decided by raters; ``split``: those that were split.
    """

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
    """Actions of one category, classifier or channel: proposed in the period, and overturned since."""

    name: str
    acted: int
    overturned: int

    @property
    def share(self) -> float:
        return self.overturned / self.acted


@dataclass(frozen=True)
class Decisions:
    """The reviews that one moderator decided in the period, and how many of them were reversed since.

    ``median``: seconds from submission to the decision. ``name`` is empty for an erased account.
    """

    name: str
    decided: int
    median: int | None
    reversed: int

    @property
    def share(self) -> float:
        return self.reversed / self.decided


@dataclass(frozen=True)
class Target:
    """Target times in seconds: the middle one of the period's actions, the shortest and the longest."""

    seconds: int
    shortest: int
    longest: int


@dataclass(frozen=True)
class Totals:
    """The values for a whole period. ``waiting``: the reviews that were open at its end."""

    submitted: int
    delay: Delay
    waiting: int
    ratings: int
    raters: int
    categories: Sequence[Overturned]
    classifiers: Sequence[Overturned]

    @property
    def actions(self) -> int:
        return sum(row.acted for row in self.categories)

    @property
    def overturned(self) -> int:
        return sum(row.overturned for row in self.categories)


@dataclass(frozen=True)
class Trends:
    """One entry per bucket of the period, and the values for the whole period and the one before.

    ``overturned``: of the actions of each bucket, the share that was overturned since; None without any.
    ``moderators``: None unless the community shows figures about moderators. ``target``: None without a category that
    asks people.
    """

    period: Period
    volume: Sequence[Volume]
    delays: Sequence[Delay]
    delay: Delay
    backlog: Sequence[Backlog]
    activity: Sequence[Activity]
    raters: int
    agreement: Sequence[Agreement]
    overturned: Sequence[float | None]
    categories: Sequence[Overturned]
    classifiers: Sequence[Overturned]
    channels: Sequence[Overturned]
    moderators: Sequence[Decisions] | None
    target: Target | None
    before: Totals

    @property
    def totals(self) -> Totals:
        """The values for the whole period."""
        return Totals(
            submitted=sum(row.submitted for row in self.volume),
            delay=self.delay,
            waiting=self.backlog[-1].waiting,
            ratings=sum(row.ratings for row in self.activity),
            raters=self.raters,
            categories=self.categories,
            classifiers=self.classifiers,
        )

    @property
    def is_empty(self) -> bool:
        """Whether nothing happened and no review was open."""
        return not (
            any(row.submitted for row in self.volume)
            or any(row.decided for row in self.delays)
            or any(row.opened or row.closed or row.waiting for row in self.backlog)
            or any(row.ratings for row in self.activity)
            or self.categories
        )
