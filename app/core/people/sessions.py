"""Browser sessions: begun by a sign-in, found by their token, listed and ended by their owner (ASVS 7.4, 7.5)."""

import uuid
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased, joinedload

from app.core import bulk, clock, ids, limits, mail
from app.core.errors import NotFound
from app.core.mail import Kind
from app.core.models import Account, SignIn
from app.core.people import sign_in_steps
from app.core.vocabulary import SessionEnd, SignInMethod

SEEN_EVERY = timedelta(minutes=1)
VISIT_GAP = timedelta(hours=1)
"""After this time without a request, the next one begins another visit."""
PROOF_LASTS = timedelta(minutes=10)
"""How long a proof of who somebody is suffices for what asks for one (``is_proved``)."""


def begin(
    session: Session,
    account: Account,
    user_agent: str,
    method: SignInMethod = SignInMethod.PASSWORD,
    *,
    is_strong: bool = False,
    provider_id: uuid.UUID | None = None,
    provider_session: str | None = None,
) -> str:
    """Start a server-side session. Return its token; the database stores only the token's hash.

    ``is_strong``: it began with a passkey, a second factor or at a provider.
    """
    token, now = ids.new_token(), clock.now()
    latest = session.scalars(
        sa.select(SignIn).where(SignIn.account_id == account.id).order_by(SignIn.last_seen_at.desc()).limit(1)
    ).first()
    session.add(
        SignIn(
            account_id=account.id,
            token_hash=ids.token_digest(token),
            user_agent=limits.storable(user_agent[:255].replace("\x00", ""), "user_agent"),
            created_at=now,
            last_seen_at=now,
            last_visit_at=_visit_before(latest, now) if latest is not None else None,
            method=method,
            proved_at=now,
            is_strong=is_strong,
            provider_id=provider_id,
            provider_session=provider_session,
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


def mark_seen(session: Session, sign_in: SignIn) -> None:
    """Update the session's last use; callers do so at most once a minute (``SEEN_EVERY``).

    ``sign_in`` may be detached: its ``last_visit_at`` is right afterwards, for the page of this request.
    """
    now = clock.now()
    sign_in.last_visit_at = _visit_before(sign_in, now)
    values = {"last_seen_at": now, "last_visit_at": sign_in.last_visit_at}
    bulk.change(session, sa.update(SignIn).where(SignIn.id == sign_in.id).values(values))


def _visit_before(latest: SignIn, now: datetime) -> datetime | None:
    """When the visit before the one of ``now`` ended, by the session that was used last."""
    return latest.last_seen_at if now - latest.last_seen_at > VISIT_GAP else latest.last_visit_at


def warn_of_new_device(session: Session, account: Account, token: str) -> None:
    """Mail the owner that a session began in a browser where they had not signed in before; not their very first."""
    sign_in = session.scalars(sa.select(SignIn).where(SignIn.token_hash == ids.token_digest(token))).one()
    others = sa.select(SignIn.id).where(SignIn.account_id == account.id, SignIn.id != sign_in.id)
    if session.scalar(others.limit(1)) is not None:
        mail.ask(session, Kind.NEW_DEVICE, account_id=account.id, sign_in_id=sign_in.id)


def is_proved(sign_in: SignIn) -> bool:
    """Whether the person proved who they are within the last ten minutes (``PROOF_LASTS``)."""
    return sign_in.proved_at is not None and clock.now() - sign_in.proved_at <= PROOF_LASTS


def record_proof(session: Session, sign_in_id: uuid.UUID, *, is_strong: bool = False) -> str:
    """Record that the person proved just now who they are. Return the session's new token: the old one ends.

    ``is_strong``: with a passkey, a second factor or at a provider. A session that was strong stays so.
    """
    token = ids.new_token()
    values: dict[str, object] = {"proved_at": clock.now(), "token_hash": ids.token_digest(token)}
    if is_strong:
        values["is_strong"] = True
    bulk.change(
        session, sa.update(SignIn).where(SignIn.id == sign_in_id, SignIn.ended_at.is_(None)).values(values)
    )
    return token


def end(session: Session, token: str) -> None:
    """End the session of this token, so that the cookie no longer works anywhere."""
    bulk.change(
        session,
        sa.update(SignIn)
        .where(SignIn.token_hash == ids.token_digest(token), SignIn.ended_at.is_(None))
        .values(ended_at=clock.now()),
    )


def end_all(
    session: Session,
    account_id: uuid.UUID,
    *,
    but: uuid.UUID | None = None,
    reason: SessionEnd | None = None,
) -> int:
    """End all sessions of an account, except ``but``, and its unfinished sign-ins. Return how many were open.

    ``reason``: what their owner reads at their next page.
    """
    sign_in_steps.drop(session, account_id)
    return bulk.change(
        session,
        sa.update(SignIn)
        .where(SignIn.account_id == account_id, SignIn.ended_at.is_(None), SignIn.id != but)
        .values(ended_at=clock.now(), end_reason=reason),
    )


def end_all_of(session: Session, account_ids: Sequence[uuid.UUID], reason: SessionEnd) -> None:
    """End all sessions of several accounts."""
    bulk.change(
        session,
        sa.update(SignIn)
        .where(SignIn.account_id.in_(account_ids), SignIn.ended_at.is_(None))
        .values(ended_at=clock.now(), end_reason=reason),
    )


def end_one(session: Session, account_id: uuid.UUID, sign_in_id: uuid.UUID) -> SignIn:
    """End one of the account's own sessions, from another browser of theirs.

    Raises:
        NotFound: the session is not theirs.
    """
    sign_in = session.get(SignIn, sign_in_id)
    if sign_in is None or sign_in.account_id != account_id:
        raise NotFound("session")
    if sign_in.ended_at is None:
        sign_in.ended_at, sign_in.end_reason = clock.now(), SessionEnd.ELSEWHERE
    return sign_in


def why_over(
    session: Session, token: str, *, idle: timedelta, longest: timedelta
) -> SessionEnd | Literal["idle", "longest"] | None:
    """Why the session of this token is over; None if it is not, its own browser ended it, or there is no such one.

    Only the browser that had the session has the token, so nobody else learns of it.
    """
    sign_in = session.scalars(
        sa.select(SignIn).where(SignIn.token_hash == ids.token_digest(token))
    ).one_or_none()
    if sign_in is None:
        return None
    if sign_in.ended_at is not None:
        return sign_in.end_reason
    now = clock.now()
    if now - sign_in.created_at > longest:
        return "longest"
    return "idle" if now - sign_in.last_seen_at > idle else None


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
