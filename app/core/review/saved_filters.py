"""Named filters of the review queue: one's own, and those shared with the community's moderators."""

import uuid
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.db import serialise
from app.core.errors import Forbidden, Invalid, NotFound
from app.core.history import chain as history
from app.core.ids import new_id
from app.core.models import SavedFilter
from app.core.permissions import Actor, Permission, allows, require, require_found

NAME_MAX = 60
MOST = 30
"""Filters that one account may keep in one community: they are links above the queue, not an archive."""
FIELDS = frozenset({"q", "category", "claimed_by", "sort"})
"""The queue's filters, by their names in an address."""


def visible(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[SavedFilter]:
    """One's own and the shared ones, by name."""
    require(actor, Permission.SEE_QUEUE, community_id)
    return session.scalars(
        sa.select(SavedFilter)
        .where(
            SavedFilter.community_id == community_id,
            sa.or_(SavedFilter.account_id == actor.account_id, SavedFilter.shared),
        )
        .order_by(sa.func.lower(SavedFilter.name), SavedFilter.id)
    ).all()


def save(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    name: str,
    query: Mapping[str, str | Sequence[str]],
    *,
    shared: bool = False,
) -> SavedFilter:
    """Keep these filters under a name; one's own of the same name is replaced. A filter of several values has a list.

    Raises:
        Invalid: the name is blank or too long, a filter is none of the queue's, or there are too many.
    """
    require(actor, Permission.SEE_QUEUE, community_id)
    if actor.account_id is None:
        raise Forbidden("Only somebody who is signed in can save a filter")
    limits.text(name, "name", NAME_MAX)
    for field, value in query.items():
        if field not in FIELDS:
            raise Invalid.field("query", f"{field[:50]} is no filter of the review queue")
        for text in [value] if isinstance(value, str) else value:
            limits.text(text, "query", limits.ID_MAX)
    serialise(session, community_id)
    own = session.scalars(
        sa.select(SavedFilter).where(
            SavedFilter.community_id == community_id, SavedFilter.account_id == actor.account_id
        )
    ).all()
    kept = next((one for one in own if one.name == name.strip()), None)
    if kept is None and len(own) >= MOST:
        raise Invalid.field("name", f"cannot be added: you keep {MOST} filters here; delete one first")
    if kept is None:
        kept = SavedFilter(
            id=new_id(), community_id=community_id, account_id=actor.account_id, name=name.strip()
        )
        session.add(kept)
    kept.query, kept.shared = dict(query), shared
    session.flush()
    return kept


def may_delete(actor: Actor, kept: SavedFilter) -> bool:
    """Whether it is theirs, or they are an operator of its community."""
    return kept.account_id == actor.account_id or (
        kept.shared and allows(actor, Permission.REVISE_POLICY, kept.community_id)
    )


def delete(session: Session, actor: Actor, filter_id: uuid.UUID) -> SavedFilter:
    """Delete one's own; operators also what others share, which history then tells.

    Raises:
        NotFound: unknown, another community's, or somebody else's own.
        Forbidden: shared by somebody else, and the actor is no operator.
    """
    kept = require_found(actor, Permission.SEE_QUEUE, session.get(SavedFilter, filter_id), "filter")
    if not may_delete(actor, kept):
        if not kept.shared:
            raise NotFound("filter")
        raise Forbidden("Only whoever saved a shared filter, or an operator, can delete it")
    if kept.account_id != actor.account_id:
        history.record(
            session,
            actor,
            kept.community_id,
            "filter.deleted",
            "filter",
            kept.id,
            before={"name": kept.name, "query": kept.query},
        )
    session.delete(kept)
    session.flush()
    return kept
