"""The raw sums behind the statistics: one query each over a span of time, by the part of the span."""

import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any, Protocol

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
from app.core.periods import unix
from app.core.vocabulary import ActionState, ActionTier, HelpfulnessLevel, RequestStatus

SPLIT = 3
"""A review is split when at least one in this many of its decided answers is on the smaller side."""
RECORDED_WITHIN = timedelta(minutes=10)
"""A change is stamped at most this long before its history entry is: it may wait for other writers in between."""

_OWN = sa.and_(Action.restores_id.is_(None), Action.action_tier.is_not(None))
_CATEGORY = sa.func.coalesce(Action.decided_category, Action.category)
Rows = dict[int, tuple[int, ...]]


class Span(Protocol):
    """A range of time and its parts: days or weeks of a period, or slots."""

    @property
    def since(self) -> datetime: ...

    @property
    def until(self) -> datetime: ...

    def part(self, column: Any) -> sa.ColumnElement[int]: ...


class TrendQueries:
    """The sums over one community between two moments. None of them counts test posts (docs/run/first-hour.md).

    ``is_short``: the range is short beside the community's life, so actions are found by their history entries.
    """

    def __init__(
        self,
        session: Session,
        community_id: uuid.UUID,
        span: Span,
        since: datetime,
        until: datetime,
        *,
        is_short: bool = False,
    ) -> None:
        self._session = session
        self._community_id = community_id
        self._span = span
        self._since, self._until = since, until
        self._is_short = is_short
        self._tests = sa.select(Request.id).where(Request.community_id == community_id, Request.is_test)

    def volume(self) -> Rows:
        """By part: submitted, acted, reviewed, ignored, and scored, but not for every active category."""
        tier = (
            sa.select(sa.func.min(Action.action_tier))
            .where(Action.request_id == Request.id, _OWN)
            .correlate(Request)
            .scalar_subquery()
        )
        posts = (
            sa.select(
                self._span.part(Request.requested_at).label("part"),
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
                posts.c.part,
                sa.func.count(),
                sa.func.count().filter(posts.c.tier == ActionTier.IMMEDIATE),
                sa.func.count().filter(posts.c.tier == ActionTier.CONSENSUS),
                sa.func.count().filter(posts.c.tier.is_(None), scored),
                sa.func.count().filter(posts.c.is_partly_scored),
            ).group_by(posts.c.part)
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
        """Part and seconds from submission to decision, for each review."""
        seconds = unix(Decision.decided_at) - unix(Request.requested_at)
        rows = self._session.execute(
            sa.select(self._span.part(Decision.decided_at), seconds)
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
        return ((int(part), int(value)) for part, value in rows)

    def opened(self) -> Rows:
        """By part: the reviews that began."""
        return self._reviews(Action.created_at)

    def closed(self) -> Rows:
        """By part: the reviews that ended."""
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
        part = self._span.part(moment)
        return self._rows(
            sa.select(part, sa.func.count())
            .where(self._consensus(), self._changed(), self._holds(moment))
            .group_by(part)
        )

    def _consensus(self) -> sa.ColumnElement[bool]:
        return sa.and_(
            Action.community_id == self._community_id,
            _OWN,
            Action.action_tier == ActionTier.CONSENSUS,
            Action.request_id.not_in(self._tests),
        )

    def ratings(self) -> Rows:
        """By part: the ratings given."""
        part = self._span.part(Rating.created_at)
        return self._rows(
            sa.select(part, sa.func.count())
            .where(Rating.community_id == self._community_id, self._holds(Rating.created_at))
            .group_by(part)
        )

    def sides(self) -> Rows:
        """By part: the ratings on a side of a note that has its status by now, and those that agree with it."""
        part = self._span.part(Rating.created_at)
        return self._rows(
            sa.select(part, sa.func.count(), sa.func.count().filter(BORNE_OUT))
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
            .group_by(part)
        )

    def splits(self) -> Rows:
        """By part: the reviews that raters decided, and those that were split."""
        decided = self._span.part(Decision.decided_at).label("part")
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
            sa.select(sides.c.part, sa.func.count(), sa.func.count().filter(smaller * SPLIT >= both))
            .where(both > 0)
            .group_by(sides.c.part)
        )

    def categories(self) -> list[tuple[int, str, int, int]]:
        """Part, category, actions, and how many of them were overturned."""
        part = self._span.part(Action.proposed_at)
        return self._outcomes(
            sa.select(part, _CATEGORY, sa.func.count(), sa.func.count(Action.overturned_at))
            .where(self._acted(), _CATEGORY.is_not(None))
            .group_by(part, _CATEGORY)
        )

    def classifiers(self) -> list[tuple[int, str, int, int]]:
        """The same by the classifier with the highest score in the category that led to the action."""
        place = sa.func.row_number().over(
            partition_by=Action.id, order_by=(Score.score.desc(), Score.classifier, Score.classifier_version)
        )
        ranked = (
            sa.select(
                self._span.part(Action.proposed_at).label("part"),
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
                ranked.c.part, ranked.c.classifier, sa.func.count(), sa.func.count(ranked.c.overturned_at)
            )
            .where(ranked.c.place == 1)
            .group_by(ranked.c.part, ranked.c.classifier)
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
        return {int(part): tuple(map(int, counts)) for part, *counts in self._session.execute(statement)}

    def _outcomes(self, statement: Any) -> list[tuple[int, str, int, int]]:
        return [
            (int(part), name, acted, over) for part, name, acted, over in self._session.execute(statement)
        ]


def _closed_at() -> Any:
    closed = sa.case(
        (Action.action_state == ActionState.UNDER_REVIEW, None),
        else_=sa.func.coalesce(Action.proposed_at, Action.applied_at, Action.dismissed_at),
    )
    return sa.type_coerce(closed, Action.created_at.type)
