"""Vector spaces: which fact-checks have a vector of a connected embeddings service, and which space posts use.

A service with another model, address or number of dimensions begins a new space. Posts are compared with the old one
until the new one has a vector for every fact-check; then all posts use the new one, and the old one is deleted.
``filling`` gives fact-checks their vectors, in batches (docs/moderate/fact-checks.md).
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.factcheck import items, search
from app.core.models import (
    Community,
    ConnectedService,
    FactCheckItem,
    FactCheckVector,
    ServiceVersion,
    VectorSpace,
)
from app.core.services.pool import POST_SECONDS, Embedder, ServicePool, identity
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ServiceMode

MOST = 200_000
"""Fact-checks of one space: posts are compared with each of them, in memory."""


@dataclass(frozen=True)
class Serving:
    """The space that a community's posts are compared with, and how to ask for the vector of a post.

    ``covered``: of which state of the datasets every item has its vector there.
    """

    space_id: uuid.UUID
    covered: str
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
    """The embeddings services that are not switched off, with their settings in use; of one community or all.

    Archived communities are left out: nothing is scored there.
    """
    of_community = () if community_id is None else (ConnectedService.community_id == community_id,)
    rows = session.execute(
        sa.select(ConnectedService, ServiceVersion)
        .join(ServiceVersion, _version_in_use())
        .join(Community, Community.id == ConnectedService.community_id)
        .where(
            Community.archived_at.is_(None),
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
        space = used(session, service, settings) if service.mode is ServiceMode.IN_FORCE else None
        if space is None:
            continue
        if space.identity != identity(settings):
            old = _settings_of(session, space)
            if old.host != settings.host:
                # The service's key may be that of the new host already.
                continue
            settings = replace(settings, url=old.url, model=old.model, options=old.options)
        return Serving(space.id, space.covered, services_pool.embedder(service, settings, POST_SECONDS))
    return None


def used(session: Session, service: ConnectedService, settings: ServiceSettings) -> VectorSpace | None:
    """The space of the present settings if it is complete, otherwise the one that was completed last."""
    complete = _of(session, service.id, VectorSpace.complete_at.is_not(None))
    present = identity(settings)
    return next((space for space in complete if space.identity == present), complete[0] if complete else None)


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
    space = wanted(session, service, settings)
    return space is None or space.complete_at is None or space.covered != state(session)


def wanted(session: Session, service: ConnectedService, settings: ServiceSettings) -> VectorSpace | None:
    """The space of the present settings, complete or not."""
    found = _of(session, service.id, VectorSpace.identity == identity(settings))
    return found[0] if found else None


def state(session: Session) -> str:
    """Names the state of all datasets; it changes whenever a text changes."""
    return str(search.last_number(session))


def progress(
    session: Session, services_pool: ServicePool, community_id: uuid.UUID | None = None
) -> list[Progress]:
    """How far the embeddings services are, of one community or of all."""
    found = []
    for service, settings in services(session, services_pool, community_id):
        both = wanted(session, service, settings), used(session, service, settings)
        present, serves = both
        usable = sa.select(sa.func.count(FactCheckItem.id)).where(
            items.serving(service.community_id), FactCheckItem.retired_at.is_(None)
        )
        found.append(
            Progress(
                service,
                settings.model,
                count(session, present.id) if present is not None else 0,
                session.scalar(usable) or 0,
                is_used=serves is not None and service.mode is ServiceMode.IN_FORCE,
                is_changing=serves is not None and serves is not present,
                problem=present.problem if present is not None else "",
            )
        )
    return found


def count(session: Session, space_id: uuid.UUID) -> int:
    """How many fact-checks have a vector in a space; retired ones do not count."""
    return (
        session.scalar(
            sa.select(sa.func.count())
            .select_from(FactCheckVector)
            .join(FactCheckItem, FactCheckItem.id == FactCheckVector.item_id)
            .where(FactCheckVector.space_id == space_id, FactCheckItem.retired_at.is_(None))
        )
        or 0
    )
