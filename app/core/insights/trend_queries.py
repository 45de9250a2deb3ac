"""The raw sums behind the statistics: one query each over a range of time, by the quarter of an hour (slot)."""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.insights.insights import BORNE_OUT, TOOK_A_SIDE
from app.core.listed import is_one_of
from app.core.models import (
    Action,
    Category,
    Decision,
    HistoryEntry,
    Note,
    Rating,
    Request,
    Score,
    ThresholdSet,
)
from app.core.models.notes import judged_by_itself
from app.core.periods import moment_of, slot_of_column, unix
from app.core.vocabulary import ActionState, ActionTier, HelpfulnessLevel, RequestStatus

SPLIT = 3
"""A review is split when at least one in this many of its decided answers is on the smaller side."""
RECORDED_WITHIN = timedelta(minutes=10)
"""A change is stamped at most this long before its history entry is: it may wait for other writers in between."""

_OWN = sa.and_(Action.restores_id.is_(None), Action.action_tier.is_not(None))
_CATEGORY = sa.func.coalesce(Action.decided_category, Action.category)
Rows = dict[int, tuple[int, ...]]


VOLUME = ("submitted", "acted", "reviewed", "ignored", "partly_scored")
COUNTS = (
    *VOLUME,
    "opened",
    "closed",
    "ratings",
    "sided",
    "borne_out",
    "reviews",
    "split",
)


@dataclass(frozen=True)
class Slots:
    """The slots from ``first`` up to ``end``."""

    first: int
    end: int

    @property
    def since(self) -> datetime:
        return moment_of(self.first)

    @property
    def until(self) -> datetime:
        return moment_of(self.end)


