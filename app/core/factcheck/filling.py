"""Gives fact-checks their vectors, step by step: each verb is one transaction of the job (``jobs.fact_checks``).

The job asks the service between two of them. A job that is killed is continued by the next: what has its vector is
not sent again.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, texts
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.factcheck import items, nearest, spaces
from app.core.ids import new_id
from app.core.models import ConnectedService, FactCheckItem, FactCheckVector, VectorSpace
from app.core.services.pool import ServicePool, Vector, identity, text_hash
from app.core.services.settings import ServiceSettings
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ServiceMode

LEASE = timedelta(minutes=3)
"""A job that is killed holds its space for this long."""
AGAIN = timedelta(minutes=5)
"""How long a service that failed is left alone, because each attempt counts in its budget."""
DELETED_AT_ONCE = 1_000


@dataclass(frozen=True)
class Pending:
    """A fact-check without a vector of its present text. ``is_new``: it has none of an earlier text either."""

    item_id: uuid.UUID
    number: int
    text: str
    is_new: bool = True

    @property
    def sha256(self) -> str:
        return text_hash(self.text)


def lease(
    session: Session, service: ConnectedService, settings: ServiceSettings
) -> tuple[uuid.UUID, int] | None:
    """Begin to work on the space of these settings. Returns its id and how many fact-checks have a vector there.

    None while another job works on it.
    """
    serialise(session, service.id)
    space = spaces.wanted(session, service, settings)
    if space is None:
        space = VectorSpace(
            id=new_id(),
            service_id=service.id,
            settings_version=service.version,
            identity=identity(settings),
        )
        session.add(space)
    elif space.leased_until is not None and space.leased_until > clock.now():
        return None
    space.leased_until = clock.now() + LEASE
    session.flush()
    return space.id, spaces.count(session, space.id)


def is_wanted(session: Session, service: ConnectedService) -> bool:
    """Whether to go on asking a service: it was not changed, removed or switched off since it was read."""
    present = session.get(ConnectedService, service.id)
    return (
        present is not None
        and present.removed_at is None
        and present.mode is not ServiceMode.OFF
        and present.etag == service.etag
    )


def pending(
    session: Session, space_id: uuid.UUID, after: uuid.UUID | None, most: int, *, only_changed: bool = False
) -> list[Pending]:
    """The next fact-checks that lack a vector of their present text, in the order of their ids; none without the space.

    ``only_changed``: only those that have a vector of an earlier text, for a space that takes no more.

    A space is deleted under a running job when the service gets another model or is removed.
    """
    space = session.get(VectorSpace, space_id)
    if space is None:
        return []
    community_id = session.get_one(ConnectedService, space.service_id).community_id
    lacking = FactCheckVector.number != FactCheckItem.number
    if not only_changed:
        lacking = sa.or_(FactCheckVector.item_id.is_(None), lacking)
    beginning = () if after is None else (FactCheckItem.id > after,)
    rows = session.execute(
        sa.select(
            FactCheckItem.id,
            FactCheckItem.number,
            FactCheckItem.claim,
            FactCheckItem.title,
            FactCheckVector.item_id.label("vector_of"),
        )
        .outerjoin(
            FactCheckVector,
            sa.and_(FactCheckVector.space_id == space_id, FactCheckVector.item_id == FactCheckItem.id),
        )
        .where(
            items.serving(community_id),
            FactCheckItem.retired_at.is_(None),
            lacking,
            *beginning,
        )
        .order_by(FactCheckItem.id)
        .limit(most)
    )
    return [
        Pending(item_id, number, f"{claim}\n{title or ''}".strip(), is_new=vector_of is None)
        for item_id, number, claim, title, vector_of in rows
        if number is not None
    ]


def known(session: Session, space_id: uuid.UUID, hashes: Collection[str]) -> Mapping[str, bytes]:
    """The stored vectors of texts with these hashes."""
    rows = session.execute(
        sa.select(FactCheckVector.sha256, FactCheckVector.vector).where(
            FactCheckVector.space_id == space_id, FactCheckVector.sha256.in_(hashes)
        )
    )
    return {sha256: vector for sha256, vector in rows}


def packed(vector: Vector | None) -> bytes:
    """A vector as it is stored; empty for a text that the service refuses."""
    return b"" if vector is None else vector.astype("<f2").tobytes()


def store(session: Session, space_id: uuid.UUID, batch: Sequence[tuple[Pending, bytes]]) -> bool:
    """Store the vectors of a batch. False, storing nothing: the space is gone, or its model gives other dimensions."""
    space = _locked(session, space_id)
    if space is None:
        return False
    sizes = {len(vector) // 2 for _, vector in batch if vector}
    space.dimensions = space.dimensions or max(sizes, default=0)
    if sizes - {space.dimensions}:
        space.problem = lazy_gettext("its vectors have another number of dimensions than before")
        return False
    last = session.scalar(
        sa.select(sa.func.max(FactCheckVector.position)).where(FactCheckVector.space_id == space_id)
    )
    bulk.change(
        session,
        sa.delete(FactCheckVector).where(
            FactCheckVector.space_id == space_id,
            FactCheckVector.item_id.in_([one.item_id for one, _ in batch]),
        ),
    )
    session.execute(
        sa.insert(FactCheckVector),
        [
            {
                "space_id": space_id,
                "item_id": one.item_id,
                "number": one.number,
                "sha256": one.sha256,
                "vector": vector,
                "position": position,
            }
            for position, (one, vector) in enumerate(batch, start=(last or 0) + 1)
        ],
    )
    space.leased_until, space.problem = clock.now() + LEASE, ""
    session.flush()
    return True


def finish(
    session: Session, space_id: uuid.UUID, covered: str, problem: str = "", *, is_full: bool = False
) -> None:
    """End the work on a space. ``covered``: the state whose items all have vectors; empty: some lack theirs.

    ``is_full``: those that lack theirs get none, because the space takes no more.

    A space that is complete for the first time is used from now on; one that is too large for the memory is not used,
    or no longer. After a problem, no job goes on for some minutes.
    """
    space = _locked(session, space_id)
    if space is None:
        return
    bytes_needed = nearest.size(spaces.count(session, space_id), space.dimensions) if covered else 0
    service = session.get_one(ConnectedService, space.service_id)
    with community_settings.in_language(session, service.community_id):
        if bytes_needed > nearest.BYTES_MAX:
            space.complete_at, covered, problem = None, "", _too_large(bytes_needed)
        elif is_full:
            problem = _(
                "only %(most)s fact-checks have a vector; the others are found by their words",
                most=texts.number(spaces.MOST),
            )
    space.problem = problem[:255]
    space.leased_until = clock.now() + AGAIN if problem and not covered else None
    if covered:
        space.covered = covered
        space.complete_at = space.complete_at or clock.now()
    session.flush()


def _too_large(bytes_needed: int) -> str:
    needed, most = (round(number / 1024 / 1024) for number in (bytes_needed, nearest.BYTES_MAX))
    return _(
        "its vectors take %(needed)s MB of memory, and %(most)s MB are there: fewer dimensions would do",
        needed=texts.number(needed),
        most=texts.number(most),
    )


def forget_retired(session: Session) -> bool:
    """Delete some vectors of fact-checks that match no post any more. Returns whether there may be more."""
    is_retired = sa.exists().where(
        FactCheckItem.id == FactCheckVector.item_id, FactCheckItem.retired_at.is_not(None)
    )
    chosen = session.scalars(
        sa.select(FactCheckVector.item_id).where(is_retired).distinct().limit(DELETED_AT_ONCE)
    ).all()
    if chosen:
        # One that was brought back meanwhile keeps its vector.
        bulk.change(
            session, sa.delete(FactCheckVector).where(FactCheckVector.item_id.in_(chosen), is_retired)
        )
    return len(chosen) == DELETED_AT_ONCE


def unused(session: Session, services_pool: ServicePool) -> list[uuid.UUID]:
    """The spaces that no service uses any more: of removed services, and of settings that were replaced."""
    kept: set[uuid.UUID] = set()
    present = spaces.services(session, services_pool)
    for service, settings in present:
        both = (spaces.wanted(session, service, settings), spaces.used(session, service, settings))
        kept |= {space.id for space in both if space is not None}
    # A service that is switched off, or whose package is not installed just now, keeps its spaces.
    rows = session.scalars(
        sa.select(VectorSpace.id)
        .join(ConnectedService, ConnectedService.id == VectorSpace.service_id)
        .where(
            sa.or_(
                ConnectedService.removed_at.is_not(None),
                ConnectedService.id.in_([service.id for service, _ in present]),
            )
        )
    )
    return [space_id for space_id in rows if space_id not in kept]


def delete(session: Session, space_id: uuid.UUID) -> bool:
    """Delete a part of a space's vectors, and with the last ones the space. Returns whether there is more."""
    space = _locked(session, space_id)
    if space is None:
        return False
    chosen = session.scalars(
        sa.select(FactCheckVector.item_id).where(FactCheckVector.space_id == space_id).limit(DELETED_AT_ONCE)
    ).all()
    bulk.change(
        session,
        sa.delete(FactCheckVector).where(
            FactCheckVector.space_id == space_id, FactCheckVector.item_id.in_(chosen)
        ),
    )
    if len(chosen) < DELETED_AT_ONCE:
        session.delete(space)
        session.flush()
        return False
    return True


def _locked(session: Session, space_id: uuid.UUID) -> VectorSpace | None:
    space = session.get(VectorSpace, space_id)
    if space is None:
        return None
    serialise(session, space.service_id)
    return session.get(VectorSpace, space_id, populate_existing=True)
