"""Removes what the service keeps for a limited time only: scores, deliveries with their events, and history.

Attempts are removed by ``webhooks.deliveries``, content by ``requests.retention``. Of a history only a beginning is
removed, and only after it was verified, so that an altered entry is never lost this way. What stays of it is the number
and the hash of the last one removed, from which ``chain.verify`` goes on.
"""

import uuid
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.history import chain, marks
from app.core.history.marks import Broken
from app.core.models import (
    Action,
    Attempt,
    Community,
    Delivery,
    Event,
    HistoryEntry,
    HistoryText,
    Notice,
    PostScores,
    Request,
    RetentionMark,
    Score,
)
from app.core.vocabulary import IN_REVIEW, DeliveryState

HISTORY_BATCH = 200
"""Entries removed in one transaction, so that other writers need not wait long."""


def prune_history(session: Session, community_id: uuid.UUID, before: datetime) -> int | Broken:
    """Remove the next entries that are older than this. Return how many, or the altered entry that stops it.

    The newest entry always stays: the next one is chained to it.
    """
    mark = marks.mark(session, community_id)
    number, last, at = mark.history_number, mark.history_hash, mark.history_at
    gone: list[uuid.UUID] = []
    rows = list(chain.checked(session, community_id, number, last, HISTORY_BATCH + 1))
    for entry, why in rows[:-1]:
        if entry.at >= before:
            break
        if why:
            return Broken(community_id, entry.number, entry.id, why)
        number, last, at = entry.number, entry.hash, entry.at
        gone.append(entry.id)
    if not gone:
        return 0
    bulk.change(session, sa.delete(Notice).where(Notice.entry_id.in_(gone)))
    bulk.change(session, sa.update(Notice).where(Notice.decided_id.in_(gone)).values(decided_id=None))
    bulk.change(session, sa.delete(HistoryText).where(HistoryText.entry_id.in_(gone)))
    bulk.change(session, sa.delete(HistoryEntry).where(HistoryEntry.id.in_(gone)))
    session.expunge_all()
    mark = marks.mark(session, community_id)
    mark.history_number, mark.history_hash, mark.history_at = number, last, at
    session.flush()
    return len(gone)


BATCH = 500
"""Requests, or deliveries, of one transaction, so that other writers need not wait long."""
_ENDED = (DeliveryState.DELIVERED, DeliveryState.DEAD, DeliveryState.CANCELLED)
_NEXT = timedelta(microseconds=1)


def communities(session: Session) -> Sequence[uuid.UUID]:
    """All communities: each has rows that are removed in time."""
    return session.scalars(sa.select(Community.id).order_by(Community.id)).all()


def prune_scores(session: Session, community_id: uuid.UUID, before: datetime) -> int:
    """Remove the scores of the next requests that were scored before this. Return how many requests were looked at.

    Those that are under review now keep their scores until they are closed.
    """
    mark = marks.mark(session, community_id)
    due = sa.select(Request.id, Request.scored_at).where(
        Request.community_id == community_id, Request.scored_at < before
    )
    if mark.scores_until is not None:
        due = due.where(Request.scored_at >= mark.scores_until)
    found = session.execute(due.order_by(Request.scored_at).limit(BATCH)).all()
    if not found:
        return _prune_kept_scores(session, mark)
    until = found[-1].scored_at
    # All of the last moment, however many: the next batch begins after it.
    same = session.scalars(
        sa.select(Request.id).where(Request.community_id == community_id, Request.scored_at == until)
    )
    ids = {row.id for row in found} | set(same)
    _remove_scores(session, ids)
    mark.scores_until = until + _NEXT
    session.flush()
    # The last batch is followed by those that kept their scores before, and were closed since.
    return len(found) if len(found) == BATCH else max(len(found), _prune_kept_scores(session, mark))


def _prune_kept_scores(session: Session, mark: RetentionMark) -> int:
    """Remove the scores that requests kept because they were in review. Return of how many, at most ``BATCH``."""
    if mark.scores_until is None:
        return 0
    earlier = [Request.community_id == mark.community_id, Request.scored_at < mark.scores_until]
    if mark.scores_kept_from is not None:
        earlier.append(Request.scored_at >= mark.scores_kept_from)
    in_review = Action.action_state.in_(IN_REVIEW)
    ids = session.scalars(
        sa.select(Request.id)
        .where(
            *earlier,
            sa.exists().where(Score.request_id == Request.id),
            ~sa.exists().where(Action.request_id == Request.id, in_review),
        )
        .order_by(Request.scored_at)
        .limit(BATCH)
    ).all()
    _remove_scores(session, ids)
    if len(ids) < BATCH:
        oldest = session.scalar(
            sa.select(sa.func.min(Request.scored_at))
            .join(Action, Action.request_id == Request.id)
            .where(*earlier, in_review)
        )
        mark.scores_kept_from = oldest or mark.scores_until
        session.flush()
    return len(ids)


def _remove_scores(session: Session, ids: Collection[uuid.UUID]) -> None:
    for model in (Score, PostScores):
        is_open = sa.exists().where(Action.request_id == model.request_id, Action.action_state.in_(IN_REVIEW))
        bulk.change(session, sa.delete(model).where(model.request_id.in_(ids), sa.not_(is_open)))


def prune_deliveries(session: Session, community_id: uuid.UUID, before: datetime) -> int:
    """Remove the next deliveries that ended, and were made before this. Return how many.

    What waits to be sent, or parked for an operator, stays.
    """
    ids = session.scalars(
        sa.select(Delivery.id)
        .where(
            Delivery.community_id == community_id, Delivery.created_at < before, Delivery.state.in_(_ENDED)
        )
        .order_by(Delivery.created_at)
        .limit(BATCH)
        # An operator may send one again at this moment: that one stays, with its attempts.
        .with_for_update(skip_locked=True)
    ).all()
    if ids:
        bulk.change(session, sa.delete(Attempt).where(Attempt.delivery_id.in_(ids)))
        bulk.change(session, sa.delete(Delivery).where(Delivery.id.in_(ids), Delivery.state.in_(_ENDED)))
    return len(ids)


def prune_events(session: Session, community_id: uuid.UUID, before: datetime) -> int:
    """Remove the next events that were written before this and have no delivery any more. Return how many."""
    waiting = sa.exists().where(Delivery.event_id == Event.id)
    ids = session.scalars(
        sa.select(Event.id)
        .where(Event.community_id == community_id, Event.created_at < before, sa.not_(waiting))
        .order_by(Event.created_at)
        .limit(BATCH)
    ).all()
    if ids:
        bulk.change(session, sa.delete(Event).where(Event.id.in_(ids)))
    return len(ids)
