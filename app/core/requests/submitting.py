"""Requests: submit, find, retry, escalate, withdraw (docs/integrate/api.md). ``scoring`` scores them."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session, make_transient_to_detached
from sqlalchemy.orm.attributes import instance_dict

from app.core import bulk, clock, limits, outbox, tracing
from app.core.actions import actions, decisions, exemptions, moves, opening, strike_steps
from app.core.actions.moves import make_move
from app.core.attachments import adding
from app.core.attachments.adding import NewAttachment
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.history.reason import NO_REASON, Reason
from app.core.ids import new_id
from app.core.learning import versions
from app.core.models import Action, Attachment, Note, Report, Request, SampledPost
from app.core.notes import notes
from app.core.permissions import SYSTEM, Actor, Permission, require
from app.core.requests import edits, following, posts, reading, retention
from app.core.texts import lazy_gettext
from app.core.thresholds.routing import ESCALATED, STAFF_TARGET, Route
from app.core.vocabulary import ActionState, ActionTier, RequestStatus, ReviewGroup, Verb

SCORE_JOB = "score_request"
AFTER_OTHERS = 1
"""Priority of these jobs: after a burst most of them find their post scored, and other jobs must not wait for that."""


@dataclass(frozen=True)
class Submission:
    """What an integration submits. Ids and content are stored unchanged."""

    request_id: str
    requested_by: str
    content: str
    platform_message_id: str | None = None
    platform_channel_id: str | None = None
    platform_author_id: str | None = None
    platform_timestamp: datetime | None = None
    extra: dict[str, Any] | None = None
    similarity_score: float | None = None
    dataset_name: str | None = None
    dataset_item_id: str | None = None
    attachments: Sequence[NewAttachment] = ()


@dataclass(frozen=True)
class Receipt:
    """The stored request; whether this call created it; whether a duplicate's content differs from the stored one.

    ``attachments`` are those of a new request.
    """

    request: Request
    new: bool
    content_differs: bool = False
    attachments: Sequence[Attachment] = ()


def submit(session: Session, actor: Actor, community_id: uuid.UUID, submission: Submission) -> Receipt:
    """Store a submission and enqueue its scoring. The same ``request_id`` again returns the stored one unchanged."""
    require(actor, Permission.SUBMIT, community_id, "community server")
    check(submission)
    request = insert_unless_known(session, community_id, submission, clock.now())
    if request is None:
        existing = _find_existing(session, community_id, submission.request_id)
        if existing is None:
            raise Conflict("This request_id is being withdrawn right now; try again")
        return Receipt(
            existing,
            new=False,
            content_differs=existing.content_sha256 != exemptions.digest(submission.content),
        )
    enqueue_scoring(session, request.id, community_id)
    stored = adding.add(session, request, submission.attachments) if submission.attachments else ()
    return Receipt(request, new=True, attachments=stored)


def insert_unless_known(
    session: Session, community_id: uuid.UUID, submission: Submission, requested_at: datetime
) -> Request | None:
    """Insert with one statement instead of select, insert, select; None when the ``request_id`` exists already.

    Of simultaneous duplicates one inserts; on PostgreSQL the others wait for its commit.
    """
    now = clock.now()
    related = posts.relation(
        session,
        community_id,
        submission.platform_message_id,
        submission.content,
        [attachment.url for attachment in submission.attachments],
    )
    row = {
        **_NOTHING_YET,
        **{name: value for name, value in vars(submission).items() if name in _COLUMNS},
        "is_test": is_test(submission.extra),
        "has_attachments": bool(submission.attachments),
        "edit_of": related.edit_of,
        "duplicate_of": related.duplicate_of,
        "is_followed": False,
        "traceparent": tracing.current(),
        "id": new_id(),
        "community_id": community_id,
        "status": RequestStatus.PENDING,
        "content_sha256": exemptions.digest(submission.content),
        "requested_at": requested_at,
        "created_at": now,
        "updated_at": now,
    }
    stored = {_COLUMNS[name]: value for name, value in row.items()}
    if session.execute(_INSERT[session.get_bind().dialect.name], stored).first() is None:
        return None
    # All columns of the row are known, so it is not read back: that would take as long again as the insert.
    request = Request()
    instance_dict(request).update(row)
    make_transient_to_detached(request)
    session.add(request)
    return request


def _insert_into(insert: Any) -> Any:
    table = Request.__table__
    return (
        insert(table)
        .on_conflict_do_nothing(
            index_elements=[table.c.community_id, table.c.request_id],
            index_where=sa.text("withdrawn_at IS NULL"),
        )
        .returning(table.c.id)
    )


_COLUMNS = {name: attribute.columns[0].key for name, attribute in sa.inspect(Request).column_attrs.items()}
_NOTHING_YET = dict.fromkeys(_COLUMNS)
# Built once: building such a statement takes longer than running it.
_INSERT = {"sqlite": _insert_into(sqlite.insert), "postgresql": _insert_into(postgresql.insert)}


def find(session: Session, actor: Actor, reference: str, *, scope: uuid.UUID | None = None) -> Request:
    """The request that ``reading.find`` returns, as a mapped object to change; raises the same."""
    return session.get_one(Request, reading.find_id(session, actor, reference, scope=scope))


def retry(session: Session, actor: Actor, request: Request) -> None:
    """Score a failed request again. Raises NotFound if it was withdrawn meanwhile."""
    require(actor, Permission.RETRY_SCORING, request.community_id, "request")
    _lock(session, request)
    make_move(session, actor, request, RequestStatus.PENDING, failure=None, scoring_until=None)
    enqueue_scoring(session, request.id, request.community_id)


def escalate(session: Session, actor: Actor, request: Request) -> Action:
    """Send a request to staff review (docs/integrate/api.md): its open review, or a new one.

    Raises:
        NotFound: it was withdrawn meanwhile.
        Conflict: it is decided.
    """
    require(actor, Permission.SUBMIT, request.community_id, "request")
    _lock(session, request)
    live = actions.live_for(session, request.id)
    if live is None or live.action_state is not ActionState.UNDER_REVIEW:
        live = following.open_review(session, request) or live
    if live is not None and live.action_state is ActionState.UNDER_REVIEW:
        actions.send_to_staff(session, actor, live, reason=NO_REASON)
        return live
    if request.duplicate_of is not None:
        opened = escalate(session, actor, session.get_one(Request, request.duplicate_of))
        following.join(session, request, following.Place(opened))
        return opened
    if decisions.for_request(session, request.id) is not None:
        raise Conflict("This request is already decided", request.id)
    if request.status is RequestStatus.COMPLETED:
        make_move(session, actor, request, RequestStatus.IN_PROGRESS)
    elif request.status is RequestStatus.PENDING:
        make_move(
            session,
            SYSTEM,
            request,
            RequestStatus.IN_PROGRESS,
            reason=Reason(cause=lazy_gettext("escalated")),
        )
    route = Route(ActionTier.CONSENSUS, ESCALATED, 0.0, 0.0, Verb.HIDE, ReviewGroup.STAFF, 0, STAFF_TARGET)
    note = notes.write_rationale(
        session, request, ESCALATED, lazy_gettext("A member asked staff to look at it"), route.verb
    )
    request.note_id = note.id
    session.flush()
    evidence = {"score": 0, "category": ESCALATED, "labels": [ESCALATED], "scores": {}, "details": {}}
    return opening.open_for(session, request, route, evidence, note)


def link_note(session: Session, actor: Actor, request: Request, note: Note | None) -> None:
    """Link the note that answers a request; None leaves a request without a note as it is.

    Raises:
        Invalid: the note is in another community or on another request, or ``note`` is None but one is linked.
        NotFound: the request was withdrawn meanwhile.
    """
    require(actor, Permission.SUBMIT, request.community_id, "request")
    _lock(session, request)
    if note is None:
        if request.note_id is not None:
            raise Invalid.field("note_id", "cannot be taken away; name the note to link instead")
        return
    if note.community_id != request.community_id:
        raise Invalid.field("note_id", "belongs to another community", str(note.id))
    if note.request_id not in {None, request.id} and note.id != request.note_id:
        raise Invalid.field("note_id", "belongs to another request", str(note.id))
    request.note_id = note.id
    session.flush()
    history.record(
        session,
        actor,
        request.community_id,
        "request.note_linked",
        "request",
        request.id,
        after={"note_id": str(note.id)},
    )


def withdraw(session: Session, actor: Actor, request: Request) -> None:
    """Withdraw a submission: it disappears for every reader, its review ends, and its ``request_id`` is free again.

    Its content goes as after the community's retention; the content's hash and the decision stay.

    Raises NotFound if it was withdrawn meanwhile.
    """
    require(actor, Permission.SUBMIT, request.community_id, "request")
    _lock(session, request)
    live = actions.live_for(session, request.id)
    is_under_review = live is not None and live.action_state is ActionState.UNDER_REVIEW
    cause = Reason(cause=lazy_gettext("the submission was withdrawn"))
    if live is not None and is_under_review:
        following.hand_over(session, request, live)
        actions.decide_none(session, SYSTEM, live, confidence=1.0, reason=cause)
    elif live is not None and live.action_state is ActionState.RETRO_REVIEW:
        actions.lapse(session, live, reason=cause)
    strike_steps.leave_post(session, request.id)
    request.withdrawn_at = clock.now()
    session.flush()
    heir = posts.leave(session, request)
    if heir is not None:
        bulk.change(
            session,
            sa.update(Report)
            .where(Report.request_id == request.id)
            .values(request_id=heir, updated_at=Report.updated_at),
        )
    edits.show_another(session, request)
    moves.wake_followers(session, request)
    retention.empty(session, [request], retention.WITHDRAWN)
    if is_under_review:
        # Nothing was learned from a post that nobody had decided.
        versions.delete_samples(session, SampledPost.request_id == request.id)
    else:
        versions.content_erased(session, request.community_id, [request.id])
    moves.wake_reports(session, request.community_id, request.id)
    history.record(session, actor, request.community_id, "request.withdrawn", "request", request.id)


def _lock(session: Session, request: Request) -> None:
    """Lock the community and read the request again. Raises NotFound if another call withdrew it."""
    serialise(session, request.community_id)
    session.refresh(request)
    if request.withdrawn_at is not None:
        raise NotFound("request")


def _find_existing(session: Session, community_id: uuid.UUID, request_id: str) -> Request | None:
    return session.scalars(
        sa.select(Request).where(
            Request.community_id == community_id,
            Request.request_id == request_id,
            Request.withdrawn_at.is_(None),
        )
    ).first()


def enqueue_scoring(
    session: Session, request_id: uuid.UUID, community_id: uuid.UUID, *, delay: float = 0.0
) -> None:
    """Have a request scored, ``delay`` seconds later. The job does nothing if there is nothing to do."""
    outbox.enqueue(
        session,
        SCORE_JOB,
        {"request_id": str(request_id)},
        community_id=community_id,
        delay=delay,
        priority=AFTER_OTHERS,
    )


def check(submission: Submission) -> None:
    """Raise Invalid if a value of the submission is not allowed."""
    limits.foreign_id(submission.request_id, "request_id")
    limits.foreign_id(submission.requested_by, "requested_by")
    limits.text(submission.content, "original_message_content", limits.CONTENT_MAX)
    for name in ("platform_message_id", "platform_channel_id", "platform_author_id"):
        value = getattr(submission, name)
        if value is not None:
            limits.foreign_id(value, name)
    if submission.dataset_name is not None:
        limits.text(submission.dataset_name, "dataset_name", limits.DATASET_NAME_MAX)
    if submission.dataset_item_id is not None:
        limits.text(submission.dataset_item_id, "dataset_item_id", limits.DATASET_ITEM_MAX)
    if submission.similarity_score is not None and not 0 <= submission.similarity_score <= 1:
        raise Invalid.field("similarity_score", "must be a number from 0 to 1", submission.similarity_score)
    if submission.extra is not None:
        limits.json_object(submission.extra, "metadata")
    adding.check(submission.attachments)


TEST_MARK = "bridgenote_test"
"""True in a submission's ``metadata``: it was sent to try out the service (docs/run/first-hour.md)."""


def is_test(extra: Mapping[str, Any] | None) -> bool:
    """Whether a submission with this metadata is a test."""
    return extra is not None and extra.get(TEST_MARK) is True
