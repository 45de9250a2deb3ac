"""Requests about one post: those of a community with the same ``platform_message_id`` (docs/integrate/changes.md).

A request whose text is that of an earlier one is its duplicate, and has no item of its own. Any other text is an edit.
"""

import uuid
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core import bulk
from app.core.actions import exemptions
from app.core.models import Attachment, Report, Request
from app.core.vocabulary import ReportState, RequestStatus

SAME_TEXT = 0.9
"""Texts of one message that are at least this alike are one text, and no edit."""
LOOKED_AT = 20
"""Texts of a message that another one is looked for among, newest first. It is compared with two of them, and looked
for unchanged among all."""


@dataclass(frozen=True)
class Relation:
    """What a submission is to those before it: an edit of the first one, the duplicate of one; None for neither.

    The duplicate of an edit is both.
    """

    edit_of: uuid.UUID | None = None
    duplicate_of: uuid.UUID | None = None


def relation(
    session: Session,
    community_id: uuid.UUID,
    message_id: str | None,
    content: str,
    addresses: Collection[str] = (),
) -> Relation:
    """What a text is to the other texts of its message; one statement, none without a message.

    ``addresses`` are those of its attachments: the same words with another picture are an edit. Looking at these takes
    a statement more.
    """
    if message_id is None:
        return Relation()
    texts = session.execute(_TEXTS, {"community": community_id, "message": message_id}).all()
    if not texts:
        return Relation()
    sha256 = exemptions.digest(content)
    first, newest = texts[-1], texts[0]
    same = next((text for text in texts if text.content_sha256 == sha256), None)
    if same is None:
        nearest = (newest,) if newest is first else (newest, first)
        same = next((text for text in nearest if is_same(text.content, content)), None)
    if same is None or not _has_same_attachments(session, same, addresses):
        return Relation(edit_of=first.edit_of or first.id)
    return Relation(edit_of=same.edit_of, duplicate_of=same.id)


def leave(session: Session, request: Request) -> uuid.UUID | None:
    """Make the next request of its post the first in place of one that is withdrawn; return the heir of its text.

    Those that repeat its text then repeat the oldest of them. The caller holds the community's lock.
    """
    if request.platform_message_id is None:
        return None
    oldest = sa.select(Request.id).where(others(request)).order_by(Request.id).limit(1)
    heir = session.scalars(oldest.where(Request.duplicate_of == request.id)).first()
    if heir is not None:
        _repoint(session, request, Request.duplicate_of == request.id, duplicate_of=heir)
        _repoint(session, request, Request.id == heir, duplicate_of=None)
    if request.edit_of is None and request.duplicate_of is None:
        first = session.scalars(oldest.where(Request.duplicate_of.is_(None))).first()
        if first is not None:
            _repoint(session, request, Request.edit_of == request.id, edit_of=first)
            _repoint(
                session, request, sa.or_(Request.id == first, Request.duplicate_of == first), edit_of=None
            )
    return heir


def others(request: Request) -> sa.ColumnElement[bool]:
    """SQL condition: the other requests about the post of this one."""
    return sa.and_(
        Request.community_id == request.community_id,
        Request.platform_message_id == request.platform_message_id,
        Request.id != request.id,
        Request.withdrawn_at.is_(None),
    )


def is_of_one(one: Any, other: Any) -> sa.ColumnElement[bool]:
    """SQL: whether two requests, as tables, are about one post."""
    return sa.and_(
        one.community_id == other.community_id, one.platform_message_id == other.platform_message_id
    )


def relate(session: Session, request: Request, *, is_scored: bool = False) -> None:
    """Say what a request is to another that was submitted at the same time, if that goes before it.

    The one goes first that is being scored already, or else came first; ``is_scored``: only one that is scored. The
    caller holds the lock.
    """
    if request.platform_message_id is None or request.duplicate_of is not None or request.edit_of is not None:
        return
    firsts = session.scalars(
        sa.select(Request)
        .where(others(request), Request.duplicate_of.is_(None), Request.edit_of.is_(None))
        .order_by(Request.id)
        .limit(LOOKED_AT)
        .execution_options(populate_existing=True)
    ).all()
    if is_scored:
        before = next((one for one in firsts if one.scored_at is not None), None)
    else:
        before = next((one for one in firsts if _rank(one) < _rank(request)), None)
    if before is None:
        return
    addresses = session.scalars(sa.select(Attachment.url).where(Attachment.request_id == request.id)).all()
    if is_same(before.content, request.content) and _has_same_attachments(session, before, addresses):
        request.duplicate_of = before.id
        move_reports(session, request.id, before.id)
    else:
        request.edit_of = before.id
    session.flush()


def move_reports(session: Session, request_id: uuid.UUID, to: uuid.UUID) -> None:
    """Let the reports of a request be those of another one of its post, which has the item of both.

    A person who reported both keeps two reports. The caller holds the lock.
    """
    theirs = aliased(Report)
    has_reported = sa.exists().where(
        theirs.request_id == to,
        theirs.reporter_id == Report.reporter_id,
        theirs.state != ReportState.WITHDRAWN,
    )
    bulk.change(
        session,
        sa.update(Report)
        .where(Report.request_id == request_id, Report.state == ReportState.OPEN, sa.not_(has_reported))
        .values(request_id=to, updated_at=Report.updated_at),
    )


def _rank(request: Request) -> tuple[bool, datetime, uuid.UUID]:
    return request.status is RequestStatus.PENDING, request.requested_at, request.id


def _repoint(
    session: Session, request: Request, which: sa.ColumnElement[bool], **values: uuid.UUID | None
) -> None:
    of_post = Request.platform_message_id == request.platform_message_id
    bulk.change(
        session,
        sa.update(Request)
        .where(Request.community_id == request.community_id, of_post, which)
        .values(**values, updated_at=Request.updated_at),
    )


def _has_same_attachments(session: Session, earlier: Any, addresses: Collection[str]) -> bool:
    """Whether a request has attachments at these addresses. What platforms add to sign an address does not count."""
    if not earlier.has_attachments:
        return not addresses
    known = session.scalars(sa.select(Attachment.url).where(Attachment.request_id == earlier.id))
    return Counter(map(_plain, known)) == Counter(map(_plain, addresses))


def _plain(address: str) -> str:
    return address.partition("?")[0]


def is_same(one: str, other: str) -> bool:
    """Whether two texts of one message are one text. Those whose lengths alone tell are not compared."""
    shorter, longer = sorted((len(one), len(other)))
    if 2 * (shorter + 1) < SAME_TEXT * (shorter + longer + 2):
        return False
    return exemptions.similarity(one, other) >= SAME_TEXT


_TEXTS = (
    sa.select(Request.id, Request.content, Request.content_sha256, Request.edit_of, Request.has_attachments)
    .where(
        Request.community_id == sa.bindparam("community"),
        Request.platform_message_id == sa.bindparam("message"),
        Request.duplicate_of.is_(None),
        Request.withdrawn_at.is_(None),
    )
    .order_by(Request.id.desc())  # their ids are in the order of time
    .limit(LOOKED_AT)
)
_OTHER = aliased(Request)
HAS_OTHERS = (
    sa.exists()
    .where(is_of_one(_OTHER, Request), _OTHER.id != Request.id, _OTHER.withdrawn_at.is_(None))
    .correlate(Request)
)
"""SQL: whether there are other requests about the post of ``Request``."""
