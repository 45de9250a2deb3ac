"""Reads connected services and the versions of their settings."""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.db import serialise
from app.core.errors import Conflict, NotFound
from app.core.history.settings import with_last_change
from app.core.models import Account, ConnectedService, ServiceVersion
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _
from app.core.vocabulary import ServiceMode

MODE_EVENTS = {
    ServiceMode.OBSERVE: "service.observed",
    ServiceMode.IN_FORCE: "service.counted",
    ServiceMode.OFF: "service.switched_off",
}
"""What history calls each change of a service's mode."""


_EVENTS = (
    "service.added",
    "service.changed",
    "service.version_put_in_force",
    "service.key_replaced",
    *MODE_EVENTS.values(),
)


def find(session: Session, actor: Actor, service_id: uuid.UUID) -> ConnectedService:
    """A service that is not removed. Raises NotFound: unknown, removed or in another community."""
    service = session.get(ConnectedService, service_id, populate_existing=True)
    if service is None or service.removed_at is not None:
        raise NotFound("service")
    require(actor, Permission.REVISE_POLICY, service.community_id, "service")
    return service


def in_community(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[ConnectedService]:
    """The community's services that are not removed, by name."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(
        sa.select(ConnectedService)
        .where(ConnectedService.community_id == community_id, ConnectedService.removed_at.is_(None))
        .order_by(ConnectedService.name)
    ).all()


def versions(
    session: Session, service: ConnectedService, most: int = 20
) -> Sequence[tuple[ServiceVersion, str]]:
    """The newest versions, newest first, each with the name of who made it, "Bridgenote" without an account."""
    rows = session.execute(
        sa.select(ServiceVersion, Account.display_name)
        .outerjoin(Account, Account.id == ServiceVersion.made_by_id)
        .where(ServiceVersion.service_id == service.id)
        .order_by(ServiceVersion.version.desc())
        .limit(most)
    )
    return [(version, name or "Bridgenote") for version, name in rows]


def newest(session: Session, service: ConnectedService) -> ServiceVersion:
    """The newest version, in use or waiting."""
    return session.scalars(
        sa.select(ServiceVersion)
        .where(ServiceVersion.service_id == service.id)
        .order_by(ServiceVersion.version.desc())
        .limit(1)
    ).one()


def numbered(session: Session, service: ConnectedService, number: int) -> ServiceVersion:
    """One version. Raises NotFound."""
    version = session.scalars(
        sa.select(ServiceVersion).where(
            ServiceVersion.service_id == service.id, ServiceVersion.version == number
        )
    ).first()
    if version is None:
        raise NotFound("version")
    return version


def locked(
    session: Session, actor: Actor, service_id: uuid.UUID, etag: int | None, reason: str
) -> ConnectedService:
    """Lock the community and return the service, to change it for this reason.

    Raises:
        NotFound: as ``find``.
        Invalid: the reason is missing or too long.
        Conflict: ``etag`` is no longer the service's.
    """
    service = find(session, actor, service_id)
    serialise(session, service.community_id)
    session.refresh(service)
    if service.removed_at is not None:
        raise NotFound("service")
    if etag is not None and etag != service.etag:
        said = _("This service was changed in the meantime")
        raise Conflict(with_last_change(said, session, "service", service.id, *_EVENTS), service.id)
    limits.text(reason, "reason", limits.REASON_MAX)
    return service
