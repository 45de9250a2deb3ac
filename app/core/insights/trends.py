"""How a community's moderation went over a period, for its moderators: SQL aggregates, at most eleven queries."""

import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import quantiles
from app.core.insights.insights import BORNE_OUT, TOOK_A_SIDE
from app.core.insights.trend_figures import Activity, Agreement, Backlog, Delay, Overturned, Trends, Volume
from app.core.models import Action, Decision, Note, Rating, Request, Score
from app.core.periods import Period, unix
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ActionState, ActionTier, HelpfulnessLevel, RequestStatus

SPLIT = 3
"""A review is split when at least one in this many of its decided answers is on the smaller side."""

_OWN = sa.and_(Action.restores_id.is_(None), Action.action_tier.is_not(None))
_CATEGORY = sa.func.coalesce(Action.decided_category, Action.category)


def for_community(session: Session, actor: Actor, community_id: uuid.UUID, period: Period) -> Trends:
    """The statistics of one community.

    Raises:
        NotFound, Forbidden: the actor may not see its history.
    """
    require(actor, Permission.SEE_HISTORY, community_id)
    queries = _TrendQueries(session, community_id, period)
    delays, delay = queries.delays()
    return Trends(
        period=period,
        volume=queries.volume(),
        delays=delays,
        delay=delay,
        backlog=queries.backlog(),
        activity=queries.activity(),
        raters=queries.raters(),
        agreement=queries.agreement(),
        categories=queries.categories(),
        classifiers=queries.classifiers(),
    )


