"""Posts that wait to be scored, read with all that their scoring needs, and leased by the job that scores them.

A post is its own queue entry: its status is PENDING. Each has a job, which ends only when the post is scored. A job
takes along others of its community, which it leases for a moment, so that no other process scores them meanwhile.
"""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import clock
from app.core.actions import exemptions
from app.core.models import (
    Community,
    ConnectedService,
    FactCheckItem,
    LearnedCategory,
    Request,
    RulePackVersion,
)
from app.core.requests import posts
from app.core.vocabulary import RequestStatus


class InForce(NamedTuple):
    """The community's own rules, services, model and fact-checks, read for every post so that changes apply at once.

    ``rules_version``: 0 for none.
    """

    rules_version: int
    has_services: bool
    has_learned: bool
    has_fact_checks: bool


_VERSION = sa.select(sa.func.max(RulePackVersion.version)).where(RulePackVersion.community_id == Community.id)
COLUMNS = (
    sa.func.coalesce(_VERSION.correlate(Community).scalar_subquery(), 0),
    sa.exists()
    .where(ConnectedService.community_id == Community.id, ConnectedService.removed_at.is_(None))
    .correlate(Community),
    sa.exists()
    .where(LearnedCategory.community_id == Community.id, LearnedCategory.version_in_force > 0)
    .correlate(Community),
    sa.or_(
        sa.exists().where(FactCheckItem.community_id.is_(None), FactCheckItem.retired_at.is_(None)),
        sa.exists()
        .where(FactCheckItem.community_id == Community.id, FactCheckItem.retired_at.is_(None))
        .correlate(Community),
    ),
)
"""The fields of ``InForce`` for a statement that selects from communities."""


def read_in_force(session: Session, community_id: uuid.UUID) -> InForce:
    return InForce(*session.execute(sa.select(*COLUMNS).where(Community.id == community_id)).one())


LEASE = timedelta(seconds=10)
"""Scoring twenty posts takes a tenth of it. One that takes longer may be scored twice, and is stored once."""


@dataclass(frozen=True)
class Waiting:
    """A request that waits to be scored: its text, and what of its own its community scores it with."""

    id: uuid.UUID
    community_id: uuid.UUID
    content: str
    own: InForce


@dataclass(frozen=True)
class Found:
    """A request as its scoring job finds it.

    ``post``: it waits, and nothing speaks against scoring it at once; if None, ``scoring.start`` decides.
    ``has_others``: there are other requests about the same post, which may go first (``requests.following``).
    ``is_over``: it is scored or withdrawn, so nothing is left to do. ``others_wait``: other posts of the community
    wait too.
    """

    community_id: uuid.UUID
    own: InForce
    post: Waiting | None
    is_over: bool
    others_wait: bool
    has_others: bool


def find(session: Session, request_id: uuid.UUID) -> Found | None:
    """The request and what its scoring needs; None if there is none."""
    row = session.connection().execute(_FIND, {"request": request_id}).first()
    if row is None:
        return None
    community_id, content, is_waiting, is_over, others_wait, has_others, *rest = row
    is_same_content, is_same_message, *rest = rest
    own = InForce(*rest)
    if is_waiting and is_same_message and not is_same_content:
        is_waiting = not exemptions.is_similar(session, session.get_one(Request, request_id))
    is_free = is_waiting and not is_same_content and not has_others
    post = Waiting(request_id, community_id, content, own) if is_free else None
    return Found(community_id, own, post, bool(is_over), bool(others_wait), bool(has_others))


def lease(
    session: Session,
    community_id: uuid.UUID,
    own: InForce,
    first: Waiting | None,
    *,
    most: int,
    without: Collection[uuid.UUID] = (),
) -> list[Waiting]:
    """Lease posts of a community that wait: ``first`` and at most ``most`` others, oldest first, none of ``without``.

    Those that another process has leased are left out, also ``first``. So is every text that people restored, and every
    text of a message of which they restored another text: to compare the two takes time. So are posts of which there
    are several requests, for these have an order.
    """
    now = clock.now()
    skipped = [*without] if first is None else [first.id, *without]
    chosen = [] if first is None else [first]
    others = {"community": community_id, "now": now, "most": most, "without": skipped}
    for request_id, content in session.execute(_OTHERS, others):
        chosen.append(Waiting(request_id, community_id, content, own))
    ids = [post.id for post in chosen]
    leased = set(
        session.connection().execute(_LEASE, {"now": now, "ids": ids, "until": now + LEASE}).scalars()
    )
    return [post for post in chosen if post.id in leased]


def release(session: Session, request_ids: Collection[uuid.UUID]) -> None:
    """Let others score these posts, which were leased and not scored."""
    if request_ids:
        session.execute(sa.update(Request).where(Request.id.in_(request_ids)).values(scoring_until=None))


def traces(session: Session, request_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, str]:
    """The ``traceparent`` of these requests, of those that have one; one query."""
    rows = session.execute(
        sa.select(Request.id, Request.traceparent).where(
            Request.id.in_(request_ids), Request.traceparent.is_not(None)
        )
    )
    return {request_id: traceparent for request_id, traceparent in rows if traceparent}


# As text: SQLite uses a partial index only for a query that repeats its condition.
_PENDING_TEXT: sa.ColumnElement[str] = sa.literal_column(f"'{RequestStatus.PENDING}'")
_IS_PENDING = Request.status == _PENDING_TEXT
_OPEN = (Request.withdrawn_at.is_(None), Community.archived_at.is_(None))
_IS_FREE = sa.or_(Request.scoring_until.is_(None), Request.scoring_until <= sa.bindparam("now"))
_OTHER = aliased(Request)
_FIND = (
    sa.select(
        Request.community_id,
        Request.content,
        sa.and_(_IS_PENDING, *_OPEN),
        sa.or_(
            Request.withdrawn_at.is_not(None),
            Request.status.not_in([RequestStatus.PENDING, RequestStatus.IN_PROGRESS]),
            sa.and_(Request.status == RequestStatus.IN_PROGRESS, Request.scored_at.is_not(None)),
        ),
        sa.exists()
        .where(
            _OTHER.community_id == Request.community_id,
            _OTHER.status == _PENDING_TEXT,
            _OTHER.withdrawn_at.is_(None),
            _OTHER.id != Request.id,
        )
        .correlate(Request),
        posts.HAS_OTHERS,
        *exemptions.COLUMNS,
        *COLUMNS,
    )
    .join(Community, Community.id == Request.community_id)
    .where(Request.id == sa.bindparam("request"))
)
_OTHERS = (
    sa.select(Request.id, Request.content)
    .join(Community, Community.id == Request.community_id)
    .where(
        Request.community_id == sa.bindparam("community"),
        _IS_PENDING,
        *_OPEN,
        _IS_FREE,
        Request.id.not_in(sa.bindparam("without", expanding=True)),
        *(sa.not_(is_exempt) for is_exempt in exemptions.COLUMNS),
        sa.not_(posts.HAS_OTHERS),
    )
    .order_by(Request.id)
    .limit(sa.bindparam("most"))
    .with_for_update(of=Request, skip_locked=True)
)
# Rows that another process is leasing are skipped: to wait for them, two that found each other's posts would deadlock.
_FREE = (
    sa.select(Request.id)
    .where(Request.id.in_(sa.bindparam("ids", expanding=True)), _IS_PENDING, _IS_FREE)
    .with_for_update(skip_locked=True)
)
_LEASE = (
    sa.update(Request)
    .where(Request.id.in_(_FREE))
    .values(scoring_until=sa.bindparam("until"))
    .returning(Request.id)
)
