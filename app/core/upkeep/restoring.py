"""Suspends pending work after a backup was restored (decision 0021).

Nobody knows what happened between the backup and the restore: pending deliveries and decisions may have been sent
or made since. So nothing is sent automatically; people check and release it one by one or by range.
"""

import uuid
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.actions import moves
from app.core.db import serialise
from app.core.history import chain as history
from app.core.history import notices
from app.core.models import (
    Account,
    Action,
    Community,
    Delivery,
    Hold,
    Membership,
    Note,
    Overturn,
    Replay,
    Request,
    SignIn,
)
from app.core.people import accounts, key_admin, keys
from app.core.permissions import SYSTEM
from app.core.requests import scoring, submitting
from app.core.review import decision_trace
from app.core.texts import lazy_gettext
from app.core.vocabulary import DeliveryState, OverturnState, RequestStatus, Role

CAUSE = lazy_gettext("restored from a backup")
UNSCORED = lazy_gettext("Restored from a backup before it was scored; try again")


@dataclass(frozen=True)
class Suspended:
    """The number of suspended rows of each kind."""

    deliveries: int = 0
    holds: int = 0
    requests: int = 0
    bulk: int = 0
    sign_ins: int = 0


def suspend_pending(session: Session, *, score_waiting: bool = False) -> Suspended:
    """Stop everything that would otherwise run automatically.

    Undelivered events are parked, to be replayed manually. Held decisions lapse, and their moderators are notified.
    Unscored requests fail and can be retried; with ``score_waiting`` they are scored. Bulk work is stopped, and
    everybody must sign in again, because sessions that ended after the backup would be valid again.
    """
    parked = bulk.change(
        session,
        sa.update(Delivery)
        .where(Delivery.state == DeliveryState.DUE)
        .values(state=DeliveryState.PARKED, due_at=None, leased_by=None, leased_until=None),
    )
    stopped = _stop_bulk(session)
    held = _lapse_holds(session)
    unsettled = (
        Request.status.in_((RequestStatus.PENDING, RequestStatus.IN_PROGRESS)),
        Request.withdrawn_at.is_(None),
        ~sa.exists().where(Action.request_id == Request.id),
    )
    waiting = session.execute(
        sa.select(Request.id, Request.community_id)
        .where(*unsettled, Request.note_id.is_(None))
        .order_by(Request.requested_at)
    ).all()
    # Those that wait for the review of another request of their post.
    for request in session.scalars(
        sa.select(Request).where(
            Request.id.in_(
                sa.select(Note.request_id).where(Note.id.in_(sa.select(Request.note_id).where(*unsettled)))
            )
        )
    ):
        moves.wake_followers(session, request)
    for request_id, community_id in waiting:
        if score_waiting:
            submitting.enqueue_scoring(session, request_id, community_id)
        else:
            scoring.fail(session, request_id, UNSCORED)
    now = clock.now()
    ended = bulk.change(session, sa.update(SignIn).where(SignIn.ended_at.is_(None)).values(ended_at=now))
    for community_id in session.scalars(sa.select(Community.id).order_by(Community.id)).all():
        history.record(session, SYSTEM, community_id, "community.restored", "community", community_id)
    return Suspended(parked, held, len(waiting), stopped, ended)


@dataclass(frozen=True)
class Powers:
    """A line for each admin and each API key: a forged backup would have added one, an old one has former ones."""

    admins: list[str]
    keys: list[str]


def powers(session: Session) -> Powers:
    """The admins of the service and of communities, and the API keys that work, in order."""
    admin_of: dict[uuid.UUID, list[str]] = {}
    for account_id, name in session.execute(
        sa.select(Membership.account_id, Community.name)
        .join(Community, Community.id == Membership.community_id)
        .where(Membership.role == Role.ADMIN)
        .order_by(Community.name)
    ):
        admin_of.setdefault(account_id, []).append(name)
    admins = [
        f"{account.email}, admin of {', '.join(['the service'] * account.service_admin + admin_of.get(account.id, []))}"
        for account in session.scalars(
            sa.select(Account).where(Account.disabled_at.is_(None)).order_by(Account.email)
        )
        if account.service_admin or account.id in admin_of
    ]
    return Powers(admins, [f"{keys.PREFIX}{key.public_part}…, {key.name}" for key in key_admin.live(session)])


def _lapse_holds(session: Session) -> int:
    held = session.scalars(sa.select(Hold).order_by(Hold.community_id, Hold.id)).all()
    for hold in held:
        serialise(session, hold.community_id)
        actor = accounts.actor_for(accounts.get(session, hold.account_id))
        entry = decision_trace.lapsed(session, actor, hold, CAUSE)
        notices.notify_lapsed(session, hold, entry)
        session.delete(hold)
    session.flush()
    return len(held)


def _stop_bulk(session: Session) -> int:
    """Stop running bulk overturns and replays, which would continue where the backup was."""
    now = clock.now()
    overturns = sa.update(Overturn).where(Overturn.state == OverturnState.RUNNING)
    replays = sa.update(Replay).where(Replay.finished_at.is_(None))
    return bulk.change(session, overturns.values(state=OverturnState.STOPPED, ended_at=now)) + bulk.change(
        session, replays.values(finished_at=now, stopped=CAUSE)
    )
