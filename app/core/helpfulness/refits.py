"""Refits: when a community's parameters are fitted again, who does it, and how the new ones take effect.

A fit runs outside of any transaction over a snapshot of the ratings. Its result is written under its own version
beside the fit in force, in small transactions, so that raters do not wait for it; one UPDATE puts it in force. A
process that dies on the way has changed nothing: its lease expires, and the next fit starts from the beginning.

Ratings that arrive meanwhile are not lost and need no mark: a note counts the changes of its ratings, and sums
computed at another count are computed again when they are needed (``note_scores``).
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, outbox
from app.core.db import serialise
from app.core.helpfulness import note_scores, rating_snapshots
from app.core.helpfulness.rating_snapshots import Snapshot
from app.core.ids import new_id
from app.core.models import Community, Note, NoteSums, RaterParameters, ScoringModel, ScoringState
from app.core.scoring import Camps, Regime

REFIT_JOB = "refit_notes"
LEAST = 20
SHARE = 0.01
"""A refit is due after this many ratings, or this share of those fitted, whichever is more; or after ``WAIT``."""
WAIT = timedelta(seconds=60)
"""The longest time after the first rating that the parameters do not include."""
PACE = 10
"""Between two fits there is at least this many times the duration of the last: at most a tenth of one core."""
LEASE = timedelta(seconds=30)
RETRY = timedelta(seconds=60)
"""The delay after a failed fit."""
MODELS_KEPT = 50
"""The number of models to keep; parameters and sums are kept only for the fit in force."""


class LeaseLost(Exception):
    """This fit did not renew its lease in time and another one has started; it must stop."""


@dataclass(frozen=True)
class Lease:
    """The right to fit one community: ``version`` is this fit's own number, never used again.

    ``version_before`` and ``regime_before`` belong to the fit in force; ``since`` is the number of ratings that it
    does not include. ``camps_before`` is what previous fits found about camps.
    """

    community_id: uuid.UUID
    owner: uuid.UUID
    version: int
    version_before: int
    regime_before: Regime
    since: int
    camps_before: Camps


def rating_changed(session: Session, community_id: uuid.UUID) -> None:
    """Count a rating that the parameters in force do not include. The caller holds the community's lock."""
    state = session.scalars(
        sa.update(ScoringState)
        .where(ScoringState.community_id == community_id)
        .values(ratings_since=ScoringState.ratings_since + 1)
        .returning(ScoringState)
        .execution_options(populate_existing=True)
    ).first()
    if state is None:
        state = _begin(session, community_id, ratings=1)
    now = clock.now()
    enough = state.ratings_since >= max(LEAST, SHARE * state.ratings_fitted)
    due_at = now if enough else now + WAIT
    if state.fitted_at is not None:
        due_at = max(due_at, state.fitted_at + PACE * timedelta(milliseconds=state.fit_milliseconds))
    if state.refit_due_at is None or due_at < state.refit_due_at:
        state.refit_due_at = due_at
        if enough:
            _enqueue(session, community_id, delay=(due_at - now).total_seconds())
        # Otherwise the sweep finds it: a job that waits a minute would be one more row for every quiet community.
    session.flush()


def ask(session: Session, community_id: uuid.UUID) -> None:
    """Schedule a refit as soon as possible, for example after a change of the community's settings."""
    serialise(session, community_id)
    state = session.get(ScoringState, community_id, populate_existing=True)
    if state is None:
        state = _begin(session, community_id, ratings=0)
    state.refit_due_at = clock.now()
    session.flush()
    _enqueue(session, community_id)


def due(session: Session, *, limit: int = 50) -> Sequence[uuid.UUID]:
    """Communities whose refit is due and not running, longest due first; archived ones when they are opened again."""
    now = clock.now()
    archived = sa.select(Community.id).where(Community.archived_at.is_not(None))
    return session.scalars(
        sa.select(ScoringState.community_id)
        .where(ScoringState.refit_due_at <= now, _unleased(now), ScoringState.community_id.not_in(archived))
        .order_by(ScoringState.refit_due_at)
        .limit(limit)
    ).all()


