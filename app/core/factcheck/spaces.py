"""Vector spaces: which fact-checks have a vector of a connected embeddings service, and which space posts use.

A service with another model, address or number of dimensions begins a new space. Posts are compared with the old one
until the new one has a vector for every fact-check; then all posts use the new one, and the old one is deleted.
``jobs.embedding`` does the work in batches (docs/decisions/0051).
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db import serialise
from app.core.factcheck import items, search
from app.core.ids import new_id
from app.core.models import ConnectedService, FactCheckItem, FactCheckVector, ServiceVersion, VectorSpace
from app.core.services.embedding import POST_SECONDS, Embedder, Vector, identity, text_hash
from app.core.services.pool import ServicePool
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ServiceMode

MOST = 200_000
"""Fact-checks of one space: posts are compared with each of them, in memory."""
LEASE = timedelta(minutes=3)
"""A job that is killed holds its space for this long."""
AGAIN = timedelta(minutes=5)
"""How long a service that failed is left alone, because each attempt counts in its budget."""
DELETED_AT_ONCE = 1_000
TOO_MANY = f"only {MOST:,} fact-checks have a vector; the others are found by their words"


@dataclass(frozen=True)
class Pending:
    """A fact-check without a vector of its present text."""

    item_id: uuid.UUID
    number: int
    text: str

    @property
    def sha256(self) -> str:
        return text_hash(self.text)


@dataclass(frozen=True)
class Serving:
    """The space that a community's posts are compared with, and how to ask for the vector of a post."""

    space_id: uuid.UUID
    embedder: Embedder


@dataclass(frozen=True)
class Progress:
    """How far a service's fact-checks have vectors. ``is_used``: posts are compared with a space of it.

    ``is_changing``: a new model's vectors are being computed, while posts use those of the old one.
    """

    service: ConnectedService
    model: str
    done: int
    items: int
    is_used: bool
    is_changing: bool
    problem: str = ""


def services(
    session: Session, services_pool: ServicePool, community_id: uuid.UUID | None = None
) -> list[tuple[ConnectedService, ServiceSettings]]:
    """The embeddings services that are not switched off, with their settings in use; of one community or all."""
    of_community = () if community_id is None else (ConnectedService.community_id == community_id,)
    rows = session.execute(
        sa.select(ConnectedService, ServiceVersion)
        .join(ServiceVersion, _version_in_use())
        .where(
            ConnectedService.kind.in_([name for name, kind in services_pool.kinds.items() if kind.embeds]),
            ConnectedService.removed_at.is_(None),
            ConnectedService.mode != ServiceMode.OFF,
            *of_community,
        )
        .order_by(ConnectedService.name, ConnectedService.id)
    )
    return [(service, ServiceSettings.from_json(version.settings)) for service, version in rows]


def _version_in_use() -> sa.ColumnElement[bool]:
    return sa.and_(
        ServiceVersion.service_id == ConnectedService.id, ServiceVersion.version == ConnectedService.version
    )


def serving(session: Session, services_pool: ServicePool, community_id: uuid.UUID) -> Serving | None:
    """What a community's posts are compared with, None without a service that counts and has all vectors."""
    for service, settings in services(session, services_pool, community_id):
        space = _used(session, service, settings) if service.mode is ServiceMode.IN_FORCE else None
        if space is None:
            continue
        if space.identity != identity(settings):
            old = _settings_of(session, space)
            if old.host != settings.host:
                # The service's key may be that of the new host already.
                continue
            settings = replace(settings, url=old.url, model=old.model, options=old.options)
        return Serving(space.id, services_pool.embedder(service, settings, POST_SECONDS))
    return None


def _used(session: Session, service: ConnectedService, settings: ServiceSettings) -> VectorSpace | None:
    """The space of the present settings if it is complete, otherwise the one that was completed last."""
    complete = _of(session, service.id, VectorSpace.complete_at.is_not(None))
    wanted = identity(settings)
    return next((space for space in complete if space.identity == wanted), complete[0] if complete else None)


def _of(session: Session, service_id: uuid.UUID, *which: sa.ColumnElement[bool]) -> Sequence[VectorSpace]:
    return session.scalars(
        sa.select(VectorSpace)
        .where(VectorSpace.service_id == service_id, *which)
        .order_by(VectorSpace.complete_at.desc(), VectorSpace.id.desc())
    ).all()


def _settings_of(session: Session, space: VectorSpace) -> ServiceSettings:
    version = session.scalars(
        sa.select(ServiceVersion).where(
            ServiceVersion.service_id == space.service_id, ServiceVersion.version == space.settings_version
        )
    ).one()
    return ServiceSettings.from_json(version.settings)


def is_due(session: Session, service: ConnectedService, settings: ServiceSettings) -> bool:
    """Whether a fact-check may lack its vector, so that ``lease`` is worth a writing transaction."""
    space = _wanted(session, service, settings)
    return space is None or space.complete_at is None or space.covered != state(session, service)


