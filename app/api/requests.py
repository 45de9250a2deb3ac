"""Requests: submit, list, poll, read, patch, withdraw (docs/integrate/api.md)."""

import uuid
from collections.abc import Sequence
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Any

import flask
from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi
from app.api.blueprints import opens_communities, polls, public
from app.api.errors import render
from app.api.schemas.attachments import AttachmentShown, from_flat
from app.api.schemas.requests import (
    RequestAttributes,
    RequestCreate,
    RequestDocument,
    RequestList,
    RequestPatch,
    RequestQuery,
)
from app.core.actions.decisions import NO_ACTION
from app.core.attachments import adding
from app.core.attachments.adding import NewAttachment
from app.core.errors import Conflict, IllegalMove
from app.core.ids import parse_id
from app.core.models import Attachment, Request
from app.core.notes import notes
from app.core.paging import Page, next_since
from app.core.permissions import Actor
from app.core.requests import reading, submitting
from app.core.requests.reading import Acted
from app.core.vocabulary import RequestStatus, Standing
from app.core.webhooks import payloads
from app.errors import Explained
from app.process.replica_reads import may_be_old
from app.wiring import wired

_TIERS = {1: "immediate_action", 2: "community_review"}


@public.post("/requests")
@public.input(RequestCreate)
@public.answers(RequestDocument, 201, also=[200, 400, 404, 409])
@opens_communities
def create_request(json_data: RequestCreate) -> Response:
    """Submit content for moderation.

    The same ``request_id`` again returns the stored request with 200, or 409 if the operator chose that.
    """
    caller, submission = auth.caller(), submission_of(json_data)
    known_id = community_servers.find_known(caller, json_data.community_server_id)
    with wired().database.writing() as session:
        community_id, actor = community_servers.find_or_open(
            session, caller, json_data.community_server_id, known_id=known_id
        )
        submitted = submit(session, actor, community_id, submission)
    answer = answer_to(submitted)
    if isinstance(answer, Explained):
        return render(answer)
    shown, meta = answer
    return jsonapi.answer_resource(shown, 200 if meta else 201, located=True, meta=meta)


Submitted = tuple[submitting.Receipt, dict[str, Any] | None]
"""What came of a submission, and the resource object of one that was known."""


def submit(
    session: Session, actor: Actor, community_id: uuid.UUID, submission: submitting.Submission
) -> Submitted:
    """Store a submission in a writing session; ``answer_to`` says after the commit what to answer."""
    receipt = submitting.submit(session, actor, community_id, submission)
    if receipt.new:
        return receipt, None
    return receipt, _shown(session, reading.find(session, actor, str(receipt.request.id)))


def answer_to(submitted: Submitted) -> tuple[dict[str, Any], dict[str, Any] | None] | Explained:
    """Return the resource object and its ``meta``, None of a new one, or the refusal of duplicates (409)."""
    receipt, known = submitted
    shown = known or show_new(receipt.request, receipt.attachments)
    if known and wired().settings.duplicate_request_status == 409:
        location = jsonapi.url(f"/requests/{shown['id']}")
        return Explained(409, "This request_id was submitted before", {"Location": location})
    shown["attributes"]["status"] = shown["attributes"]["status"].lower()
    meta = {"duplicate": True, "content_differs": receipt.content_differs} if known else None
    return shown, meta


def submission_of(body: RequestCreate) -> submitting.Submission:
    """Return what is submitted, for the core."""
    same = body.model_dump(include=_UNCHANGED)
    sent = [NewAttachment(**one.model_dump()) for one in body.attachments or ()]
    sent += from_flat(
        body.attachment_url, body.attachment_type, body.attachment_metadata, body.embedded_image_url
    )
    return submitting.Submission(
        content=body.original_message_content, extra=body.metadata, attachments=sent, **same
    )


_UNCHANGED = {field.name for field in fields(submitting.Submission)} - {"attachments"}
"""Attributes of a submission that the core has under the same name and in the same form."""


@public.get("/requests")
@public.input(RequestQuery, location="query")
@public.answers(RequestList, also=[400])
@polls
@may_be_old
def list_requests(query_data: RequestQuery) -> Response:
    """List requests, newest first; with ``status=decided`` the catch-up poll, oldest decision first.

    With ``filter[completed_at__gte]`` it is oldest completion first, and ``meta.next_since`` is the value of the next
    call, which repeats up to a minute: deduplicate by id.
    """
    actor = auth.actor()
    if query_data.since is not None and query_data.status is None:
        raise community_servers.query_problem("since", "needs status=decided")
    statement = reading.matching(
        actor,
        status=query_data.filter_status,
        communities=(query_data.filter_community, query_data.community),
        requested_by=query_data.requested_by,
        dataset_name=query_data.dataset_name,
        dataset_item_id=query_data.dataset_item_id,
        requested_from=query_data.requested_from,
        requested_to=query_data.requested_to,
        completed_from=query_data.completed_from,
        duplicate_of=query_data.duplicate_of,
    )
    meta: dict[str, Any] = {}
    with wired().database.reading() as session:
        if query_data.status is None:
            after = query_data.completed_from
            page = reading.listed(session, statement, query_data.slice(), by_completion=after is not None)
            meta |= jsonapi.next_changes(page, after, "completed_at")
        else:
            since = query_data.since or datetime(1970, 1, 1, tzinfo=UTC)
            page = reading.decided(session, statement, since, query_data.slice())
            meta["next_since"] = _next_since(page, since, _is_one_community(actor, query_data))
        acted = reading.acted_on(session, page.rows)
        attachments = adding.for_requests(session, page.rows)
        return jsonapi.answer(
            jsonapi.listing(page, lambda row: show(row, acted[row.id], attachments.get(row.id, ())), **meta)
        )


