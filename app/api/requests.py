"""Requests: submit, list, poll, read, patch, withdraw (Spec: Requests; Contract: section 3)."""

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import flask
from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi
from app.api.blueprints import opens_communities, public
from app.api.errors import render
from app.api.parse import JSON_API
from app.api.schemas import RequestCreate, RequestDocument, RequestList, RequestPatch, RequestQuery
from app.core import clock, notes, payloads, requests, rules
from app.core.decisions import NO_ACTION
from app.core.errors import Conflict, IllegalMove, NotFound
from app.core.ids import parse_id
from app.core.models import Action, Decision, Note, Request
from app.core.paging import Page, paginate
from app.core.permissions import Actor
from app.core.vocabulary import RequestStatus
from app.errors import Explained
from app.wiring import wired

_TIERS = {1: "immediate_action", 2: "community_review"}
_OVERLAP = timedelta(seconds=60)
"""How far back a poll over several communities repeats itself: decisions are in order per community only."""


@public.post("/requests")
@public.input(RequestCreate)
@public.output(RequestDocument, 201, content_type=JSON_API)
@public.doc(responses=[200, 400, 404, 409])
@opens_communities
def create_request(json_data: RequestCreate) -> Response:
    """Submit content for moderation.

    The same ``request_id`` again gives the stored request with 200, or 409 where the operator chose so.
    """
    with wired().database.writing() as session:
        community, actor = community_servers.find_or_open(
            session, auth.caller(), json_data.community_server_id
        )
        receipt = requests.submit(session, actor, community.id, _submission(json_data))
        if receipt.new:
            shown = show(receipt.request)
        else:
            known = requests.find(session, actor, str(receipt.request.id))
            shown = show_full(known, requests.actions_of(session, [known]))
    at = f"/requests/{shown['id']}"
    if not receipt.new and wired().settings.duplicate_request_status == 409:
        return render(Explained(409, "This request_id was submitted before", {"Location": jsonapi.url(at)}))
    shown["attributes"]["status"] = shown["attributes"]["status"].lower()
    meta = None if receipt.new else {"duplicate": True, "content_differs": receipt.content_differs}
    document = jsonapi.document(shown, at=at, meta=meta)
    return jsonapi.answer(document, 201 if receipt.new else 200, {"Location": jsonapi.url(at)})


def _submission(given: RequestCreate) -> requests.Submission:
    fields = given.model_dump(exclude={"community_server_id", "original_message_content", "metadata"})
    return requests.Submission(content=given.original_message_content, extra=given.metadata, **fields)


@public.get("/requests")
@public.input(RequestQuery, location="query")
@public.output(RequestList, content_type=JSON_API)
@public.doc(responses=[400])
def list_requests(query_data: RequestQuery) -> Response:
    """List requests, newest first; with ``status=decided`` the catch-up poll, oldest decision first."""
    actor, asked = auth.actor(), query_data
    if asked.since is not None and asked.status is None:
        raise community_servers.query_problem("since", "needs status=decided")
    statement = requests.matching(
        actor,
        status=asked.filter_status,
        community_id=asked.filter_community,
        requested_by=asked.requested_by,
        requested_from=asked.requested_from,
        requested_to=asked.requested_to,
    )
    if asked.community is not None:
        statement = statement.where(Request.community_id == asked.community)
    meta: dict[str, Any] = {}
    with wired().database.reading() as session:
        if asked.status is None:
            page = paginate(session, statement, Request.requested_at, Request.id, asked.slice())
        else:
            since = asked.since or datetime(1970, 1, 1, tzinfo=UTC)
            statement = requests.decided(statement, since)
            wanted = asked.slice()
            page = paginate(session, statement, Decision.decided_at, Request.id, wanted, descending=False)
            meta["next_since"] = _next_since(page, since, _is_one_community(actor, asked))
        begun = requests.actions_of(session, page.rows)
        return jsonapi.answer(jsonapi.listing(page, lambda row: show_full(row, begun), **meta))


def _is_one_community(actor: Actor, asked: RequestQuery) -> bool:
    mine = actor.communities is not None and len(actor.communities) == 1
    return mine or asked.community is not None or asked.filter_community is not None


def _next_since(page: Page[Any], since: datetime, one_community: bool) -> datetime:
    """Where the next poll begins so that it misses nothing.

    Within a community decisions are strictly ordered, so the microsecond after the last one seen is exact. Across
    communities a transaction that began earlier may commit later: the poll repeats a little instead.
    """
    if not page.rows:
        return since
    last: datetime = page.rows[-1].decision.decided_at
    if one_community:
        return last + timedelta(microseconds=1)
    return max(since, min(last, clock.now() - _OVERLAP))


