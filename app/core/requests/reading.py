"""Requests as they are read: flat rows of what a request shows, its outcome included (docs/integration.md).

Mapped objects are for verbs, which change them. To show a hundred requests they would cost as much again as the query.
"""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.errors import Malformed, NotFound
from app.core.ids import parse_id
from app.core.models import Action, Decision, Note, Request
from app.core.paging import Page, Slice, paginate
from app.core.permissions import Actor
from app.core.vocabulary import RequestStatus

_request, _decision = Request.__table__.c, Decision.__table__.c
_action, _note = Action.__table__.c, Note.__table__.c
_WITH_OUTCOME = (
    Request.__table__.outerjoin(Decision.__table__, _decision.request_id == _request.id)
    .outerjoin(Action.__table__, _action.id == _decision.action_id)
    .outerjoin(Note.__table__, _note.id == _request.note_id)
)
_SHOWN = (
    sa.select(
        _request.id,
        _request.request_id,
        _request.requested_by,
        _request.status,
        _request.note_id,
        _request.community_id,
        _request.requested_at,
        _request.created_at,
        _request.updated_at,
        _request.content,
        _request.content_removed_at,
        _request.platform_message_id,
        _request.platform_channel_id,
        _request.platform_author_id,
        _request.platform_timestamp,
        _request.metadata.label("extra"),
        _request.similarity_score,
        _request.dataset_name,
        _request.dataset_item_id,
        _decision.decided_at,
        _decision.decision,
        _decision.tier,
        _action.id.label("action_id"),
        _action.action_type,
        _note.status.label("note_status"),
    )
    .select_from(_WITH_OUTCOME)
    .where(_request.withdrawn_at.is_(None))
)
"""What reading a request shows: one query whatever the number of rows."""
_PLACE = sa.select(_request.id, _request.community_id).where(_request.withdrawn_at.is_(None))
_SHOWN_BY_ID = _SHOWN.where(_request.id == sa.bindparam("id"))
_PLACE_BY_ID = _PLACE.where(_request.id == sa.bindparam("id"))
# Built once, with a place for the ids: given as values, each of a hundred would be looked at for being one.
_BEGUN = (
    sa.select(_action.request_id, _action.id, _action.action_tier)
    .where(
        _action.request_id.in_(sa.bindparam("waiting", expanding=True)),
        _action.action_tier.is_not(None),
        _action.restores_id.is_(None),
    )
    .order_by(_action.created_at, _action.id)
)
_LIKE_NAMED = 50
"""Requests of one name that are looked at, for a key of many communities."""


def find(session: Session, actor: Actor, reference: str, *, scope: uuid.UUID | None = None) -> Any:
    """The row of the request with our UUID or with the integration's string, within the actor's communities.

    Raises:
        NotFound: unknown, withdrawn or foreign.
        Malformed: the string stands in several communities and ``scope`` names none of them.
    """
    return _find(session, actor, reference, scope, _SHOWN_BY_ID, _SHOWN)


def find_id(session: Session, actor: Actor, reference: str, *, scope: uuid.UUID | None = None) -> uuid.UUID:
    """The id of the request that ``find`` finds; refused alike."""
    found: uuid.UUID = _find(session, actor, reference, scope, _PLACE_BY_ID, _PLACE).id
    return found


def _find(
    session: Session,
    actor: Actor,
    reference: str,
    scope: uuid.UUID | None,
    by_id: sa.Select[Any],
    every: sa.Select[Any],
) -> Any:
    if not limits.may_be_stored_id(reference):
        raise NotFound("request")
    identity = parse_id(reference)
    if identity is not None:
        row = session.execute(by_id, {"id": identity}).first()
        if row is not None and actor.sees(row.community_id):
            return row
    statement = every.where(_request.request_id == reference)
    if actor.communities is not None:
        statement = statement.where(_request.community_id.in_(actor.communities))
    found = session.execute(statement.limit(_LIKE_NAMED)).all()
    if scope is not None and len(found) > 1:
        found = [row for row in found if row.community_id == scope]
    if not found:
        raise NotFound("request")
    if len(found) > 1:
        raise Malformed("This request_id stands in several communities; name one with X-Adapter-Scope")
    return found[0]


@dataclass(frozen=True)
class Matching:
    """Which requests are wanted: conditions on them, and the communities they stand in (None: all)."""

    conditions: tuple[sa.ColumnElement[bool], ...]
    communities: frozenset[uuid.UUID] | None


def matching(
    actor: Actor,
    *,
    status: RequestStatus | None = None,
    communities: Collection[uuid.UUID | None] = (),
    requested_by: str | None = None,
    requested_from: datetime | None = None,
    requested_to: datetime | None = None,
) -> Matching:
    """The actor's requests that match, for ``listed`` and ``decided``; of all ``communities`` but None."""
    within = actor.communities
    for community_id in communities:
        if community_id is not None:
            within = frozenset({community_id} if within is None or community_id in within else ())
    conditions: list[sa.ColumnElement[bool]] = [_request.withdrawn_at.is_(None)]
    if within is not None:
        conditions.append(_request.community_id.in_(within))
    if status is not None:
        conditions.append(_request.status == status)
    if requested_by is not None:
        conditions.append(_request.requested_by == requested_by)
    if requested_from is not None:
        conditions.append(_request.requested_at >= requested_from)
    if requested_to is not None:
        conditions.append(_request.requested_at <= requested_to)
    return Matching(tuple(conditions), within)


def listed(session: Session, wanted: Matching, part: Slice) -> Page[Any]:
    """A page of matching requests, newest first."""
    counted = sa.select(sa.func.count()).select_from(Request.__table__).where(*wanted.conditions)
    statement = _SHOWN.where(*wanted.conditions)
    return paginate(session, statement, _request.requested_at, _request.id, part, counted=counted)


def decided(session: Session, wanted: Matching, since: datetime, part: Slice) -> Page[Any]:
    """A page of matching requests decided at ``since`` or later, oldest decision first."""
    conditions = [*wanted.conditions, _decision.decided_at >= since]
    if wanted.communities is not None:
        # Said of the decision too, whose index has them in order: a poll reads what is new, not what there is.
        conditions.append(_decision.community_id.in_(wanted.communities))
    both = Request.__table__.join(Decision.__table__, _decision.request_id == _request.id)
    counted = sa.select(sa.func.count()).select_from(both).where(*conditions)
    statement = _SHOWN.where(*conditions)
    return paginate(
        session, statement, _decision.decided_at, _request.id, part, descending=False, counted=counted
    )


def actions_of(session: Session, found: Sequence[Any]) -> dict[uuid.UUID, Any]:
    """The service's latest action (``id``, ``action_tier``) per request, for those of ``found`` not decided yet."""
    waiting = [row.id for row in found if row.decided_at is None]
    if not waiting:
        return {}
    rows = session.execute(_BEGUN, {"waiting": waiting})
    return {row.request_id: row for row in rows}
