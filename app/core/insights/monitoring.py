"""Metrics of speed and decisions, for monitoring; computed from data that the database stores anyway."""

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions.decisions import NO_ACTION
from app.core.models import (
    Action,
    Attachment,
    Attempt,
    Attention,
    ConnectedService,
    Decision,
    Delivery,
    Event,
    Note,
    Request,
    Webhook,
)
from app.core.permissions import Actor
from app.core.review.conditions import fails_mostly
from app.core.services import calls
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    AttachmentState,
    AttentionReason,
    DeliveryState,
    NoteStatus,
    RequestStatus,
    ReviewGroup,
    ServiceMode,
)

WINDOW = timedelta(minutes=15)
"""Latencies include only what ended within this time."""
MOST = 1_000
"""The most rows per latency; the latest ones are used."""
QUANTILES = (0.5, 0.95)
COUNTED_EVERY = timedelta(minutes=1)
"""Totals read every row of five tables, so they are counted once in this time, however often they are asked for."""

Word = TypeVar("Word", bound=StrEnum)


@dataclass(frozen=True)
class Totals:
    """The counts of an actor's communities at the moment ``at``.

    ``decisions``: all that were ever made, by tier and by whether there is an action.
    """

    at: datetime
    requests: Mapping[RequestStatus, int]
    actions: Mapping[ActionState, int]
    notes: Mapping[NoteStatus, int]
    deliveries: Mapping[DeliveryState, int]
    review_queue: Mapping[ReviewGroup, int]
    decisions: Mapping[tuple[str, str], int]


@dataclass
class LastTotals:
    """The totals of the last minute, by the communities that they are of (None: all)."""

    by_communities: dict[frozenset[uuid.UUID] | None, Totals] = field(default_factory=dict)

    def read(self, session: Session, actor: Actor) -> Totals:
        """The totals of the actor's communities, at most ``COUNTED_EVERY`` old."""
        now = clock.now()
        known = self.by_communities.get(actor.communities)
        if known is not None and known.at <= now < known.at + COUNTED_EVERY:
            return known
        totals = count(session, actor)
        recent = {key: of for key, of in self.by_communities.items() if now < of.at + COUNTED_EVERY}
        self.by_communities = {**recent, actor.communities: totals}
        return totals


@dataclass(frozen=True)
class Figures:
    """Latencies in seconds by quantile, 0 where nothing ended within ``WINDOW``.

    ``attempts``: delivery attempts within ``WINDOW``, by outcome. ``oldest_due``: seconds for which the oldest
    delivery that could be sent has waited; 0 when none is late. ``oldest_waiting``, ``oldest_attachment``: the same for
    the oldest post that waits to be scored, and the oldest attachment that waits to be fetched. ``attention``: the
    conditions that operators have a notice about. ``failing_services``: those of whose calls today most failed.
    """

    attempts: Mapping[str, int]
    scoring: Mapping[float, float]
    deciding: Mapping[float, float]
    first_attempt: Mapping[float, float]
    answer: Mapping[float, float]
    oldest_due: float
    oldest_waiting: float
    oldest_attachment: float
    attention: Mapping[AttentionReason, int]
    failing_services: int


def count(session: Session, actor: Actor) -> Totals:
    """Count the rows of the actor's communities by state; one query for each table or part of it."""

    def by_word(words: type[Word], column: Any, *conditions: sa.ColumnElement[bool]) -> dict[Word, int]:
        rows = session.execute(
            sa.select(column, sa.func.count())
            .where(_are_of(actor, column.class_.community_id), *conditions)
            .group_by(column)
        )
        return dict.fromkeys(words, 0) | {words(word): number for word, number in rows}

    kind = sa.case((Decision.decision == NO_ACTION, "none"), else_="action").label("kind")
    decided = session.execute(
        sa.select(Decision.tier, kind, sa.func.count())
        .where(_are_of(actor, Decision.community_id))
        .group_by(Decision.tier, "kind")
    )
    decisions = {(str(tier), word): number for tier, word, number in decided}
    return Totals(
        at=clock.now(),
        requests=by_word(RequestStatus, Request.status, Request.withdrawn_at.is_(None)),
        actions=by_word(ActionState, Action.action_state),
        notes=by_word(NoteStatus, Note.status, Note.deleted_at.is_(None)),
        deliveries=by_word(DeliveryState, Delivery.state),
        review_queue=by_word(
            ReviewGroup,
            Action.review_group,
            Action.action_state == ActionState.UNDER_REVIEW,
            Action.review_group.is_not(None),
        ),
        decisions={
            (str(tier.number), kind): decisions.get((str(tier.number), kind), 0)
            for tier in ActionTier
            for kind in ("action", "none")
        },
    )


def _are_of(actor: Actor, column: Any) -> sa.ColumnElement[bool]:
    """SQL condition: the column has one of the actor's communities."""
    return sa.true() if actor.communities is None else column.in_(actor.communities)


