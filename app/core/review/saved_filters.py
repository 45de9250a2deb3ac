"""Named filters of the review queue: a moderator's own, and those shared with the community's moderators."""

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
from app.core.review import assignments
from app.core.texts import gettext as _

NAME_MAX = 60
POSITION_MAX = 99
FIELDS = frozenset(
    {"q", "category", "language", "author", "channel", "overdue", "snoozed", "claimed_by", "sort"}
)
"""The queue's filters, as named in the query string."""


def visible(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[SavedFilter]:
    """The actor's own filters and the shared ones, by name; queues first, in their order.

    A queue that was given to some moderators is left out for the others, except for operators and the one who saved it.
    """
    require(actor, Permission.SEE_QUEUE, community_id)
    found = session.scalars(
        sa.select(SavedFilter)
        .where(
            SavedFilter.community_id == community_id,
            sa.or_(SavedFilter.account_id == actor.account_id, SavedFilter.shared),
        )
        .order_by(
            SavedFilter.position.is_(None),
            SavedFilter.position,
            sa.func.lower(SavedFilter.name),
            SavedFilter.id,
        )
    ).all()
    sees_all = allows(actor, Permission.REVISE_POLICY, community_id)
    return [
        saved
        for saved in found
        if sees_all
        or not saved.members
        or saved.account_id == actor.account_id
        or str(actor.account_id) in saved.members
    ]


def save(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    name: str,
    query: Mapping[str, str | Sequence[str]],
    *,
    shared: bool = False,
) -> SavedFilter:
    """Save a query under a name; replaces the actor's filter of the same name. A field with several values has a list.

    Raises:
        Invalid: the name is blank or too long, the queue has no such field, or the actor or the community has too many
            filters.
        Forbidden: the actor is not signed in.
    """
    require(actor, Permission.SEE_QUEUE, community_id)
    if actor.account_id is None:
        raise Forbidden(_("Only a signed-in person can save a filter"))
    limits.text(name, "name", NAME_MAX)
    for field, value in query.items():
        if field not in FIELDS:
            raise Invalid.field("query", _("%(field)s is no filter of the review queue", field=field[:50]))
        for text in [value] if isinstance(value, str) else value:
            limits.text(text, "query", limits.ID_MAX)
    serialise(session, community_id)
    own = session.scalars(
        sa.select(SavedFilter).where(
            SavedFilter.community_id == community_id, SavedFilter.account_id == actor.account_id
        )
    ).all()
    saved = next((own_filter for own_filter in own if own_filter.name == name.strip()), None)
    if shared and (saved is None or not saved.shared):
        others = sa.select(sa.func.count(SavedFilter.id)).where(
            SavedFilter.community_id == community_id, SavedFilter.shared
        )
        limits.room(limits.SHARED_FILTERS, session.scalar(others) or 0, "name")
    if saved is None:
        limits.room(limits.OWN_FILTERS, len(own), "name")
        saved = SavedFilter(
            id=new_id(), community_id=community_id, account_id=actor.account_id, name=name.strip()
        )
        session.add(saved)
    saved.query, saved.shared = dict(query), shared
    session.flush()
    return saved


def make_queue(
    session: Session,
    actor: Actor,
    filter_id: uuid.UUID,
    position: int | None,
    members: Sequence[uuid.UUID] = (),
) -> SavedFilter:
    """Make a shared filter a queue at this position, for these moderators (none: for all); None: no queue any more.

    Raises:
        NotFound: it is unknown, in another community, or not shared.
        Forbidden: the actor is not an operator.
        Invalid: the position is out of range, or a member does not moderate the community.
    """
    saved = session.get(SavedFilter, filter_id)
    if saved is None:
        raise NotFound("filter")
    require(actor, Permission.REVISE_POLICY, saved.community_id, "filter")
    if not saved.shared:
        raise NotFound("filter")
    if position is not None and not 1 <= position <= POSITION_MAX:
        raise Invalid.field(
            "position", _("must be a whole number from 1 to %(most)s", most=POSITION_MAX), position
        )
    known = assignments.colleagues(session, actor, saved.community_id)
    if any(member not in known for member in members):
        raise Invalid.field("members", _("must moderate this community"))
    before = {"position": saved.position, "members": saved.members}
    saved.position = position
    saved.members = sorted({str(member) for member in members}) if position is not None else []
    after = {"position": saved.position, "members": saved.members}
    session.flush()
    if before != after:
        history.record(
            session,
            actor,
            saved.community_id,
            "filter.queued",
            "filter",
            saved.id,
            before=before,
            after={**after, "name": saved.name},
        )
    return saved


def may_delete(actor: Actor, saved: SavedFilter) -> bool:
    """Whether the filter is the actor's own, or is shared and the actor is an operator of its community."""
    return saved.account_id == actor.account_id or (
        saved.shared and allows(actor, Permission.REVISE_POLICY, saved.community_id)
    )


def delete(session: Session, actor: Actor, filter_id: uuid.UUID) -> SavedFilter:
    """Delete the actor's own filter; operators may also delete a shared one, which is recorded in history.

    Raises:
        NotFound: it is unknown, in another community, or another account's and not shared.
        Forbidden: it is shared by another account, and the actor is not an operator.
    """
    saved = require_found(actor, Permission.SEE_QUEUE, session.get(SavedFilter, filter_id), "filter")
    if not may_delete(actor, saved):
        if not saved.shared:
            raise NotFound("filter")
        raise Forbidden(_("Only the person who saved a shared filter, or an operator, can delete it"))
    if saved.account_id != actor.account_id:
        history.record(
            session,
            actor,
            saved.community_id,
            "filter.deleted",
            "filter",
            saved.id,
            before={"name": saved.name, "query": saved.query},
        )
    session.delete(saved)
    session.flush()
    return saved
