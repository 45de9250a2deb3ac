"""Connected services: added, changed, observed, counted, switched off, removed by operators (docs/run/classifiers.md).

A new service is only observed. Changed settings are a new version; while the service counts, a new version waits
until it is put in force. Every change is in the history, with its reason and without the key.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.db import serialise
from app.core.errors import Invalid, Problem
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import ConnectedService, ServiceVersion
from app.core.outbound import AllowList
from app.core.permissions import Actor, Permission, require
from app.core.sealing import Sealer
from app.core.services import measuring, reading
from app.core.services.kinds import Kind
from app.core.services.settings import NAME_PREFIX, ServiceSettings, checked, service_key, service_name
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets
from app.core.vocabulary import ServiceMode


@dataclass(frozen=True)
class Registry:
    """What the verbs must know of this installation: the kinds of services, how secrets are sealed, own hosts."""

    kinds: Mapping[str, Kind]
    sealer: Sealer
    allow: AllowList

    def kind(self, name: str) -> Kind:
        try:
            return self.kinds[name]
        except KeyError:
            raise Invalid.field("kind", _("must be one of the installed kinds"), name) from None


def add(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    registry: Registry,
    kind_name: str,
    name: str,
    settings: ServiceSettings,
    reason: str,
    *,
    key: str = "",
    consent: bool = False,
) -> ConnectedService:
    """Add a service, observed until an operator lets its scores count. ``consent``: posts may be sent to its host.

    Raises:
        Invalid: a value is not allowed, the name is taken, the consent or the reason is missing.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    kind = registry.kind(kind_name)
    settings = _first(settings, kind, registry, name, reason, key, consent)
    serialise(session, community_id)
    existing = reading.in_community(session, actor, community_id)
    if any(service.name == name for service in existing):
        raise Invalid.field("name", _("is taken by another service"), name)
    limits.room(limits.SERVICES, len(existing), "name")
    service = ConnectedService(
        id=new_id(), community_id=community_id, name=name, kind=kind.name, mode=ServiceMode.OBSERVE, version=1
    )
    service.etag, service.consents = 1, {}
    service.model_seen = service.model_before = ""
    if key:
        service.key = registry.sealer.seal(key, str(service.id))
    if kind.calls_out:
        service.consents = _agreed(service, actor, settings.host)
    session.add(service)
    session.flush()
    _write(session, actor, service, 1, settings, reason)
    after = {"kind": kind.name, **settings.to_json()}
    if kind.calls_out:
        after["posts_are_sent_to"] = settings.host
    _record(session, actor, service, "service.added", reason, after=after)
    return service


def _first(
    settings: ServiceSettings, kind: Kind, registry: Registry, name: str, reason: str, key: str, consent: bool
) -> ServiceSettings:
    """Check everything that a new service is given, so that a form can show all that is wrong at once."""
    problems: list[Problem] = []
    checks: list[Callable[[], object]] = [
        partial(service_name, name),
        partial(limits.text, reason, "reason", limits.REASON_MAX),
        partial(checked, settings, kind, registry.allow),
    ]
    if key:
        checks.append(partial(service_key, key))
    for check in checks:
        try:
            check()
        except Invalid as refusal:
            problems += refusal.problems
    if kind.needs_key and not key:
        problems.append(
            Problem("missing", ("key",), _("must be given: this service refuses requests without one"))
        )
    if kind.calls_out and not consent:
        problems.append(Problem("missing", ("consent",), _("must be given: posts are sent to this host")))
    if problems:
        raise Invalid(*problems)
    return checked(settings, kind, registry.allow)


def change(
    session: Session,
    actor: Actor,
    service_id: uuid.UUID,
    registry: Registry,
    settings: ServiceSettings,
    reason: str,
    *,
    consent: bool = False,
    etag: int | None = None,
) -> ServiceVersion:
    """Write changed settings as a new version. It is used at once unless the service counts; then it waits.

    Raises:
        Invalid: as ``add``; or nothing is changed.
        Conflict: ``etag`` is no longer the service's.
    """
    service = reading.locked(session, actor, service_id, etag, reason)
    kind = registry.kind(service.kind)
    settings = checked(settings, kind, registry.allow)
    latest = reading.newest(session, service)
    before = ServiceSettings.from_json(latest.settings)
    if before == settings:
        raise Invalid.field("settings", _("are the same as before"))
    is_new_host = kind.calls_out and settings.host not in service.consents
    if is_new_host and not consent:
        raise Invalid.field("consent", _("must be given: posts are sent to another host"))
    if is_new_host:
        service.consents = _agreed(service, actor, settings.host)
    version = _write(session, actor, service, latest.version + 1, settings, reason)
    if service.mode is not ServiceMode.IN_FORCE:
        service.version = version.version
    service.etag += 1
    old, new = before.to_json(), settings.to_json()
    changed = [part for part in new if old[part] != new[part]]
    after = {"settings_version": version.version} | {part: new[part] for part in changed}
    if is_new_host:
        after["posts_are_sent_to"] = settings.host
    _record(
        session,
        actor,
        service,
        "service.changed",
        reason,
        before={part: old[part] for part in changed},
        after=after,
    )
    return version