def read(session: Session, actor: Actor) -> Figures:
    """The recent metrics of the actor's communities: ten queries, over a bounded number of rows and those that wait."""
    since = clock.now() - WINDOW
    recent = (
        sa.select(Attempt.milliseconds, Attempt.at, Attempt.delivery_id)
        .where(Attempt.at >= since)
        .order_by(Attempt.at.desc())
        .limit(MOST)
        .subquery()
    )
    attempts = session.execute(
        sa.select(recent, Delivery.attempts_made, Event.created_at)
        .join(Delivery, Delivery.id == recent.c.delivery_id)
        .join(Event, Event.id == Delivery.event_id)
        .where(_are_of(actor, Delivery.community_id))
    ).all()
    in_window = Attempt.at >= since
    if actor.communities is not None:
        in_window &= Attempt.webhook_id.in_(sa.select(Webhook.id).where(_are_of(actor, Webhook.community_id)))
    scored = (
        sa.select(Request.requested_at, Request.scored_at)
        .where(
            _are_of(actor, Request.community_id), Request.withdrawn_at.is_(None), Request.scored_at >= since
        )
        .order_by(Request.scored_at.desc())
        .limit(MOST)
        .subquery()
    )
    decided = (
        sa.select(Request.requested_at, Decision.decided_at)
        .join(Request, Request.id == Decision.request_id)
        .where(
            _are_of(actor, Decision.community_id),
            Request.withdrawn_at.is_(None),
            Decision.decided_at >= since,
        )
        .order_by(Decision.decided_at.desc())
        .limit(MOST)
        .subquery()
    )
    return Figures(
        attempts=_outcomes(session, in_window),
        scoring=_waits(session, sa.select(scored.c.requested_at, scored.c.scored_at)),
        deciding=_waits(session, sa.select(decided.c.requested_at, decided.c.decided_at)),
        first_attempt=_spread(_seconds(row.created_at, row.at) for row in attempts if row.attempts_made <= 1),
        answer=_spread(row.milliseconds / 1000 for row in attempts),
        oldest_due=_age_of_oldest(
            session,
            Delivery.due_at,
            _are_of(actor, Delivery.community_id),
            Delivery.state == DeliveryState.DUE,
            Delivery.due_at <= clock.now(),
        ),
        oldest_waiting=_age_of_oldest(
            session,
            Request.created_at,
            _are_of(actor, Request.community_id),
            # Written out for the index of posts that wait.
            sa.text("requests.status = 'PENDING'"),
            Request.withdrawn_at.is_(None),
        ),
        oldest_attachment=_age_of_oldest(
            session,
            Attachment.due_at,
            _are_of(actor, Attachment.community_id),
            Attachment.state == AttachmentState.WAITING,
            Attachment.due_at <= clock.now(),
        ),
        attention=_attention(session, actor),
        failing_services=_failing_services(session, actor),
    )


def _attention(session: Session, actor: Actor) -> dict[AttentionReason, int]:
    rows = session.execute(
        sa.select(Attention.reason, sa.func.count())
        .where(_are_of(actor, Attention.community_id))
        .group_by(Attention.reason)
    )
    return dict.fromkeys(AttentionReason, 0) | {reason: count for reason, count in rows}


def _failing_services(session: Session, actor: Actor) -> int:
    used = session.scalars(
        sa.select(ConnectedService.id).where(
            _are_of(actor, ConnectedService.community_id),
            ConnectedService.removed_at.is_(None),
            ConnectedService.mode != ServiceMode.OFF,
        )
    ).all()
    return sum(fails_mostly(period) for period in calls.period(session, used, 1).values())


def _age_of_oldest(
    session: Session, since: Any, *conditions: sa.ColumnElement[bool] | sa.TextClause
) -> float:
    oldest: datetime | None = session.scalar(sa.select(sa.func.min(since)).where(*conditions))
    return 0.0 if oldest is None else _seconds(oldest, clock.now())


def _outcomes(session: Session, condition: sa.ColumnElement[bool]) -> dict[str, int]:
    status = Attempt.status
    outcome = sa.case(
        (status.is_(None), "no answer"), (status.between(200, 299), "delivered"), else_="refused"
    ).label("outcome")
    rows = session.execute(sa.select(outcome, sa.func.count()).where(condition).group_by("outcome"))
    counted: dict[str, int] = {row[0]: row[1] for row in rows}
    return {word: counted.get(word, 0) for word in ("delivered", "refused", "no answer")}


def _waits(session: Session, rows: sa.Select[Any]) -> dict[float, float]:
    return _spread(_seconds(since, until) for since, until in session.execute(rows))


def _seconds(since: datetime, until: datetime) -> float:
    return max(0.0, (until - since).total_seconds())


def _spread(seconds: Iterable[float]) -> dict[float, float]:
    """Quantiles by nearest rank, computed in Python.

    The two databases compute with times differently, and there are few rows.
    """
    values = sorted(seconds)
    if not values:
        return dict.fromkeys(QUANTILES, 0.0)
    return {
        quantile: round(values[min(len(values) - 1, int(quantile * len(values)))], 4)
        for quantile in QUANTILES
    }
