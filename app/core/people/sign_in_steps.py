"""Steps of sign-ins that a browser has begun and not finished (``SignInStep``). Each is used once."""

import uuid
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, ids
from app.core.models import SignInStep
from app.core.vocabulary import SignInStepPurpose


def begin(
    session: Session,
    purpose: SignInStepPurpose,
    lasts: timedelta,
    *,
    account_id: uuid.UUID | None = None,
    provider_id: uuid.UUID | None = None,
    details: Mapping[str, Any] | None = None,
    replaces: str | None = None,
) -> str:
    """Begin a step and return its token for the browser's cookie; the database stores only the token's hash.

    ``replaces``: the token of the browser's former step, if any. It is dropped, so that a page which is loaded again
    and again leaves one row.
    """
    if replaces is not None:
        bulk.change(session, sa.delete(SignInStep).where(SignInStep.token_hash == ids.token_digest(replaces)))
    token, now = ids.new_token(), clock.now()
    session.add(
        SignInStep(
            token_hash=ids.token_digest(token),
            purpose=purpose,
            account_id=account_id,
            provider_id=provider_id,
            details=dict(details or {}),
            created_at=now,
            expires_at=now + lasts,
        )
    )
    session.flush()
    return token


def find(session: Session, token: str | None, purpose: SignInStepPurpose) -> SignInStep | None:
    """The step of this token; None if it is unknown, over, or for something else."""
    if not token:
        return None
    return session.scalars(
        sa.select(SignInStep).where(
            SignInStep.token_hash == ids.token_digest(token),
            SignInStep.purpose == purpose,
            SignInStep.expires_at > clock.now(),
        )
    ).first()


def take(session: Session, token: str | None, purpose: SignInStepPurpose) -> SignInStep | None:
    """Like ``find``, but use the step up: of two calls at once, one gets it."""
    step = find(session, token, purpose)
    if step is None:
        return None
    session.expunge(step)
    taken = bulk.change(session, sa.delete(SignInStep).where(SignInStep.token_hash == step.token_hash))
    return step if taken else None


def drop(session: Session, account_id: uuid.UUID) -> None:
    """Drop the account's steps, as when its password was changed."""
    bulk.change(session, sa.delete(SignInStep).where(SignInStep.account_id == account_id))


def prune(session: Session, *, limit: int = 5_000) -> int:
    """Delete up to ``limit`` steps whose time is over. Return how many."""
    over = sa.select(SignInStep.token_hash).where(SignInStep.expires_at <= clock.now()).limit(limit)
    return bulk.change(session, sa.delete(SignInStep).where(SignInStep.token_hash.in_(over)))
