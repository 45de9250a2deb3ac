"""Scores of services that are only observed: stored after the verdict, so that they never delay or change it."""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, outbox
from app.core.db import serialise
from app.core.models import ConnectedService, Request, Score
from app.core.requests.score_rows import score_row, store, unrouted_rows
from app.core.requests.scorings import Scoring
from app.core.vocabulary import ServiceMode

OBSERVE_JOB = "observe_services"


def enqueue(session: Session, community_id: uuid.UUID, request_id: uuid.UUID) -> None:
    """Have observed services asked about a scored request, if the community has any."""
    has_observed = sa.select(ConnectedService.id).where(
        ConnectedService.community_id == community_id,
        ConnectedService.mode == ServiceMode.OBSERVE,
        ConnectedService.removed_at.is_(None),
    )
    if session.scalar(has_observed.limit(1)) is not None:
        outbox.enqueue(
            session,
            OBSERVE_JOB,
            {"request_id": str(request_id)},
            community_id=community_id,
            key=str(request_id),
        )


def request_to_observe(session: Session, request_id: uuid.UUID) -> Request | None:
    """The request, if its content is still there. Tests of an operator cost nothing and count nowhere."""
    request = session.get(Request, request_id)
    if request is None or request.withdrawn_at is not None or request.content_removed_at is not None:
        return None
    return None if request.is_test else request


def scores_of(session: Session, request_id: uuid.UUID) -> Sequence[Score]:
    """Every score of a request above 0, also observed ones: by classifier, the highest first."""
    return session.scalars(
        sa.select(Score)
        .where(Score.request_id == request_id, Score.score > 0)
        .order_by(Score.is_observed, Score.classifier, Score.score.desc(), Score.category)
    ).all()


def record(session: Session, request_id: uuid.UUID, scorings: Sequence[Scoring]) -> None:
    """Store what observed services scored. A classifier whose scores the request has already is passed over."""
    request = request_to_observe(session, request_id)
    if request is None:
        return
    serialise(session, request.community_id)
    known = set(session.scalars(sa.select(Score.classifier).where(Score.request_id == request.id).distinct()))
    now = clock.now()
    for scoring in scorings:
        if scoring.classifier in known:
            continue
        rows = [score_row(request, scoring, name, value, now) for name, value in scoring.scores.items()]
        rows += unrouted_rows(request, scoring, now)
        for row in rows:
            # Kept as they are, so that comparisons know what they would have led to.
            row |= {"is_observed": True, "tier1_capable": row["category"] in scoring.tier1}
        store(session, rows)
