"""Webhook webhooks: registered, changed, rotated, disabled, removed (docs/integration.md).

A secret is sealed for the row that holds it and appears in no reply, no history entry and no refusal.
"""

import uuid
from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, NotFound
from app.core.history import chain as history
from app.core.history import settings as setting_history
from app.core.history.why import Why
from app.core.ids import new_id
from app.core.models import Community, Event, Webhook
from app.core.permissions import Actor, Permission, allows, require, require_found
from app.core.sealing import Sealer
from app.core.vocabulary import DeliveryState
from app.core.webhooks import events, health, secrets, values
from app.core.webhooks.sending import AllowList

CHANGED = "webhook.changed"
BY_HAND = "Disabled by hand"
REMOVED = "Removed"


class Outdated(Conflict):
    """What the caller saw of a webhook is no longer what is set."""


class Unchanged(Enum):
    """Stands for "as it was" where None has a meaning of its own."""

    UNCHANGED = "unchanged"


UNCHANGED: Literal[Unchanged.UNCHANGED] = Unchanged.UNCHANGED


def register(
    session: Session,
    actor: Actor,
    sealer: Sealer,
    allow: AllowList,
    community: Community,
    url: str,
    secret: str,
    event_names: Sequence[str] | None = None,
) -> tuple[Webhook, bool]:
    """Register ``url`` for the community's events, None meaning all of them: (webhook, made).

    The same community and URL again updates instead: the new secret, the events, and enabled once more; the
    old secret goes on signing for 24 hours beside the new one.

    Raises:
        Invalid: the URL is one we never send to, the secret's form is wrong, an event is unknown.
        Forbidden, NotFound: not this actor's to do.
    """
    require(actor, Permission.MANAGE_WEBHOOKS, community.id)
    values.require_allowed_url(url, allow)
    values.check_secret(secret)
    chosen = values.checked_events(event_names)
    serialise(session, community.id)
    webhook = _at(session, community.id, url)
    if webhook is None:
        made = _insert(session, actor, sealer, community.id, url, secret, chosen)
        if made is not None:
            history.record(
                session,
                actor,
                community.id,
                "webhook.registered",
                "webhook",
                made.id,
                after=health.shown(made),
            )
            return made, True
        webhook = _at(session, community.id, url)
        if webhook is None:
            raise Conflict("This webhook is being registered and removed right now")
    before = health.shown(webhook)
    rotated = secrets.replace(webhook, sealer, secret, clock.now())
    webhook.events = chosen
    health.enable(session, webhook)
    _record_change(session, actor, webhook, before, rotated)
    return webhook, False


def get(
    session: Session,
    actor: Actor,
    endpoint_id: uuid.UUID,
    permission: Permission = Permission.MANAGE_WEBHOOKS,
) -> Webhook:
    """The webhook, for whoever holds ``permission``. Raises NotFound when unknown, removed or foreign."""
    webhook = session.get(Webhook, endpoint_id)
    present = webhook if webhook is not None and webhook.deleted_at is None else None
    return require_found(actor, permission, present, "webhook")


def at_url(session: Session, actor: Actor, community_id: uuid.UUID, url: str) -> Webhook | None:
    """The community's webhook with this URL."""
    require(actor, Permission.MANAGE_WEBHOOKS, community_id)
    limits.storable(url, "url")
    serialise(session, community_id)
    return _at(session, community_id, url)


def visible(session: Session, actor: Actor, community_id: uuid.UUID | None = None) -> list[Webhook]:
    """The webhooks of one community, which the actor manages, or of all where they see webhooks; oldest first."""
    if community_id is not None:
        require(actor, Permission.MANAGE_WEBHOOKS, community_id)
        statement = _present().where(Webhook.community_id == community_id)
    else:
        statement = matching(actor)
    return list(session.scalars(statement.order_by(Webhook.created_at, Webhook.id)))


def matching(actor: Actor) -> sa.Select[Any]:
    """The webhooks of every community where the actor sees webhooks, unordered. Raises Forbidden for none."""
    if actor.communities is None:
        return _present()
    return _present().where(Webhook.community_id.in_(_communities_with(actor, Permission.SEE_WEBHOOKS)))


def _present() -> sa.Select[Any]:
    return sa.select(Webhook).where(Webhook.deleted_at.is_(None))


def managed_communities(actor: Actor) -> list[uuid.UUID]:
    """Of an actor's listed communities those whose webhooks are theirs. Raises Forbidden when none is."""
    return _communities_with(actor, Permission.MANAGE_WEBHOOKS)


def _communities_with(actor: Actor, permission: Permission) -> list[uuid.UUID]:
    listed = actor.communities or frozenset()
    found = [one for one in listed if allows(actor, permission, one)]
    if listed and not found:
        raise Forbidden(f"You may not {permission.replace('_', ' ')} here")
    return found


