"""Read requests as flat rows, with their outcome (docs/integrate/api.md).

Verbs use mapped objects, because they change them. To show a hundred requests, mapped objects would cost as much
again as the query.
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
        _request.has_attachments,
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
"""The columns that a request shows: one query for any number of rows."""
_PLACE = sa.select(_request.id, _request.community_id).where(_request.withdrawn_at.is_(None))
_SHOWN_BY_ID = _SHOWN.where(_request.id == sa.bindparam("id"))
_PLACE_BY_ID = _PLACE.where(_request.id == sa.bindparam("id"))
# Built once, with an expanding parameter for the ids: literal values would be processed one by one on each call.
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
"""The most requests with the same ``request_id`` to read, for a key of many communities."""


def find(session: Session, actor: Actor, reference: str, *, scope: uuid.UUID | None = None) -> Any:
    """The row of the request with our UUID or with the integration's string, in the actor's communities.

    Raises:
        NotFound: unknown, withdrawn or foreign.
        Malformed: several communities have this string, and ``scope`` names none of them.
    """
    return _find(session, actor, reference, scope, _SHOWN_BY_ID, _SHOWN)


def find_id(session: Session, actor: Actor, reference: str, *, scope: uuid.UUID | None = None) -> uuid.UUID:
    """The id of the request that ``find`` returns; raises the same."""
    request_id: uuid.UUID = _find(session, actor, reference, scope, _PLACE_BY_ID, _PLACE).id
    return request_id


def _find(
    session: Session,
    actor: Actor,
    reference: str,
    scope: uuid.UUID | None,
    by_id: sa.Select[Any],
    by_name: sa.Select[Any],
) -> Any:
    if not limits.may_be_stored_id(reference):
        raise NotFound("request")
    identity = parse_id(reference)
    if identity is not None:
        row = session.execute(by_id, {"id": identity}).first()
        if row is not None and actor.sees(row.community_id):
            return row
    statement = by_name.where(_request.request_id == reference)
    if actor.communities is not None:
        statement = statement.where(_request.community_id.in_(actor.communities))
    rows = session.execute(statement.limit(_LIKE_NAMED)).all()
    if scope is not None and len(rows) > 1:
        rows = [row for row in rows if row.community_id == scope]
    if not rows:
        raise NotFound("request")
    if len(rows) > 1:
        raise Malformed("This request_id stands in several communities; name one with X-Adapter-Scope")
    return rows[0]


@dataclass(frozen=True)
class Matching:
    """A filter: conditions on requests, and the communities they belong to (None: all).

    ``is_whole``: it has nothing but communities.
    """

    conditions: tuple[sa.ColumnElement[bool], ...]
    communities: frozenset[uuid.UUID] | None
    is_whole: bool


def matching(
    actor: Actor,
    *,
    status: RequestStatus | None = None,
    communities: Collection[uuid.UUID | None] = (),
    requested_by: str | None = None,
    dataset_name: str | None = None,
    dataset_item_id: str | None = None,
    requested_from: datetime | None = None,
    requested_to: datetime | None = None,
) -> Matching:
    """A filter over the actor's requests, for ``listed`` and ``decided``.

    None values in ``communities`` are ignored.
    """
    visible = actor.seen_of(communities)
    conditions: list[sa.ColumnElement[bool]] = [_request.withdrawn_at.is_(None)]
    if visible is not None:
        conditions.append(_request.community_id.in_(visible))
    if status is not None:
        conditions.append(_request.status == status)
    if requested_by is not None:
        conditions.append(_request.requested_by == requested_by)
    if dataset_name is not None:
        conditions.append(_request.dataset_name == dataset_name)
    if dataset_item_id is not None:
        conditions.append(_request.dataset_item_id == dataset_item_id)
    if requested_from is not None:
        conditions.append(_request.requested_at >= requested_from)
    if requested_to is not None:
        conditions.append(_request.requested_at <= requested_to)
    others = (status, requested_by, dataset_name, dataset_item_id, requested_from, requested_to)
    return Matching(tuple(conditions), visible, is_whole=all(other is None for other in others))


def listed(session: Session, matching_requests: Matching, part: Slice) -> Page[Any]:
    """A page of matching requests, newest first."""
    statement = _SHOWN.where(*matching_requests.conditions)
    narrow = sa.select(_request.id).where(*matching_requests.conditions)
    return paginate(
        session,
        statement,
        _request.requested_at,
        _request.id,
        part,
        narrow=narrow,
    )


def decided(session: Session, matching_requests: Matching, since: datetime, part: Slice) -> Page[Any]:
    """A page of matching requests decided at ``since`` or later, oldest decision first."""
    in_time = [_decision.decided_at >= since]
    if matching_requests.communities is not None:
        # Repeat the condition on the decision, whose index is in this order: a poll then reads only new decisions.
        in_time.append(_decision.community_id.in_(matching_requests.communities))
    conditions = [*matching_requests.conditions, *in_time]
    both = Request.__table__.join(Decision.__table__, _decision.request_id == _request.id)
    if matching_requests.is_whole:
        # All decisions are entries of one index, and the few requests that were withdrawn of another.
        withdrawn = (
            sa.select(sa.func.count()).select_from(both).where(_request.withdrawn_at.is_not(None), *in_time)
        )
        all_decisions = sa.select(sa.func.count()).select_from(Decision.__table__).where(*in_time)
        counted = sa.select(all_decisions.scalar_subquery() - withdrawn.scalar_subquery())
    else:
        counted = sa.select(sa.func.count()).select_from(both).where(*conditions)
    statement = _SHOWN.where(*conditions)
    return paginate(
        session, statement, _decision.decided_at, _request.id, part, descending=False, counted=counted
    )


def actions_of(session: Session, request_rows: Sequence[Any]) -> dict[uuid.UUID, Any]:
    """The service's latest action (``id``, ``action_tier``) per request, for those without a decision yet."""
    waiting = [row.id for row in request_rows if row.decided_at is None]
    if not waiting:
        return {}
    rows = session.execute(_BEGUN, {"waiting": waiting})
    return {row.request_id: row for row in rows}