class _TrendQueries:
    """The queries over one community and period. None of them counts test posts (decision 0031)."""

    def __init__(self, session: Session, community_id: uuid.UUID, period: Period) -> None:
        self._session = session
        self._community_id = community_id
        self._period = period
        self._parts = range(len(period.starts))
        self._tests = sa.select(Request.id).where(Request.community_id == community_id, Request.is_test)

    def _rows(self, statement: Any) -> dict[int, Any]:
        return {int(row[0]): row for row in self._session.execute(statement)}

    def volume(self) -> list[Volume]:
        tiers = (
            sa.select(Action.request_id, sa.func.min(Action.action_tier).label("tier"))
            # An action is newer than its request, so older actions need not be read.
            .where(Action.community_id == self._community_id, _OWN, Action.created_at >= self._period.since)
            .group_by(Action.request_id)
            .subquery()
        )
        part = self._period.part(Request.requested_at)
        scored = Request.status == RequestStatus.COMPLETED
        rows = self._rows(
            sa.select(
                part,
                sa.func.count(),
                sa.func.count().filter(tiers.c.tier == ActionTier.IMMEDIATE),
                sa.func.count().filter(tiers.c.tier == ActionTier.CONSENSUS),
                sa.func.count().filter(tiers.c.tier.is_(None), scored),
            )
            .select_from(Request)
            .outerjoin(tiers, tiers.c.request_id == Request.id)
            .where(
                Request.community_id == self._community_id,
                Request.withdrawn_at.is_(None),
                Request.is_test.is_(False),
                self._period.holds(Request.requested_at),
            )
            .group_by(part)
        )
        volume = []
        for number in self._parts:
            _, submitted, acted, reviewed, ignored = rows.get(number, (number, 0, 0, 0, 0))
            volume.append(Volume(submitted, acted, reviewed, ignored, submitted - acted - reviewed - ignored))
        return volume

    def delays(self) -> tuple[list[Delay], Delay]:
        """The delays of each bucket, and of the whole period."""
        seconds = (unix(Decision.decided_at) - unix(Request.requested_at)).label("value")

        def rows(part: Any) -> Any:
            return (
                sa.select(part.label("part"), seconds)
                .select_from(Decision)
                .join(Request, Request.id == Decision.request_id)
                .where(
                    Decision.community_id == self._community_id,
                    Decision.tier == 2,
                    Request.is_test.is_(False),
                    self._period.holds(Decision.decided_at),
                )
            )

        buckets = self._rows(quantiles.by_part(rows(self._period.part(Decision.decided_at)), 0.5, 0.9))
        whole = self._rows(quantiles.by_part(rows(sa.literal(0)), 0.5, 0.9))
        return (
            [Delay(*buckets[number][1:]) if number in buckets else Delay() for number in self._parts],
            Delay(*whole[0][1:]) if whole else Delay(),
        )

    def backlog(self) -> list[Backlog]:
        closed_at = sa.case(
            (Action.action_state == ActionState.UNDER_REVIEW, None),
            else_=sa.func.coalesce(Action.proposed_at, Action.applied_at, Action.dismissed_at),
        )
        closed = sa.type_coerce(closed_at, Action.created_at.type)
        reviews = sa.and_(
            Action.community_id == self._community_id,
            _OWN,
            Action.action_tier == ActionTier.CONSENSUS,
            Action.request_id.not_in(self._tests),
        )

        def counted(moment: Any) -> dict[int, Any]:
            part = self._period.part(moment)
            return self._rows(
                sa.select(part, sa.func.count()).where(reviews, self._period.holds(moment)).group_by(part)
            )

        since = self._period.since
        waiting: int = (
            self._session.scalar(
                sa.select(sa.func.count()).where(
                    reviews, Action.created_at < since, sa.or_(closed.is_(None), closed >= since)
                )
            )
            or 0
        )
        opened, ended = counted(Action.created_at), counted(closed)
        backlog = []
        for number in self._parts:
            began, finished = (counts.get(number, (number, 0))[1] for counts in (opened, ended))
            waiting += began - finished
            backlog.append(Backlog(began, finished, waiting))
        return backlog

    def activity(self) -> list[Activity]:
        part = self._period.part(Rating.created_at)
        rows = self._rows(
            sa.select(part, sa.func.count(), sa.func.count(Rating.rater_id.distinct()))
            .where(Rating.community_id == self._community_id, self._period.holds(Rating.created_at))
            .group_by(part)
        )
        return [Activity(*rows[number][1:]) if number in rows else Activity() for number in self._parts]

    def raters(self) -> int:
        """The number of people who rated in the period."""
        statement = sa.select(sa.func.count(Rating.rater_id.distinct())).where(
            Rating.community_id == self._community_id, self._period.holds(Rating.created_at)
        )
        return self._session.scalar(statement) or 0

    def agreement(self) -> list[Agreement]:
        part = self._period.part(Rating.created_at)
        ratings = self._rows(
            sa.select(part, sa.func.count(), sa.func.count().filter(BORNE_OUT))
            .select_from(Rating)
            .join(Note, Note.id == Rating.note_id)
            .where(
                Rating.community_id == self._community_id,
                self._period.holds(Rating.created_at),
                Rating.note_version == Note.version,
                Note.deleted_at.is_(None),
                sa.or_(Note.request_id.is_(None), Note.request_id.not_in(self._tests)),
                TOOK_A_SIDE,
            )
            .group_by(part)
        )
        decided = self._period.part(Decision.decided_at).label("part")
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
                self._period.holds(Decision.decided_at),
            )
            .group_by(Decision.id, decided)
            .subquery()
        )
        smaller = sa.case((sides.c.yes < sides.c.no, sides.c.yes), else_=sides.c.no)
        both = sides.c.yes + sides.c.no
        reviews = self._rows(
            sa.select(sides.c.part, sa.func.count(), sa.func.count().filter(smaller * SPLIT >= both))
            .where(both > 0)
            .group_by(sides.c.part)
        )
        return [
            Agreement(*ratings.get(number, (number, 0, 0))[1:], *reviews.get(number, (number, 0, 0))[1:])
            for number in self._parts
        ]

    def categories(self) -> list[Overturned]:
        return self._overturned(
            sa.select(_CATEGORY, sa.func.count(), sa.func.count(Action.overturned_at))
            .where(self._acted(), _CATEGORY.is_not(None))
            .group_by(_CATEGORY)
        )

    def classifiers(self) -> list[Overturned]:
        """By the classifier with the highest score in the category that led to the action."""
        place = sa.func.row_number().over(
            partition_by=Action.id, order_by=(Score.score.desc(), Score.classifier, Score.classifier_version)
        )
        ranked = (
            sa.select(Score.classifier, Action.overturned_at, place.label("place"))
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
        return self._overturned(
            sa.select(ranked.c.classifier, sa.func.count(), sa.func.count(ranked.c.overturned_at))
            .where(ranked.c.place == 1)
            .group_by(ranked.c.classifier)
        )

    def _acted(self) -> sa.ColumnElement[bool]:
        return sa.and_(
            Action.community_id == self._community_id,
            _OWN,
            Action.request_id.not_in(self._tests),
            self._period.holds(Action.proposed_at),
        )

    def _overturned(self, statement: Any) -> list[Overturned]:
        rows = [Overturned(*row) for row in self._session.execute(statement)]
        return sorted(rows, key=lambda row: (-row.acted, row.name))