@public.get("/requests/<reference>")
@public.output(RequestDocument, content_type=JSON_API)
@public.doc(responses=[400, 404])
def read_request(reference: str) -> Response:
    """Read one request by our UUID or by the integration's ``request_id``."""
    with wired().database.reading() as session:
        request = _find(session, reference)
        return _answer(session, request)


@public.patch("/requests/<reference>")
@public.input(RequestPatch)
@public.output(RequestDocument, content_type=JSON_API)
@public.doc(responses=[400, 404, 409])
def patch_request(reference: str, json_data: RequestPatch) -> Response:
    """Retry a failed request, link a note to it, or send it to staff."""
    actor = auth.actor()
    with wired().database.writing() as session:
        request = _find(session, reference)
        _check_body_id(request)
        if json_data.status is not None:
            if json_data.status is not RequestStatus.PENDING:
                raise IllegalMove("status", request.status, json_data.status)
            requests.retry(session, actor, request)
        if json_data.note_id is not None:
            requests.link_note(session, actor, request, notes.get(session, actor, json_data.note_id))
        if json_data.escalated:
            requests.escalate(session, actor, request)
        session.flush()
        session.expire_all()
        return _answer(session, _find(session, str(request.id)))


@public.delete("/requests/<reference>")
@public.output({}, 204)
@public.doc(responses=[400, 404])
def delete_request(reference: str) -> Response:
    """Withdraw a request; its ``request_id`` is free again."""
    with wired().database.writing() as session:
        requests.withdraw(session, auth.actor(), _find(session, reference))
    return jsonapi.nothing()


def _find(session: Session, reference: str) -> Request:
    caller = auth.caller()
    if len(reference) > rules.ID_MAX or "\x00" in reference:
        raise NotFound("request")
    return requests.find(session, caller.actor, reference, scope=caller.scope_id)


def _check_body_id(request: Request) -> None:
    given: str | None = flask.g.get("body_id")
    if given is not None and (parse_id(given) or given) not in {request.id, request.request_id}:
        raise Conflict("The id in the body differs from the id in the path")


def _answer(session: Session, request: Request) -> Response:
    shown = show_full(request, requests.actions_of(session, [request]))
    return jsonapi.answer(jsonapi.document(shown, at=f"/requests/{request.id}"))


def show_full(request: Request, begun: Mapping[uuid.UUID, Action]) -> dict[str, Any]:
    """The resource object of a request read with ``requests.READ_OPTIONS``; ``begun`` are actions by request."""
    decision = request.decision
    action = decision.action if decision is not None else begun.get(request.id)
    return show(request, decision, action, request.note)


def show(
    request: Request,
    decision: Decision | None = None,
    action: Action | None = None,
    note: Note | None = None,
) -> dict[str, Any]:
    """The resource object of a request; status in upper case."""
    tier = decision.tier if decision is not None else None
    if tier is None and action is not None and action.action_tier is not None:
        tier = action.action_tier.number
    acts = decision is not None and decision.decision != NO_ACTION
    # Through the mapper, attribute by attribute, a list of a hundred takes a tenth longer.
    known = vars(request)
    attributes = {
        "request_id": known["request_id"],
        "requested_by": known["requested_by"],
        "status": known["status"],
        "note_id": known["note_id"],
        "community_server_id": known["community_id"],
        "requested_at": known["requested_at"],
        "created_at": known["created_at"],
        "updated_at": known["updated_at"],
        "content": known["content"] if known["content_removed_at"] is None else None,
        "platform_message_id": known["platform_message_id"],
        "platform_channel_id": known["platform_channel_id"],
        "platform_author_id": known["platform_author_id"],
        "platform_timestamp": known["platform_timestamp"],
        "metadata": known["extra"],
        "similarity_score": known["similarity_score"],
        "dataset_name": known["dataset_name"],
        "dataset_item_id": known["dataset_item_id"],
        "decided_at": decision.decided_at if decision else None,
        "decision": decision.decision if decision else None,
        "tier": decision.tier if decision else None,
        "moderation_action": _TIERS.get(tier) if tier else None,
        "recommended_action": payloads.RECOMMENDED[action.action_type] if acts and action else None,
        "action_id": action.id if action else None,
        "note_status": note.status if note else None,
    }
    return jsonapi.resource("requests", request.id, attributes, null=("note_id", "content"))