class TrendQueries:
    """The sums over one community by slot. None of them counts test posts (docs/run/first-hour.md).

    ``is_short``: the range is short beside the community's life, so actions are found by their history entries.
    """

    def __init__(
        self, session: Session, community_id: uuid.UUID, slots: Slots, *, is_short: bool = True
    ) -> None:
        self._session = session
        self._community_id = community_id
        self._since, self._until = slots.since, slots.until
        self._is_short = is_short
        self._tests = sa.select(Request.id).where(Request.community_id == community_id, Request.is_test)

    def counts(self) -> Iterator[tuple[int, dict[str, int]]]:
        """Slot and some of ``COUNTS``; each slot may come several times, with other counts."""
        for rows, names in (
            (self.volume(), VOLUME),
            (self.opened(), ("opened",)),
            (self.closed(), ("closed",)),
            (self.ratings(), ("ratings",)),
            (self.sides(), ("sided", "borne_out")),
            (self.splits(), ("reviews", "split")),
        ):
            for slot, values in rows.items():
                yield slot, dict(zip(names, values, strict=True))

    def volume(self) -> Rows:
        """By slot: submitted, acted, reviewed, ignored, and scored, but not for every active category."""
        tier = (
            sa.select(sa.func.min(Action.action_tier))
            .where(Action.request_id == Request.id, _OWN)
            .correlate(Request)
            .scalar_subquery()
        )
        posts = (
            sa.select(
                slot_of_column(Request.requested_at).label("slot"),
                tier.label("tier"),
                Request.status,
                self._is_partly_scored().label("is_partly_scored"),
            )
            .where(
                Request.community_id == self._community_id,
                Request.withdrawn_at.is_(None),
                Request.is_test.is_(False),
                judged_by_itself(),
                self._holds(Request.requested_at),
            )
            .subquery()
        )
        scored = posts.c.status == RequestStatus.COMPLETED
        return self._rows(
            sa.select(
                posts.c.slot,
                sa.func.count(),
                sa.func.count().filter(posts.c.tier == ActionTier.IMMEDIATE),
                sa.func.count().filter(posts.c.tier == ActionTier.CONSENSUS),
                sa.func.count().filter(posts.c.tier.is_(None), scored),
                sa.func.count().filter(posts.c.is_partly_scored),
            ).group_by(posts.c.slot)
        )

    def _is_partly_scored(self) -> sa.ColumnElement[bool]:
        """Whether a request has scores, but none in one of the categories that are active now."""
        in_force = (
            sa.select(ThresholdSet.id)
            .where(ThresholdSet.community_id == self._community_id)
            .order_by(ThresholdSet.version.desc())
            .limit(1)
            .scalar_subquery()
        )
        scores = sa.select(Score.id).where(Score.request_id == Request.id)
        is_missing = sa.exists().where(
            Category.threshold_set_id == in_force,
            Category.enabled,
            sa.not_(scores.where(Score.category == Category.name).correlate(Request, Category).exists()),
        )
        return sa.and_(scores.correlate(Request).exists(), is_missing.correlate(Request))

    def waits(self) -> Iterator[tuple[int, int]]:
        """Slot and seconds from submission to decision, for each review."""
        seconds = unix(Decision.decided_at) - unix(Request.requested_at)
        rows = self._session.execute(
            sa.select(slot_of_column(Decision.decided_at), seconds)
            .select_from(Decision)
            .join(Request, Request.id == Decision.request_id)
            .where(
                Decision.community_id == self._community_id,
                Decision.tier == 2,
                Request.is_test.is_(False),
                judged_by_itself(),
                self._holds(Decision.decided_at),
            )
        )
        return ((int(slot), int(value)) for slot, value in rows)

    def opened(self) -> Rows:
        """By slot: the reviews that began."""
        return self._reviews(Action.created_at)

    def closed(self) -> Rows:
        """By slot: the reviews that ended."""
        return self._reviews(_closed_at())

    def open_before(self, moment: datetime) -> int:
        """The reviews that were open at this moment, of those that began since the range does."""
        closed = _closed_at()
        statement = sa.select(sa.func.count()).where(
            self._consensus(),
            Action.created_at < moment,
            sa.or_(closed.is_(None), closed >= moment),
        )
        return self._session.scalar(statement) or 0

    def _reviews(self, moment: Any) -> Rows:
        slot = slot_of_column(moment)
        return self._rows(
            sa.select(slot, sa.func.count())
            .where(self._consensus(), self._changed(), self._holds(moment))
            .group_by(slot)
        )

    def _consensus(self) -> sa.ColumnElement[bool]:
        return sa.and_(
            Action.community_id == self._community_id,
            _OWN,
            Action.action_tier == ActionTier.CONSENSUS,
            Action.request_id.not_in(self._tests),
        )

    def ratings(self) -> Rows:
        """By slot: the ratings given."""
        slot = slot_of_column(Rating.created_at)
        return self._rows(
            sa.select(slot, sa.func.count())
            .where(Rating.community_id == self._community_id, self._holds(Rating.created_at))
            .group_by(slot)
        )

    def sides(self) -> Rows:
        """By slot: the ratings on a side of a note that has its status by now, and those that agree with it."""
        slot = slot_of_column(Rating.created_at)
        return self._rows(
            sa.select(slot, sa.func.count(), sa.func.count().filter(BORNE_OUT))
            .select_from(Rating)
            .join(Note, Note.id == Rating.note_id)
            .where(
                Rating.community_id == self._community_id,
                self._holds(Rating.created_at),
                Rating.note_version == Note.version,
                Note.deleted_at.is_(None),
                sa.or_(Note.request_id.is_(None), Note.request_id.not_in(self._tests)),
                TOOK_A_SIDE,
            )
            .group_by(slot)
        )

    def splits(self) -> Rows:
        """By slot: the reviews that raters decided, and those that were split."""
        decided = slot_of_column(Decision.decided_at).label("slot")
        yes = sa.func.count().filter(Rating.helpfulness_level == HelpfulnessLevel.HELPFUL).label("yes")
        no = sa.func.count().filter(Rating.helpfulness_level == HelpfulnessLevel.NOT_HELPFUL).label("no")
        sides = (
            sa.select(decided, yes, no)
            .select_from(Decision)
            .join(Action, Action.id == Decision.action_id)
            .join(Rating, Rating.note_id == Action.note_id)
            .where(
                Decision.community_id == self._community_id,
                Decision.tier == 2,
                Decision.request_id.not_in(self._tests),
                Decision.request_id == Action.request_id,  # others of the same post have it too
                self._holds(Decision.decided_at),
            )
            .group_by(Decision.id, decided)
            .subquery()
        )
        smaller = sa.case((sides.c.yes < sides.c.no, sides.c.yes), else_=sides.c.no)
        both = sides.c.yes + sides.c.no
        return self._rows(
            sa.select(sides.c.slot, sa.func.count(), sa.func.count().filter(smaller * SPLIT >= both))
            .where(both > 0)
            .group_by(sides.c.slot)
        )

    def categories(self) -> list[tuple[int, str, int, int]]:
        """Slot, category, actions, and how many of them were overturned."""
        slot = slot_of_column(Action.proposed_at)
        return self._outcomes(
            sa.select(slot, _CATEGORY, sa.func.count(), sa.func.count(Action.overturned_at))
            .where(self._acted(), _CATEGORY.is_not(None))
            .group_by(slot, _CATEGORY)
        )

    def classifiers(self) -> list[tuple[int, str, int, int]]:
        """The same by the classifier with the highest score in the category that led to the action."""
        place = sa.func.row_number().over(
            partition_by=Action.id, order_by=(Score.score.desc(), Score.classifier, Score.classifier_version)
        )
        ranked = (
            sa.select(
                slot_of_column(Action.proposed_at).label("slot"),
                Score.classifier,
                Action.overturned_at,
                place.label("place"),
            )
            .select_from(Action)
            .join(
                Score,
                sa.and_(
                    Score.request_id == Action.request_id,
                    Score.category == Action.category,
                    ~Score.is_observed,
                ),
            )
            .where(self._acted())
            .subquery()
        )
        return self._outcomes(
            sa.select(
                ranked.c.slot, ranked.c.classifier, sa.func.count(), sa.func.count(ranked.c.overturned_at)
            )
            .where(ranked.c.place == 1)
            .group_by(ranked.c.slot, ranked.c.classifier)
        )

    def _acted(self) -> sa.ColumnElement[bool]:
        return sa.and_(
            Action.community_id == self._community_id,
            _OWN,
            Action.request_id.not_in(self._tests),
            self._changed(),
            self._holds(Action.proposed_at),
        )

    def _changed(self) -> sa.ColumnElement[bool]:
        """In a short range: only actions with an entry in it. No index has the moments of all actions."""
        return is_one_of(self._session, Action.id, self._with_entry) if self._is_short else sa.true()

    @cached_property
    def _with_entry(self) -> Sequence[uuid.UUID]:
        """The actions with an entry in the range. Found first: beside a subquery PostgreSQL may read all actions.

        The type is a parameter: a prepared statement would read all entries of an index of actions by number else.
        """
        return self._session.scalars(
            sa.select(HistoryEntry.object_id)
            .where(
                HistoryEntry.community_id == self._community_id,
                HistoryEntry.object_type == "action",
                HistoryEntry.at >= self._since,
                HistoryEntry.at < self._until + RECORDED_WITHIN,
            )
            .distinct()
        ).all()

    def _holds(self, column: Any) -> sa.ColumnElement[bool]:
        return sa.and_(column >= self._since, column < self._until)

    def _rows(self, statement: Any) -> Rows:
        return {int(slot): tuple(map(int, counts)) for slot, *counts in self._session.execute(statement)}

    def _outcomes(self, statement: Any) -> list[tuple[int, str, int, int]]:
        return [
            (int(slot), name, acted, over) for slot, name, acted, over in self._session.execute(statement)
        ]


def _closed_at() -> Any:
    closed = sa.case(
        (Action.action_state == ActionState.UNDER_REVIEW, None),
        else_=sa.func.coalesce(Action.proposed_at, Action.applied_at, Action.dismissed_at),
    )
    return sa.type_coerce(closed, Action.created_at.type)