def _wanted(session: Session, service: ConnectedService, settings: ServiceSettings) -> VectorSpace | None:
    found = _of(session, service.id, VectorSpace.identity == identity(settings))
    return found[0] if found else None


def state(session: Session, service: ConnectedService) -> str:
    """Names the state of the datasets that a service's community uses; it changes whenever a text changes."""
    return ":".join(map(str, search.sizes(session, service.community_id)))


def lease(
    session: Session, service: ConnectedService, settings: ServiceSettings
) -> tuple[uuid.UUID, int] | None:
    """Begin to work on the space of these settings. Returns its id and how many vectors it has.

    None while another job works on it.
    """
    serialise(session, service.id)
    space = _wanted(session, service, settings)
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
    return space.id, _count(session, space.id)


def pending(session: Session, space_id: uuid.UUID, after: uuid.UUID | None, most: int) -> list[Pending]:
    """The next fact-checks that lack a vector of their present text, in the order of their ids."""
    space = session.get_one(VectorSpace, space_id)
    community_id = session.get_one(ConnectedService, space.service_id).community_id
    beginning = () if after is None else (FactCheckItem.id > after,)
    rows = session.execute(
        sa.select(FactCheckItem.id, FactCheckItem.number, FactCheckItem.claim, FactCheckItem.title)
        .outerjoin(
            FactCheckVector,
            sa.and_(FactCheckVector.space_id == space_id, FactCheckVector.item_id == FactCheckItem.id),
        )
        .where(
            items.serving(community_id),
            FactCheckItem.number >= 0,
            sa.or_(FactCheckVector.item_id.is_(None), FactCheckVector.number != FactCheckItem.number),
            *beginning,
        )
        .order_by(FactCheckItem.id)
        .limit(most)
    )
    return [
        Pending(item_id, number, f"{claim}\n{title or ''}".strip())
        for item_id, number, claim, title in rows
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
        space.problem = "its vectors have another number of dimensions than before"
        return False
    last = session.scalar(
        sa.select(sa.func.max(FactCheckVector.position)).where(FactCheckVector.space_id == space_id)
    )
    session.execute(
        sa.delete(FactCheckVector)
        .where(
            FactCheckVector.space_id == space_id,
            FactCheckVector.item_id.in_([one.item_id for one, _ in batch]),
        )
        .execution_options(synchronize_session=False)
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


def finish(session: Session, space_id: uuid.UUID, covered: str, problem: str = "") -> None:
    """End the work on a space. ``covered``: the state whose items all have vectors; empty: some lack theirs.

    A space that is complete for the first time is used from now on. After a problem, no job goes on for some minutes.
    """
    space = _locked(session, space_id)
    if space is None:
        return
    space.problem = problem[:255]
    space.leased_until = clock.now() + AGAIN if problem and not covered else None
    if covered:
        space.covered = covered
        space.complete_at = space.complete_at or clock.now()
    session.flush()


def unused(session: Session, services_pool: ServicePool) -> list[uuid.UUID]:
    """The spaces that no service uses any more: of removed services, and of settings that were replaced."""
    kept: set[uuid.UUID] = set()
    present = services(session, services_pool)
    for service, settings in present:
        both = (_wanted(session, service, settings), _used(session, service, settings))
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
    session.execute(
        sa.delete(FactCheckVector)
        .where(FactCheckVector.space_id == space_id, FactCheckVector.item_id.in_(chosen))
        .execution_options(synchronize_session=False)
    )
    if len(chosen) < DELETED_AT_ONCE:
        session.delete(space)
        session.flush()
        return False
    return True


def progress(
    session: Session, services_pool: ServicePool, community_id: uuid.UUID | None = None
) -> list[Progress]:
    """How far the embeddings services are, of one community or of all."""
    found = []
    for service, settings in services(session, services_pool, community_id):
        wanted, used = _wanted(session, service, settings), _used(session, service, settings)
        usable = sa.select(sa.func.count(FactCheckItem.id)).where(
            items.serving(service.community_id), FactCheckItem.number >= 0
        )
        found.append(
            Progress(
                service,
                settings.model,
                _count(session, wanted.id) if wanted is not None else 0,
                session.scalar(usable) or 0,
                is_used=used is not None and service.mode is ServiceMode.IN_FORCE,
                is_changing=used is not None and used is not wanted,
                problem=wanted.problem if wanted is not None else "",
            )
        )
    return found


def _count(session: Session, space_id: uuid.UUID) -> int:
    return (
        session.scalar(
            sa.select(sa.func.count())
            .select_from(FactCheckVector)
            .where(FactCheckVector.space_id == space_id)
        )
        or 0
    )


def _locked(session: Session, space_id: uuid.UUID) -> VectorSpace | None:
    space = session.get(VectorSpace, space_id)
    if space is None:
        return None
    serialise(session, space.service_id)
    return session.get(VectorSpace, space_id, populate_existing=True)