def enqueue_due(session: Session, communities: Sequence[uuid.UUID]) -> None:
    """Enqueue a job for each; two sweeps within the same half minute create only one."""
    period = int(clock.now().timestamp() // LEASE.total_seconds())
    for community_id in communities:
        _enqueue(session, community_id, key=f"{community_id}:{period}")


def take(session: Session, community_id: uuid.UUID) -> Lease | None:
    """Take the lease to fit this community; None when it is not due, or another process holds the lease."""
    serialise(session, community_id)
    now, owner = clock.now(), new_id()
    changed = bulk.change(
        session,
        sa.update(ScoringState)
        .where(ScoringState.community_id == community_id, ScoringState.refit_due_at <= now, _unleased(now))
        .values(lease_owner=owner, lease_until=now + LEASE, last_version=ScoringState.last_version + 1),
    )
    if not changed:
        return None
    state = session.get_one(ScoringState, community_id, populate_existing=True)
    before = note_scores.in_force(session, community_id)
    return Lease(
        community_id,
        owner,
        state.last_version,
        before.version,
        before.model.regime,
        state.ratings_since,
        Camps.from_json(state.camps),
    )


def renew(session: Session, lease: Lease) -> None:
    """Renew the lease of this fit.

    Raises:
        LeaseLost: another process has taken over.
    """
    _update_own(session, lease, lease_until=clock.now() + LEASE)


def check(session: Session, lease: Lease) -> None:
    """Raise LeaseLost unless this fit still holds the lease. Takes no lock that a rater would wait for."""
    owner = session.scalar(
        sa.select(ScoringState.lease_owner).where(ScoringState.community_id == lease.community_id)
    )
    if owner != lease.owner:
        raise LeaseLost


def read(session: Session, lease: Lease) -> Snapshot:
    """The community's ratings and facts at one moment."""
    return rating_snapshots.take(session, lease.community_id, lease.regime_before, lease.camps_before)


def stale(session: Session, community_id: uuid.UUID, version: int, *, limit: int) -> Sequence[uuid.UUID]:
    """Notes whose sums under this fit are missing, or older than their ratings."""
    current = note_scores.current_sums(community_id, version, NoteSums.note_id)
    return session.scalars(
        sa.select(Note.id)
        .where(
            Note.community_id == community_id,
            Note.deleted_at.is_(None),
            Note.rating_changes > 0,
            current.is_(None),
        )
        .limit(limit)
    ).all()


def catch_up(session: Session, lease: Lease, rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace sums under a fit that will take effect soon (``note_scores.rows_from_ratings``).

    Needs no lock of the community: until the swap nothing else writes under this version. Once it is in force, raters
    do, and this must not be called. A rating between reading and writing makes these sums stale, not wrong.

    Raises:
        LeaseLost: another process has taken over.
    """
    check(session, lease)
    bulk.change(
        session,
        sa.delete(NoteSums).where(
            NoteSums.community_id == lease.community_id,
            NoteSums.version == lease.version,
            NoteSums.note_id.in_([row["note_id"] for row in rows]),
        ),
    )
    bulk.insert(session.connection(), NoteSums.metadata.tables[NoteSums.__tablename__], rows)


def swap(session: Session, lease: Lease, version: int, camps: Camps) -> None:
    """Put this fit in force: it scores all later ratings, and the next fit starts from its ``camps``.

    Raises:
        LeaseLost: this fit is too late, and changes nothing.
    """
    serialise(session, lease.community_id)
    _update_own(session, lease, model_version=version, camps=camps.to_json())


def finish(session: Session, lease: Lease, ratings: int, milliseconds: int) -> None:
    """Record that the notes were updated, and schedule the next refit if ratings arrived meanwhile.

    Called last, so that a fit whose notes were not all updated runs again.
    """
    serialise(session, lease.community_id)
    check(session, lease)
    state = session.get_one(ScoringState, lease.community_id, populate_existing=True)
    now = clock.now()
    state.ratings_since = max(0, state.ratings_since - lease.since)
    state.ratings_fitted, state.fitted_at, state.fit_milliseconds = ratings, now, milliseconds
    state.lease_owner = state.lease_until = None
    enough = state.ratings_since >= max(LEAST, SHARE * ratings)
    wait = max(timedelta() if enough else WAIT, PACE * timedelta(milliseconds=milliseconds))
    state.refit_due_at = now + wait if state.ratings_since else None
    session.flush()


def give_back(session: Session, lease: Lease) -> None:
    """Release the lease after a failed fit: the fit in force stays, and the next attempt is a minute away."""
    serialise(session, lease.community_id)
    _update_own(session, lease, lease_owner=None, lease_until=None, refit_due_at=clock.now() + RETRY)


def clear(session: Session, lease: Lease, *, limit: int) -> bool:
    """Delete up to ``limit`` rows of each table from earlier fits, finished or not, and models beyond those to keep.

    Return whether there may be more.
    """
    deleted = 0
    for table, key in ((RaterParameters, RaterParameters.profile_id), (NoteSums, NoteSums.note_id)):
        earlier = (
            sa.select(table.version, key)
            .where(
                table.community_id == lease.community_id,
                table.version <= lease.version,
                table.version != _in_force(lease),
            )
            .order_by(table.version, key)
            .limit(limit)
        )
        deleted += bulk.change(
            session,
            sa.delete(table).where(
                table.community_id == lease.community_id, sa.tuple_(table.version, key).in_(earlier)
            ),
        )
    bulk.change(
        session,
        sa.delete(ScoringModel).where(
            ScoringModel.community_id == lease.community_id,
            ScoringModel.version <= lease.version - MODELS_KEPT,
            ScoringModel.version != _in_force(lease),
        ),
    )
    return deleted > 0


def _in_force(lease: Lease) -> sa.ScalarSelect[int]:
    return (
        sa.select(ScoringState.model_version)
        .where(ScoringState.community_id == lease.community_id)
        .scalar_subquery()
    )


def _begin(session: Session, community_id: uuid.UUID, *, ratings: int) -> ScoringState:
    state = ScoringState(
        community_id=community_id, ratings_since=ratings, ratings_fitted=0, fit_milliseconds=0
    )
    session.add(state)
    return state


def _unleased(now: datetime) -> sa.ColumnElement[bool]:
    return sa.or_(ScoringState.lease_owner.is_(None), ScoringState.lease_until < now)


def _update_own(session: Session, lease: Lease, **values: Any) -> None:
    changed = bulk.change(
        session,
        sa.update(ScoringState)
        .where(ScoringState.community_id == lease.community_id, ScoringState.lease_owner == lease.owner)
        .values(values),
    )
    if not changed:
        raise LeaseLost


def _enqueue(
    session: Session, community_id: uuid.UUID, *, key: str | None = None, delay: float = 0.0
) -> None:
    args = {"community_id": str(community_id)}
    outbox.enqueue(session, REFIT_JOB, args, community_id=community_id, key=key, delay=delay)
