"""Administration of API keys: list, show and revoke them (docs/moderate/admin.md)."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import bulk, clock, limits, security_events
from app.core.errors import NotFound
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import ApiKey, Community, KeyCommunity
from app.core.paging import Page, Slice, paginate
from app.core.people import keys, member_lists
from app.core.permissions import Actor, Permission, allows, require
from app.core.security_events import SecurityEvent


@dataclass(frozen=True)
class KeyRow:
    """A key as the dashboard shows it to admins; ``creator`` None: created on the command line."""

    key: ApiKey
    creator: str | None
    communities: Sequence[Community]

    @property
    def state(self) -> Literal["live", "expired", "revoked"]:
        if self.key.revoked_at is not None:
            return "revoked"
        over = self.key.expires_at is not None and self.key.expires_at <= clock.now()
        return "expired" if over else "live"


def listed(
    session: Session, actor: Actor, community_id: uuid.UUID, part: Slice
) -> tuple[Page[ApiKey], Sequence[KeyRow], int]:
    """A page of the keys that reach a community and that the actor may manage, newest first.

    Also returns their rows, and the number of other keys that reach the community. An actor may not manage a key
    that also reaches a community which they do not administer: they would learn of that community, and could take
    its key away (docs/moderate/admin.md).
    """
    require(actor, Permission.MANAGE_KEYS, community_id)
    here = sa.exists().where(KeyCommunity.key_id == ApiKey.id, KeyCommunity.community_id == community_id)
    reaching = sa.select(ApiKey).where(sa.or_(ApiKey.everywhere, here))
    mine = reaching.where(_is_manageable_by(actor)).options(selectinload(ApiKey.communities))
    page = paginate(session, mine, ApiKey.created_at, ApiKey.id, part)
    total = session.scalar(sa.select(sa.func.count()).select_from(reaching.subquery())) or 0
    return page, _as_rows(session, page.rows), total - page.count


def manageable_by(actor: Actor) -> sa.Select[uuid.UUID]:
    """SELECT of the ids of the keys that the actor may manage."""
    return sa.select(ApiKey.id).where(_is_manageable_by(actor))


def live(session: Session) -> Sequence[ApiKey]:
    """Every key that works, in the order of names."""
    return session.scalars(sa.select(ApiKey).where(keys.is_live()).order_by(ApiKey.name, ApiKey.id)).all()


def get(session: Session, actor: Actor, key_id: uuid.UUID) -> KeyRow:
    """One key that the actor may manage. Raises NotFound for unknown keys and for those of others alike."""
    statement = sa.select(ApiKey).where(ApiKey.id == key_id, _is_manageable_by(actor))
    key = session.scalars(statement.options(selectinload(ApiKey.communities))).first()
    if key is None:
        raise NotFound("key")
    return _as_rows(session, [key])[0]


_PAGE = 20


def mintable(
    session: Session, actor: Actor, *, words: str, after: uuid.UUID | None
) -> tuple[Sequence[Community], uuid.UUID | None]:
    """The communities for which the actor may create keys, ordered by name: one page.

    ``words`` filters by name. Also returns the id to pass as ``after`` for the next page, None at the end.
    """
    statement = _mintable(actor)
    if words.strip():
        statement = statement.where(Community.name.icontains(words.strip()[:100], autoescape=True))
    last = session.get(Community, after) if after is not None else None
    if last is not None:
        statement = statement.where(sa.tuple_(Community.name, Community.id) > sa.tuple_(last.name, last.id))
    rows = session.scalars(statement.limit(_PAGE + 1)).all()
    return rows[:_PAGE], rows[_PAGE - 1].id if len(rows) > _PAGE else None


def mintable_among(
    session: Session, actor: Actor, community_ids: Collection[uuid.UUID]
) -> Sequence[Community]:
    """Those of ``community_ids`` for which the actor may create keys, ordered by name."""
    return session.scalars(_mintable(actor).where(Community.id.in_(community_ids))).all()


def is_first(session: Session, community_ids: Collection[uuid.UUID] | None) -> bool:
    """Whether none of these communities ever had a key; None means all communities."""
    keys_there = sa.select(ApiKey.id)
    if community_ids is not None:
        reaching = sa.exists().where(
            KeyCommunity.key_id == ApiKey.id, KeyCommunity.community_id.in_(community_ids)
        )
        keys_there = keys_there.where(sa.or_(ApiKey.everywhere, reaching))
    return session.scalar(keys_there.limit(1)) is None


def revoke(session: Session, actor: Actor, key_id: uuid.UUID, reason: str = "") -> ApiKey:
    """Revoke a key, effective on the next call. Revoking it again changes nothing.

    Raises:
        NotFound: unknown, or it reaches a community that the actor does not administer.
    """
    limits.text(reason, "reason", limits.REASON_MAX, least=0)
    key = get(session, actor, key_id).key
    revoked = bulk.change(
        session,
        sa.update(ApiKey)
        .where(ApiKey.id == key_id, ApiKey.revoked_at.is_(None))
        .values(revoked_at=clock.now()),
    )
    if revoked:
        security_events.log_at_commit(session, SecurityEvent.KEY_REVOKED, actor, id=key.id)
        about = {"name": key.name, "public_part": key.public_part}
        for community_id in keys.reached(session, key):
            history.record(
                session,
                actor,
                community_id,
                "key.revoked",
                "api_key",
                key.id,
                before=about,
                after={"revoked": True},
                reason=Reason(reason),
            )
    session.refresh(key, ["revoked_at"])
    return key


def _manages_all(actor: Actor) -> bool:
    return actor.kind == "system" or actor.service_admin


def _administered(actor: Actor) -> list[uuid.UUID]:
    return [
        community_id for community_id in actor.roles if allows(actor, Permission.MANAGE_KEYS, community_id)
    ]


def _mintable(actor: Actor) -> sa.Select[Community]:
    statement = sa.select(Community).order_by(Community.name, Community.id)
    return statement if _manages_all(actor) else statement.where(Community.id.in_(_administered(actor)))


def _is_manageable_by(actor: Actor) -> sa.ColumnElement[bool]:
    if _manages_all(actor):
        return sa.true()
    mine = _administered(actor)
    reaches_others = sa.exists().where(
        KeyCommunity.key_id == ApiKey.id, KeyCommunity.community_id.not_in(mine)
    )
    reaches_mine = sa.exists().where(KeyCommunity.key_id == ApiKey.id, KeyCommunity.community_id.in_(mine))
    return sa.and_(ApiKey.everywhere.is_(False), reaches_mine, ~reaches_others)


def _as_rows(session: Session, rows: Sequence[ApiKey]) -> list[KeyRow]:
    names = member_lists.names(session, [key.created_by_id for key in rows if key.created_by_id is not None])
    reached = {key.id: {row.community_id for row in key.communities} for key in rows}
    communities = session.scalars(
        sa.select(Community)
        .where(Community.id.in_(set().union(*reached.values())))
        .order_by(Community.name, Community.id)
    ).all()
    return [
        KeyRow(
            key,
            names.get(key.created_by_id) if key.created_by_id else None,
            [community for community in communities if community.id in reached[key.id]],
        )
        for key in rows
    ]
