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
from app.core.actions.standing import standing_of
from app.core.errors import Malformed, NotFound
from app.core.ids import parse_id
from app.core.models import Action, Decision, Note, Request
from app.core.paging import Page, Slice, paginate
from app.core.permissions import Actor
from app.core.texts import gettext as _
from app.core.vocabulary import RequestStatus, Standing

_SHOWN = (
    sa.select(
        Request.id,
        Request.request_id,
        Request.requested_by,
        Request.status,
        Request.note_id,
        Request.community_id,
        Request.requested_at,
        Request.created_at,
        Request.updated_at,
        Request.completed_at,
        Request.content,
        Request.content_removed_at,
        Request.platform_message_id,
        Request.edit_of,
        Request.duplicate_of,
        Request.platform_channel_id,
        Request.platform_author_id,
        Request.platform_timestamp,
        Request.extra,
        Request.similarity_score,
        Request.dataset_name,
        Request.dataset_item_id,
        Request.has_attachments,
        Decision.decided_at,
        Decision.decision,
        Decision.tier,
        Action.id.label("action_id"),
        Action.action_type,
        Note.status.label("note_status"),
        sa.func.coalesce(
            Action.request_id,
            sa.case((Note.rationale, Note.request_id)),
            Request.duplicate_of,
            Request.id,
            type_=Request.id.type,
        ).label("item_of"),
    )
    .select_from(Request)
    .outerjoin(Decision, Decision.request_id == Request.id)
    .outerjoin(Action, Action.id == Decision.action_id)
    .outerjoin(Note, Note.id == Request.note_id)
    .where(Request.withdrawn_at.is_(None))
)
"""The columns that a request shows: one query for any number of rows. ``item_of``: the request of its post whose
action it shares, or itself."""
_PLACE = sa.select(Request.id, Request.community_id).where(Request.withdrawn_at.is_(None))


def find(session: Session, actor: Actor, reference: str, *, scope: uuid.UUID | None = None) -> Any:
    """The row of the request with our UUID or with the integration's string, in the actor's communities.

    ``scope``: the string is one of this community, and of no other.

    Raises:
        NotFound: unknown, withdrawn, foreign, or not in ``scope``.
        Malformed: several communities have this string, and there is no ``scope``.
    """
    return _find(session, actor, reference, scope, _SHOWN)


def find_id(session: Session, actor: Actor, reference: str, *, scope: uuid.UUID | None = None) -> uuid.UUID:
    """The id of the request that ``find`` returns; raises the same."""
    request_id: uuid.UUID = _find(session, actor, reference, scope, _PLACE).id
    return request_id


def _find(
    session: Session,
    actor: Actor,
    reference: str,
    scope: uuid.UUID | None,
    posts: Any,
) -> Any:
    if not limits.may_be_stored_id(reference):
        raise NotFound("request")
    identity = parse_id(reference)
    if identity is not None:
        row = session.execute(posts.where(Request.id == identity)).first()
        if row is not None and actor.sees(row.community_id):
            return row
    statement = posts.where(Request.request_id == reference)
    if actor.communities is not None:
        statement = statement.where(Request.community_id.in_(actor.communities))
    if scope is not None:
        # Not only where two have it: a repeated DELETE would withdraw the post of another community.
        statement = statement.where(Request.community_id == scope)
    rows = session.execute(statement.limit(2)).all()
    if not rows:
        raise NotFound("request")
    if len(rows) > 1:
        raise Malformed(_("This request_id stands in several communities; name one with X-Adapter-Scope"))
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
    completed_from: datetime | None = None,
    duplicate_of: uuid.UUID | None = None,
) -> Matching:
    """A filter over the actor's requests, for ``listed`` and ``decided``.

    None values in ``communities`` are ignored.
    """
    visible = actor.seen_of(communities)
    conditions: list[sa.ColumnElement[bool]] = [Request.withdrawn_at.is_(None)]
    if visible is not None:
        conditions.append(Request.community_id.in_(visible))
    equal: list[tuple[Any, Any]] = [
        (Request.status, status),
        (Request.requested_by, requested_by),
        (Request.dataset_name, dataset_name),
        (Request.dataset_item_id, dataset_item_id),
        (Request.duplicate_of, duplicate_of),
    ]
    narrowed = [column == value for column, value in equal if value is not None]
    if requested_from is not None:
        narrowed.append(Request.requested_at >= requested_from)
    if requested_to is not None:
        narrowed.append(Request.requested_at <= requested_to)
    if completed_from is not None:
        narrowed.append(Request.completed_at >= completed_from)
    return Matching((*conditions, *narrowed), visible, is_whole=not narrowed)


def listed(
    session: Session, matching_requests: Matching, part: Slice, *, by_completion: bool = False
) -> Page[Any]:
    """A page of matching requests, newest first; ``by_completion``: those that were completed first come first."""
    conditions = matching_requests.conditions
    return paginate(
        session,
        _SHOWN.where(*conditions),
        Request.completed_at if by_completion else Request.requested_at,
        Request.id,
        part,
        descending=not by_completion,
        narrow=sa.select(Request.id).where(*conditions),
    )


def decided(session: Session, matching_requests: Matching, since: datetime, part: Slice) -> Page[Any]:
    """A page of matching requests decided at ``since`` or later, oldest decision first."""
    in_time = [Decision.decided_at >= since]
    if matching_requests.communities is not None:
        # Repeat the condition on the decision, whose index is in this order: a poll then reads only new decisions.
        in_time.append(Decision.community_id.in_(matching_requests.communities))
    conditions = [*matching_requests.conditions, *in_time]
    both = sa.select(sa.func.count()).select_from(Request).join(Decision, Decision.request_id == Request.id)
    if matching_requests.is_whole:
        # All decisions are entries of one index, and the few requests that were withdrawn of another.
        withdrawn = both.where(Request.withdrawn_at.is_not(None), *in_time)
        all_decisions = sa.select(sa.func.count()).select_from(Decision).where(*in_time)
        counted = sa.select(all_decisions.scalar_subquery() - withdrawn.scalar_subquery())
    else:
        counted = both.where(*conditions)
    statement = _SHOWN.where(*conditions)
    return paginate(
        session, statement, Decision.decided_at, Request.id, part, descending=False, counted=counted
    )


@dataclass(frozen=True)
class Acted:
    """What the actions on a request say about it.

    ``latest`` is the service's latest one (``id``, ``action_tier``) that is no restoration, or None.
    """

    latest: Any = None
    standing: Standing = Standing.UP


def acted_on(session: Session, request_rows: Sequence[Any]) -> dict[uuid.UUID, Acted]:
    """What was done about each of these requests: one statement however many there are."""
    rows = session.execute(
        sa.select(
            Action.request_id,
            Action.id,
            Action.action_type,
            Action.action_tier,
            Action.restores_id,
            Action.applied_at,
            Action.undo_state,
            Action.ended_at,
        )
        .where(Action.request_id.in_({row.item_of for row in request_rows}))
        .order_by(Action.created_at, Action.id)
    )
    actions: dict[uuid.UUID, list[Any]] = {row.item_of: [] for row in request_rows}
    for row in rows:
        actions[row.request_id].append(row)
    acted = {request_id: Acted(_latest(of_it), standing_of(of_it)) for request_id, of_it in actions.items()}
    return {row.id: acted[row.item_of] for row in request_rows}


def _latest(actions: Sequence[Any]) -> Any:
    own = [row for row in actions if row.action_tier is not None and row.restores_id is None]
    return own[-1] if own else None
