"""Browser sessions: begun by a sign-in, found by their token, listed and ended by their owner (ASVS 7.4, 7.5)."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from app.core import bulk, clock, ids, limits
from app.core.errors import NotFound
from app.core.models import Account, SignIn

SEEN_EVERY = timedelta(minutes=1)


def begin(session: Session, account: Account, user_agent: str) -> str:
    """Start a server-side session. Return its token; the database stores only the token's hash."""
    token, now = ids.new_token(), clock.now()
    session.add(
        SignIn(
            account_id=account.id,
            token_hash=ids.token_digest(token),
            user_agent=limits.storable(user_agent[:255].replace("\x00", ""), "user_agent"),
            created_at=now,
            last_seen_at=now,
        )
    )
    session.flush()
    return token


def signed_in(
    session: Session, token: str, *, idle: timedelta, longest: timedelta
) -> tuple[Account, SignIn] | None:
    """The account and session of a session token, with memberships loaded.

    None when the session was ended, unused for longer than ``idle``, or started longer than ``longest`` ago.
    """
    found = (
        session.execute(
            sa.select(Account, SignIn)
            .join(SignIn, SignIn.account_id == Account.id)
            .where(SignIn.token_hash == ids.token_digest(token))
            .options(joinedload(Account.memberships))
        )
        .unique()
        .one_or_none()
    )
    if found is None:
        return None
    account, sign_in = found
    now = clock.now()
    ended = sign_in.ended_at is not None or account.disabled_at is not None
    if ended or now - sign_in.last_seen_at > idle or now - sign_in.created_at > longest:
        return None
    return account, sign_in


def mark_seen(session: Session, sign_in_id: uuid.UUID) -> None:
    """Update the session's last use; callers do so at most once a minute (``SEEN_EVERY``)."""
    bulk.change(session, sa.update(SignIn).where(SignIn.id == sign_in_id).values(last_seen_at=clock.now()))


def end(session: Session, token: str) -> None:
    """End the session of this token, so that the cookie no longer works anywhere."""
    bulk.change(
        session,
        sa.update(SignIn)
        .where(SignIn.token_hash == ids.token_digest(token), SignIn.ended_at.is_(None))
        .values(ended_at=clock.now()),
    )


def end_all(session: Session, account_id: uuid.UUID, *, but: uuid.UUID | None = None) -> int:
    """End all sessions of an account, except ``but``. Return how many were open."""
    return bulk.change(
        session,
        sa.update(SignIn)
        .where(SignIn.account_id == account_id, SignIn.ended_at.is_(None), SignIn.id != but)
        .values(ended_at=clock.now()),
    )


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
    return bulk.change(session, sa.delete(SignIn).where(SignIn.id.in_(old)))


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
