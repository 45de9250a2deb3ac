"""Posts that wait to be scored, read with all that their scoring needs before it stores something: one statement."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.actions import exemptions
from app.core.models import Community, Request
from app.core.requests import in_force
from app.core.requests.in_force import InForce
from app.core.vocabulary import RequestStatus


@dataclass(frozen=True)
class Waiting:
    """A request that waits to be scored: its text, and what of its own its community scores it with."""

    id: uuid.UUID
    community_id: uuid.UUID
    content: str
    own: InForce


def read(session: Session, request_id: uuid.UUID) -> Waiting | None:
    """The request if it waits to be scored and nothing speaks against it; else None, and ``scoring.start`` decides.

    A request that is scored at once needs nothing else before ``record_scores``.
    """
    row = session.connection().execute(_WAITING, {"request": request_id}).first()
    if row is None:
        return None
    community_id, content, is_same_content, is_same_message, *own = row
    if is_same_content:
        return None
    if is_same_message and exemptions.is_similar(session, session.get_one(Request, request_id)):
        return None
    return Waiting(request_id, community_id, content, InForce(*own))


def read_several(
    session: Session, community_id: uuid.UUID, request_ids: Sequence[uuid.UUID]
) -> list[Waiting]:
    """Those of the community's requests that ``read`` would return, in the order of their ids.

    Left out as well is every text of a message of which people restored another text: to compare the two takes time.
    """
    values = {"community": community_id, "requests": request_ids}
    found = {
        request_id: Waiting(request_id, community_id, content, InForce(*own))
        for request_id, content, is_same_content, is_same_message, *own in session.connection().execute(
            _WAITING_OF, values
        )
        if not is_same_content and not is_same_message
    }
    return [found[request_id] for request_id in request_ids if request_id in found]


_OPEN = (
    Request.status == RequestStatus.PENDING,
    Request.withdrawn_at.is_(None),
    Community.archived_at.is_(None),
)
_WAITING, _WAITING_OF = (
    sa.select(first, Request.content, *exemptions.COLUMNS, *in_force.COLUMNS)
    .join(Community, Community.id == Request.community_id)
    .where(which, *_OPEN)
    for first, which in (
        (Request.community_id, Request.id == sa.bindparam("request")),
        (
            Request.id,
            sa.and_(
                Request.id.in_(sa.bindparam("requests", expanding=True)),
                Request.community_id == sa.bindparam("community"),
            ),
        ),
    )
)