def change(
    session: Session,
    actor: Actor,
    sealer: Sealer,
    allow: AllowList,
    endpoint_id: uuid.UUID,
    *,
    url: str | None = None,
    secret: str | None = None,
    event_names: Sequence[str] | Unchanged | None = UNCHANGED,
    is_active: bool | None = None,
    etag: str | None = None,
    based_on: str | None = None,
    reason: str = "",
) -> Webhook:
    """Change what is given. A new secret starts a rotation; enabling forgets past failures.

    ``etag`` is the secret's that the caller means to replace: a form sent twice rotates once. ``based_on`` is the
    ``webhook_values.version`` of what the caller saw: nobody's save is lost to another's.

    Raises:
        Invalid: as ``register``.
        Conflict: another endpoint of the community already has this URL, the secret is another one by now, or somebody
            saved another URL or other events meanwhile.
    """
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    webhook = _held(session, actor, endpoint_id)
    if etag is not None and etag != secrets.etag(webhook):
        raise Conflict("The secret was replaced already", webhook.id)
    if based_on is not None and based_on != values.etag(webhook):
        who = setting_history.by_whom(session, "webhook", webhook.id, CHANGED)
        raise Outdated(f"Somebody saved other values meanwhile{who}", webhook.id)
    before, rotated = health.shown(webhook), False
    if url is not None and url != webhook.url:
        values.require_allowed_url(url, allow)
        _move_to(session, webhook, url)
    if secret is not None:
        values.check_secret(secret)
        rotated = secrets.replace(webhook, sealer, secret, clock.now())
    if not isinstance(event_names, Unchanged):
        webhook.events = values.checked_events(event_names)
    if is_active is True and not webhook.is_active:
        health.enable(session, webhook)
    elif is_active is False and webhook.is_active:
        health.disable(session, webhook, BY_HAND)
    _record_change(session, actor, webhook, before, rotated, reason)
    return webhook


def remove(session: Session, actor: Actor, endpoint_id: uuid.UUID, reason: str = "") -> Webhook:
    """Remove an webhook: its secrets are forgotten and what was due to it is cancelled; its log stays."""
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    webhook = _held(session, actor, endpoint_id)
    before = health.shown(webhook)
    webhook.deleted_at = clock.now()
    webhook.is_active = False
    webhook.disabled_reason = REMOVED
    webhook.secret, webhook.previous_secret, webhook.previous_until = b"", None, None
    session.flush()
    health.change_due(
        session,
        webhook.id,
        sa.true(),
        state=DeliveryState.CANCELLED,
        due_at=None,
        leased_by=None,
        leased_until=None,
    )
    history.record(
        session,
        actor,
        webhook.community_id,
        "webhook.removed",
        "webhook",
        webhook.id,
        before=before,
        why=Why(reason),
    )
    return webhook


def send_test(session: Session, actor: Actor, endpoint_id: uuid.UUID) -> Event:
    """Send a test event to this webhook alone. Raises Conflict while it is disabled."""
    webhook = _held(session, actor, endpoint_id)
    if not webhook.is_active:
        raise Conflict("This webhook is disabled; enable it first", webhook.id)
    history.record(session, actor, webhook.community_id, "webhook.tested", "webhook", webhook.id)
    return events.emit_test(session, webhook)


def _held(session: Session, actor: Actor, endpoint_id: uuid.UUID) -> Webhook:
    """The webhook as it is now, with nobody else changing it until the transaction ends."""
    webhook = get(session, actor, endpoint_id)
    serialise(session, webhook.community_id)
    session.refresh(webhook, with_for_update={"key_share": True})
    if webhook.deleted_at is not None:
        raise NotFound("webhook")
    return webhook


def _at(session: Session, community_id: uuid.UUID, url: str) -> Webhook | None:
    return session.scalars(
        sa.select(Webhook)
        .where(Webhook.community_id == community_id, Webhook.url == url, Webhook.deleted_at.is_(None))
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    ).first()


def _insert(
    session: Session,
    actor: Actor,
    sealer: Sealer,
    community_id: uuid.UUID,
    url: str,
    secret: str,
    chosen: list[str] | None,
) -> Webhook | None:
    """The new row, or None when somebody registered the same URL between our look and our insert."""
    identity = new_id()
    webhook = Webhook(
        id=identity,
        community_id=community_id,
        key_id=actor.key_id,
        url=url,
        secret=sealer.seal(secret, str(identity)),
        events=chosen,
        is_active=True,
        failures=0,
        gone_answers=0,
    )
    try:
        with session.begin_nested():
            session.add(webhook)
    except IntegrityError:
        return None
    return webhook


def _move_to(session: Session, webhook: Webhook, url: str) -> None:
    try:
        with session.begin_nested():
            webhook.url = url
            health.forget_failures(webhook)
    except IntegrityError as error:
        raise Conflict("Another webhook of this community already has this URL") from error


def _record_change(
    session: Session,
    actor: Actor,
    webhook: Webhook,
    before: dict[str, Any],
    rotated: bool,
    reason: str = "",
) -> None:
    session.flush()
    after = health.shown(webhook)
    changed = {name for name in after if after[name] != before[name]}
    if not changed and not rotated:
        return
    history.record(
        session,
        actor,
        webhook.community_id,
        CHANGED,
        "webhook",
        webhook.id,
        before={name: before[name] for name in sorted(changed)},
        after={name: after[name] for name in sorted(changed)} | ({"secret": "changed"} if rotated else {}),
        why=Why(reason),
    )
