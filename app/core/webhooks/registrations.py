"""Webhooks: register, change, rotate the secret, disable, remove (docs/integrate/api.md).

A secret is sealed for the row that holds it and appears in no response, no history entry and no error message.
"""

import hashlib
import json
import uuid
from collections.abc import Sequence
from enum import Enum
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid, NotFound
from app.core.history import chain as history
from app.core.history import settings as setting_history
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Community, Event, Webhook
from app.core.outbound import AllowList, BadAddress, check_url
from app.core.permissions import REFUSALS, Actor, Permission, allows, require, require_found
from app.core.sealing import Sealer
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import DeliveryState
from app.core.webhooks import catalogue, events, health, signing

CHANGED = "webhook.changed"
BY_HAND = lazy_gettext("Disabled by hand")
REMOVED = "Removed"


class Outdated(Conflict):
    """The webhook has changed since the caller read it."""


class Unchanged(Enum):
    """Marks an argument as not given where None has its own meaning."""

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
    """Register ``url`` for the community's events (None: all of them). Return (webhook, whether it is new).

    Registering the same community and URL again updates the webhook: the new secret, the events, and enabled again.
    The old secret also signs for 24 hours beside the new one, as do those before it until their 24 hours end.

    Raises:
        Invalid: the URL is not allowed, the secret has a wrong form, an event is unknown, or there are too
            many webhooks.
        Forbidden, NotFound: the actor may not manage webhooks here.
    """
    require(actor, Permission.MANAGE_WEBHOOKS, community.id)
    _require_allowed_url(url, allow)
    signing.check_secret(secret)
    chosen = catalogue.checked(event_names)
    serialise(session, community.id)
    webhook = _find_by_url(session, community.id, url)
    if webhook is None:
        present = sa.select(sa.func.count(Webhook.id)).where(
            Webhook.community_id == community.id, Webhook.deleted_at.is_(None)
        )
        limits.room(limits.WEBHOOKS, session.scalar(present) or 0, "url")
        created = _insert(session, actor, sealer, community.id, url, secret, chosen)
        if created is not None:
            history.record(
                session,
                actor,
                community.id,
                "webhook.registered",
                "webhook",
                created.id,
                after=health.history_values(created),
            )
            return created, True
        webhook = _find_by_url(session, community.id, url)
        if webhook is None:
            raise Conflict(_("This webhook is being registered and removed right now"))
    before = health.history_values(webhook)
    rotated = signing.replace_secret(session, webhook, sealer, secret, clock.now())
    webhook.events = chosen
    health.enable(session, webhook)
    _record_change(session, actor, webhook, before, rotated)
    return webhook, False


def get(
    session: Session,
    actor: Actor,
    webhook_id: uuid.UUID,
    permission: Permission = Permission.MANAGE_WEBHOOKS,
) -> Webhook:
    """Return the webhook if the actor holds ``permission``. Raises NotFound when unknown, removed or foreign."""
    webhook = session.get(Webhook, webhook_id)
    present = webhook if webhook is not None and webhook.deleted_at is None else None
    return require_found(actor, permission, present, "webhook")


def find_by_url(session: Session, actor: Actor, community_id: uuid.UUID, url: str) -> Webhook | None:
    """The community's webhook with this URL, or None."""
    require(actor, Permission.MANAGE_WEBHOOKS, community_id)
    limits.storable(url, "url")
    serialise(session, community_id)
    return _find_by_url(session, community_id, url)


def visible(session: Session, actor: Actor, community_id: uuid.UUID) -> list[Webhook]:
    """The community's webhooks, oldest first, for who may manage them."""
    require(actor, Permission.MANAGE_WEBHOOKS, community_id)
    statement = _PRESENT.where(Webhook.community_id == community_id)
    return list(session.scalars(statement.order_by(Webhook.created_at, Webhook.id)))


def visible_statement(actor: Actor) -> sa.Select[Any]:
    """SELECT of the webhooks of all communities where the actor sees webhooks. Raises Forbidden for none."""
    if actor.communities is None:
        return _PRESENT
    allowed = [one for one in actor.communities if allows(actor, Permission.SEE_WEBHOOKS, one)]
    if actor.communities and not allowed:
        raise Forbidden(REFUSALS[Permission.SEE_WEBHOOKS])
    return _PRESENT.where(Webhook.community_id.in_(allowed))


_PRESENT = sa.select(Webhook).where(Webhook.deleted_at.is_(None))


