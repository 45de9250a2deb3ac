"""The browser sessions of an account: listed and ended by their owner (ASVS 7.4, 7.5)."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import clock
from app.core.errors import NotFound
from app.core.models import SignIn


def end_all(session: Session, account_id: uuid.UUID, *, but: uuid.UUID | None = None) -> int:
    """End all sessions of an account, except ``but``. Return how many were open."""
    ended = session.execute(
        sa.update(SignIn)
        .where(SignIn.account_id == account_id, SignIn.ended_at.is_(None), SignIn.id != but)
        .values(ended_at=clock.now())
        .execution_options(synchronize_session=False)
    )
    return int(ended.rowcount)  # type: ignore[attr-defined]  # an UPDATE's result has one


def end_one(session: Session, account_id: uuid.UUID, sign_in_id: uuid.UUID) -> SignIn:
    """End one of the account's own sessions.

    Raises:
        NotFound: the session is not theirs.
    """
    sign_in = session.get(SignIn, sign_in_id)
    if sign_in is None or sign_in.account_id != account_id:
        raise NotFound("session")
    sign_in.ended_at = sign_in.ended_at or clock.now()
    return sign_in


def prune(session: Session, begun_before: datetime, *, limit: int = 5_000) -> int:
    """Delete up to ``limit`` expired sessions, begun before ``begun_before``. Return how many.

    Each account's latest session stays, because it says when they were last here.
    """
    later = aliased(SignIn)
    has_later = sa.exists().where(
        later.account_id == SignIn.account_id,
        sa.tuple_(later.last_seen_at, later.id) > sa.tuple_(SignIn.last_seen_at, SignIn.id),
    )
    old = sa.select(SignIn.id).where(SignIn.created_at < begun_before, has_later).limit(limit)
    deleted = session.execute(
        sa.delete(SignIn).where(SignIn.id.in_(old)).execution_options(synchronize_session=False)
    )
    return int(deleted.rowcount)  # type: ignore[attr-defined]  # a DELETE's result has one


def still_open(
    session: Session, account_id: uuid.UUID, *, idle: timedelta, longest: timedelta, limit: int = 50
) -> Sequence[SignIn]:
    """The account's valid sessions, most recently used first."""
    now = clock.now()
    return session.scalars(
        sa.select(SignIn)
        .where(
            SignIn.account_id == account_id,
            SignIn.ended_at.is_(None),
            SignIn.last_seen_at >= now - idle,
            SignIn.created_at >= now - longest,
        )
        .order_by(SignIn.last_seen_at.desc(), SignIn.id.desc())
        .limit(limit)
    ).all()
