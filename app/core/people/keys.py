"""API keys: created once, stored as a hash, checked on every call (docs/integrate/api.md)."""

import hmac
import re
import secrets
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import bulk, clock, limits, security_events
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.ids import new_id, new_token, token_digest
from app.core.models import ApiKey, Community, KeyCommunity
from app.core.permissions import Actor, Permission, require
from app.core.security_events import SecurityEvent
from app.core.texts import gettext as _
from app.core.vocabulary import KeyTemplate, Scope

PREFIX = "bnk_"
_FORM = re.compile(r"bnk_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
_SCOPES = {
    KeyTemplate.ADAPTER: [Scope.ADAPTER.value],
    KeyTemplate.READ_ONLY: [Scope.ADAPTER.value],
    KeyTemplate.METRICS: [Scope.METRICS.value],
    KeyTemplate.SCORES: [Scope.SCORES.value],
    KeyTemplate.ASSISTANTS: [Scope.ASSISTANTS.value],
}
LAST_USED_EVERY = timedelta(minutes=1)
DAYS_MAX = 365


@dataclass(frozen=True)
class Minted:
    """A new key and its text. The text is shown once and never stored."""

    key: ApiKey
    text: str


@dataclass(frozen=True, slots=True)
class LiveKey:
    """A valid key, with what the code that handles a call needs."""

    id: uuid.UUID
    name: str
    template: KeyTemplate
    scopes: list[str]
    everywhere: bool
    may_open_communities: bool
    may_assert_staff: bool
    last_used_at: datetime | None
    last_polled_at: datetime | None
    communities: frozenset[uuid.UUID]
    archived: frozenset[uuid.UUID]


def mint(
    session: Session,
    actor: Actor,
    name: str,
    template: KeyTemplate,
    community_ids: Sequence[uuid.UUID] | None,
    *,
    days: int | None = None,
    may_open_communities: bool | None = None,
    may_assert_staff: bool | None = None,
    key_id: uuid.UUID | None = None,
    reason: str = "",
) -> Minted:
    """Create a key for these communities; ``None`` means every community, now and later.

    A Platform adapter key created by a service admin may open communities and assert staff unless the caller says
    otherwise; other templates never may. ``key_id`` is the caller's id for this creation, so that a form sent twice
    creates one key.

    Raises:
        Invalid: the name, the days or the communities are not valid, or a community has too many keys.
        Forbidden, NotFound: the actor may not create keys for one of the communities.
        Conflict: a key with this ``key_id`` exists already.
    """
    everywhere = community_ids is None
    privileged = actor.kind == "system" or actor.service_admin
    if not privileged and (everywhere or may_open_communities):
        raise Forbidden(_("Only a service admin mints keys for every community"))
    limits.text(name, "name", limits.NAME_MAX)
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    if days is not None and not 1 <= days <= DAYS_MAX:
        raise Invalid.field("days", _("must be from 1 to %(most)s", most=DAYS_MAX), days)
    reachable = tuple(dict.fromkeys(community_ids or ()))
    if not everywhere and not reachable:
        raise Invalid.field("communities", _("must name at least one"))
    for community_id in reachable:
        require(actor, Permission.MANAGE_KEYS, community_id)
    for community_id in sorted(reachable):
        serialise(session, community_id)
    if key_id is not None and session.get(ApiKey, key_id) is not None:
        raise Conflict(_("This key was created already"), key_id)
    for community_id in reachable:
        limits.room(limits.KEYS, _live_keys(session, community_id), "communities")
    adapter = template is KeyTemplate.ADAPTER
    public_part, secret_part = secrets.token_hex(6), new_token()
    key = ApiKey(
        id=key_id or new_id(),
        public_part=public_part,
        secret_hash=token_digest(secret_part),
        name=name,
        template=template,
        scopes=_SCOPES[template],
        everywhere=everywhere,
        may_open_communities=adapter and _default(may_open_communities, privileged and everywhere),
        may_assert_staff=adapter and _default(may_assert_staff, privileged),
        created_by_id=actor.account_id,
        expires_at=clock.now() + timedelta(days=days) if days else None,
        communities=[KeyCommunity(community_id=community_id) for community_id in reachable],
    )
    try:
        with session.begin_nested():
            session.add(key)
    except IntegrityError as error:
        raise Conflict(_("This key was created already"), key_id) from error
    about = {
        "name": name,
        "template": template.value,
        "public_part": public_part,
        "days": days,
        "may_open_communities": key.may_open_communities,
        "may_assert_staff": key.may_assert_staff,
    }
    security_events.log_at_commit(
        session, SecurityEvent.KEY_CREATED, actor, id=key.id, template=template.value, everywhere=everywhere
    )
    for community_id in reached(session, key):
        history.record(
            session, actor, community_id, "key.minted", "api_key", key.id, after=about, reason=Reason(reason)
        )
    return Minted(key, f"{PREFIX}{public_part}_{secret_part}")


def is_live() -> sa.ColumnElement[bool]:
    """SQL condition: the key works, because it is neither revoked nor expired."""
    has_time = sa.or_(ApiKey.expires_at.is_(None), ApiKey.expires_at > clock.now())
    return sa.and_(ApiKey.revoked_at.is_(None), has_time)


def _live_keys(session: Session, community_id: uuid.UUID) -> int:
    """How many keys that still work were created for this community, and not for every one."""
    return (
        session.scalar(
            sa.select(sa.func.count(ApiKey.id))
            .join(KeyCommunity, KeyCommunity.key_id == ApiKey.id)
            .where(
                KeyCommunity.community_id == community_id,
                ApiKey.everywhere.is_(False),
                is_live(),
            )
        )
        or 0
    )


def _default(value: bool | None, otherwise: bool) -> bool:
    return otherwise if value is None else value


def looks_like_key(token: str) -> bool:
    """Whether a token has our prefix; then it alone decides which key is used."""
    return token.startswith(PREFIX)


def authenticate(session: Session, token: str) -> LiveKey | None:
    """The valid key with this text; None for anything else, without saying why."""
    match = _FORM.fullmatch(token)
    if match is None:
        return None
    public_part, secret_part = match.groups()
    rows = session.execute(
        sa.select(ApiKey, KeyCommunity.community_id, Community.archived_at)
        .outerjoin(KeyCommunity, KeyCommunity.key_id == ApiKey.id)
        .outerjoin(Community, Community.id == KeyCommunity.community_id)
        .where(ApiKey.public_part == public_part)
    ).all()
    if not rows or not hmac.compare_digest(rows[0][0].secret_hash, token_digest(secret_part)):
        return None
    key = rows[0][0]
    if key.revoked_at is not None or (key.expires_at is not None and key.expires_at <= clock.now()):
        return None
    archived = frozenset(community_id for _, community_id, archived_at in rows if archived_at is not None)
    if key.everywhere:
        archived = frozenset(
            session.scalars(sa.select(Community.id).where(Community.archived_at.is_not(None)))
        )
    return LiveKey(
        id=key.id,
        name=key.name,
        template=key.template,
        scopes=key.scopes,
        everywhere=key.everywhere,
        may_open_communities=key.may_open_communities,
        may_assert_staff=key.may_assert_staff,
        last_used_at=key.last_used_at,
        last_polled_at=key.last_polled_at,
        communities=frozenset(community_id for _, community_id, _ in rows if community_id is not None),
        archived=archived,
    )


def some_open_communities(session: Session) -> bool:
    """Whether a valid key reaches communities that do not exist yet, or may open them."""
    return _some_adapter(session, sa.or_(ApiKey.everywhere, ApiKey.may_open_communities))


def some_name(session: Session, community_id: uuid.UUID) -> bool:
    """Whether a valid key of an integration was created for this community; one for all communities does not count."""
    named = sa.select(KeyCommunity.key_id).where(KeyCommunity.community_id == community_id)
    return _some_adapter(session, ApiKey.id.in_(named))


def _some_adapter(session: Session, reaching: sa.ColumnElement[bool]) -> bool:
    matching = sa.select(ApiKey.id).where(is_live(), reaching, ApiKey.template == KeyTemplate.ADAPTER)
    return session.scalar(matching.limit(1)) is not None


def record_use(session: Session, key_id: uuid.UUID, at: datetime, *, is_poll: bool = False) -> None:
    """Store when a key was last used, at most once a minute, so that not every GET writes.

    ``is_poll``: the call reads requests or moderation actions, so this integration learns decisions by polling.
    """
    moments = [ApiKey.last_used_at, *([ApiKey.last_polled_at] if is_poll else [])]
    for moment in moments:
        bulk.change(
            session,
            sa.update(ApiKey)
            .where(ApiKey.id == key_id, sa.or_(moment.is_(None), moment < at - LAST_USED_EVERY))
            .values({moment.key: at}),
        )


def reached(session: Session, key: ApiKey) -> Sequence[uuid.UUID]:
    """The ids of the communities whose history records changes of this key, in the order to lock them."""
    if key.everywhere:
        return session.scalars(sa.select(Community.id).order_by(Community.id)).all()
    return sorted(row.community_id for row in key.communities)