def change(
    session: Session,
    actor: Actor,
    sealer: Sealer,
    allow: AllowList,
    webhook_id: uuid.UUID,
    *,
    url: str | None = None,
    secret: str | None = None,
    event_names: Sequence[str] | Unchanged | None = UNCHANGED,
    is_active: bool | None = None,
    etag: str | None = None,
    based_on: str | None = None,
    end_former: bool = False,
    reason: str = "",
) -> Webhook:
    """Change the values that are not None. A new secret starts a rotation; enabling resets the failure counters.

    ``end_former``: the replaced secrets sign no more, also the one that ``secret`` replaces.

    ``etag`` identifies the secret that the caller means to replace: a form sent twice rotates once. ``based_on`` is
    the ``edit_etag`` of the webhook that the caller saw, so that nobody overwrites another's changes unseen.

    Raises:
        Invalid: as ``register``.
        Conflict: another webhook of the community has this URL, the secret was replaced meanwhile, or somebody
            saved another URL or other events meanwhile.
    """
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    webhook = _lock(session, actor, webhook_id)
    if etag is not None and etag != signing.secret_etag(webhook):
        raise Conflict(_("The secret was replaced already"), webhook.id)
    if based_on is not None and based_on != edit_etag(webhook):
        said = _("Other values were saved meanwhile")
        raise Outdated(
            setting_history.with_last_change(said, session, "webhook", webhook.id, CHANGED), webhook.id
        )
    before, rotated = health.history_values(webhook), False
    if url is not None and url != webhook.url:
        _require_allowed_url(url, allow)
        _move_to(session, webhook, url)
    if secret is not None:
        signing.check_secret(secret)
        rotated = signing.replace_secret(session, webhook, sealer, secret, clock.now())
    ended = end_former and signing.former_secret_until(webhook, clock.now()) is not None
    if ended:
        signing.forget_former_secrets(session, webhook)
    if not isinstance(event_names, Unchanged):
        webhook.events = catalogue.checked(event_names)
    if is_active is True and not webhook.is_active:
        health.enable(session, webhook)
    elif is_active is False and webhook.is_active:
        health.disable(session, webhook, BY_HAND)
    _record_change(session, actor, webhook, before, rotated, reason, ended=ended)
    return webhook


def remove(session: Session, actor: Actor, webhook_id: uuid.UUID, reason: str = "") -> Webhook:
    """Remove a webhook: delete its secrets and cancel its due deliveries. Its delivery log stays."""
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    webhook = _lock(session, actor, webhook_id)
    before = health.history_values(webhook)
    webhook.deleted_at = clock.now()
    webhook.is_active = False
    webhook.disabled_reason = REMOVED
    webhook.secret = b""
    signing.forget_former_secrets(session, webhook)
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
        reason=Reason(reason),
    )
    return webhook


def send_test(session: Session, actor: Actor, webhook_id: uuid.UUID) -> Event:
    """Send a test event to this webhook only. Raises Conflict while it is disabled."""
    webhook = _lock(session, actor, webhook_id)
    if not webhook.is_active:
        raise Conflict(_("This webhook is disabled; enable it first"), webhook.id)
    history.record(session, actor, webhook.community_id, "webhook.tested", "webhook", webhook.id)
    return events.emit_test(session, webhook)


def edit_etag(webhook: Webhook) -> str:
    """Opaque version of what an operator edits of a webhook, so that a form on a stale page is refused."""
    events = None if webhook.events is None else sorted(webhook.events)
    return hashlib.sha256(json.dumps([webhook.url, events]).encode()).hexdigest()[:16]


def _require_allowed_url(url: str, allow: AllowList) -> None:
    """Raise Invalid for a URL to which we never send."""
    try:
        check_url(url, allow)
    except BadAddress as error:
        raise Invalid.field("url", error.reason, url) from error


def _lock(session: Session, actor: Actor, webhook_id: uuid.UUID) -> Webhook:
    """The webhook's current row, locked until the transaction ends."""
    webhook = get(session, actor, webhook_id)
    serialise(session, webhook.community_id)
    session.refresh(webhook, with_for_update={"key_share": True})
    if webhook.deleted_at is not None:
        raise NotFound("webhook")
    return webhook


def _find_by_url(session: Session, community_id: uuid.UUID, url: str) -> Webhook | None:
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
    """Insert a row; None when another transaction registered the same URL since we looked."""
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
        raise Conflict(_("Another webhook of this community already has this URL")) from error


def _record_change(
    session: Session,
    actor: Actor,
    webhook: Webhook,
    before: dict[str, Any],
    rotated: bool,
    reason: str = "",
    *,
    ended: bool = False,
) -> None:
    session.flush()
    after = health.history_values(webhook)
    changed = {name for name in after if after[name] != before[name]}
    said = ({"secret": "changed"} if rotated else {}) | ({"former_secrets": "ended"} if ended else {})
    if not changed and not said:
        return
    history.record(
        session,
        actor,
        webhook.community_id,
        CHANGED,
        "webhook",
        webhook.id,
        before={name: before[name] for name in sorted(changed)},
        after={name: after[name] for name in sorted(changed)} | said,
        reason=Reason(reason),
    )