def _is_one_community(actor: Actor, query: RequestQuery) -> bool:
    has_one = actor.communities is not None and len(actor.communities) == 1
    return has_one or query.community is not None or query.filter_community is not None


def _next_since(page: Page[Any], since: datetime, one_community: bool) -> datetime:
    """Return the ``since`` of the next poll, so that it misses no decision.

    Within a community decisions are strictly ordered, so it is the microsecond after the last decision on the page.
    Across communities they are in no order, so the next poll repeats what ``next_since`` does.
    """
    last: datetime | None = page.rows[-1].decided_at if page.rows else None
    if last is not None and one_community:
        return last + timedelta(microseconds=1)
    return next_since(last, since)


@public.get("/requests/<request_reference:reference>")
@public.answers(RequestDocument, also=[400, 404])
@polls
def read_request(reference: str) -> Response:
    """Read one request by our UUID or by the integration's ``request_id``."""
    with wired().database.reading() as session:
        caller = auth.caller()
        row = reading.find(session, caller.actor, reference, scope=caller.scope_id)
        return jsonapi.answer_resource(_shown(session, row))


@public.patch("/requests/<request_reference:reference>")
@public.input(RequestPatch)
@public.answers(RequestDocument, also=[400, 404, 409])
def patch_request(reference: str, json_data: RequestPatch) -> Response:
    """Retry a failed request, link a note to it, or send it to staff."""
    actor = auth.actor()
    with wired().database.writing() as session:
        request = _find(session, reference)
        _check_body_id(request)
        if json_data.status is not None:
            if json_data.status is not RequestStatus.PENDING:
                raise IllegalMove("status", request.status, json_data.status)
            submitting.retry(session, actor, request)
        if "note_id" in json_data.model_fields_set:
            note_id = json_data.note_id
            note = notes.get(session, actor, note_id) if note_id is not None else None
            submitting.link_note(session, actor, request, note)
        if json_data.escalated:
            submitting.escalate(session, actor, request)
        session.flush()
        return jsonapi.answer_resource(_shown(session, reading.find(session, actor, str(request.id))))


@public.delete("/requests/<request_reference:reference>")
@public.output({}, 204)
@public.doc(responses=[400, 404])
def delete_request(reference: str) -> Response:
    """Withdraw a request; its ``request_id`` is free again.

    What is submitted under it later is a new request, with a decision and an ``event_id`` of its own.
    """
    with wired().database.writing() as session:
        submitting.withdraw(session, auth.actor(), _find(session, reference))
    return jsonapi.no_content()


def _find(session: Session, reference: str) -> Request:
    caller = auth.caller()
    return submitting.find(session, caller.actor, reference, scope=caller.scope_id)


def _check_body_id(request: Request) -> None:
    body_id: str | None = flask.g.get("body_id")
    if body_id is not None and (parse_id(body_id) or body_id) not in {request.id, request.request_id}:
        raise Conflict("The id in the body differs from the id in the path")


def _shown(session: Session, row: Any) -> dict[str, Any]:
    attachments = adding.for_requests(session, [row])
    return show(row, reading.acted_on(session, [row])[row.id], attachments.get(row.id, ()))


def show_new(request: Request, attachments: Sequence[Attachment] = ()) -> dict[str, Any]:
    """Return the resource object of a new request, which has only the submitted data; status in upper case."""
    return _resource(request, attachments, {**dict.fromkeys(_OUTCOME), "standing": Standing.UP})


_OUTCOME = (
    "decided_at",
    "decision",
    "tier",
    "moderation_action",
    "recommended_action",
    "action_id",
    "note_status",
)
"""Attributes that a new request does not have."""


def show(row: Any, acted: Acted, attachments: Sequence[Attachment] = ()) -> dict[str, Any]:
    """Return the resource object of a row of ``requests.reading``, with what was done about it."""
    outcome: dict[str, Any] = {
        "moderation_action": None,
        "recommended_action": None,
        "standing": acted.standing,
    }
    if row.decided_at is not None:
        outcome["moderation_action"] = _TIERS.get(row.tier)
        if row.decision != NO_ACTION:
            outcome["recommended_action"] = payloads.RECOMMENDED[row.action_type]
    elif acted.latest is not None:
        outcome["moderation_action"] = _TIERS.get(acted.latest.action_tier.number)
        outcome["action_id"] = acted.latest.id
    if row.content_removed_at is not None:
        outcome["content"] = None
    return _resource(row, attachments, outcome)


def _resource(row: Any, attachments: Sequence[Attachment], outcome: dict[str, Any]) -> dict[str, Any]:
    return jsonapi.shown(
        "requests",
        RequestAttributes,
        row,
        community_server_id=row.community_id,
        metadata=row.extra,
        attachments=[_show_attachment(attachment) for attachment in attachments] or None,
        **outcome,
    )


def _show_attachment(attachment: Attachment) -> dict[str, Any]:
    """Return an attachment as it was sent, with its state."""
    values = {name: getattr(attachment, name) for name in AttachmentShown.model_fields}
    return {name: jsonapi.json_value(value) for name, value in values.items() if value is not None}