def put_in_force(
    session: Session,
    actor: Actor,
    service_id: uuid.UUID,
    number: int,
    reason: str,
    *,
    etag: int | None = None,
) -> ConnectedService:
    """Use this version of the settings from now on; raises as ``change``.

    Raises:
        Invalid: also if it would count at once, and must be measured first.
    """
    service = reading.locked(session, actor, service_id, etag, reason)
    reading.numbered(session, service, number)
    if service.version == number:
        raise Invalid.field("version", _("is in use already"), number)
    if service.mode is ServiceMode.IN_FORCE:
        measuring.require_measured(session, service, number)
    before, service.version = service.version, number
    service.etag += 1
    _record(
        session,
        actor,
        service,
        "service.version_put_in_force",
        reason,
        before={"version_in_use": before},
        after={"version_in_use": number},
    )
    return service


def set_mode(
    session: Session,
    actor: Actor,
    service_id: uuid.UUID,
    mode: ServiceMode,
    reason: str,
    *,
    if_it_fails: str | None = None,
    etag: int | None = None,
) -> ConnectedService:
    """Observe a service, count its scores, or switch it off; raises as ``change``, and if it must be measured first.

    ``if_it_fails``: what happens then in each category that it scores, once it counts: "retry", "review", or "", the
    others decide. None keeps what the thresholds in force say about it.
    """
    service = reading.locked(session, actor, service_id, etag, reason)
    if service.mode is mode:
        return service
    if mode is ServiceMode.IN_FORCE:
        measuring.require_measured(session, service, service.version)
    service.mode = mode
    service.etag += 1
    _record(session, actor, service, reading.MODE_EVENTS[mode], reason)
    if mode is ServiceMode.IN_FORCE and if_it_fails is not None:
        settings = ServiceSettings.from_json(reading.numbered(session, service, service.version).settings)
        threshold_sets.require_classifier(
            session,
            actor,
            service.community_id,
            f"{NAME_PREFIX}{service.name}",
            dict.fromkeys(settings.routed, if_it_fails or None),
            reason,
        )
    return service


def set_key(
    session: Session,
    actor: Actor,
    service_id: uuid.UUID,
    registry: Registry,
    key: str,
    reason: str,
    *,
    etag: int | None = None,
) -> ConnectedService:
    """Replace the key, which is sealed and never shown; raises as ``change``."""
    service = reading.locked(session, actor, service_id, etag, reason)
    service.key = registry.sealer.seal(service_key(key), str(service.id))
    service.etag += 1
    _record(session, actor, service, "service.key_replaced", reason)
    return service


def remove(
    session: Session, actor: Actor, service_id: uuid.UUID, reason: str, *, etag: int | None = None
) -> ConnectedService:
    """Remove a service and its key. Its scores and its history stay; its name is free again. Raises as ``change``."""
    service = reading.locked(session, actor, service_id, etag, reason)
    service.removed_at, service.key, service.mode = clock.now(), None, ServiceMode.OFF
    service.etag += 1
    _record(session, actor, service, "service.removed", reason)
    return service


def _agreed(service: ConnectedService, actor: Actor, host: str) -> dict[str, Any]:
    """The consents with this host added; the history entry of the change names who agreed."""
    account = str(actor.account_id) if actor.account_id is not None else None
    return {**service.consents, host: {"at": clock.iso(clock.now()), "account_id": account}}


def _write(
    session: Session,
    actor: Actor,
    service: ConnectedService,
    number: int,
    settings: ServiceSettings,
    reason: str,
) -> ServiceVersion:
    version = ServiceVersion(
        service_id=service.id,
        version=number,
        settings=settings.to_json(),
        reason=reason,
        made_by_id=actor.account_id,
    )
    session.add(version)
    session.flush()
    return version


def _record(
    session: Session,
    actor: Actor,
    service: ConnectedService,
    what: str,
    reason: str,
    *,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    session.flush()
    history.record(
        session,
        actor,
        service.community_id,
        what,
        "service",
        service.id,
        before=dict(before or {}),
        after={"name": service.name, **(after or {})},
        reason=Reason(reason),
    )
