"""Webhooks: registered, listed, changed, tested, removed (docs/integration.md).

They live outside the API's prefix, under the same keys. A secret comes in and never goes out.
"""

import uuid
from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi
from app.api.blueprints import guarded, opens_communities
from app.api.parse import JSON_API
from app.api.schemas.webhooks import (
    WebhookDocument,
    WebhookList,
    WebhookPatch,
    WebhookQuery,
    WebhookRegistration,
)
from app.core import clock
from app.core.communities import communities
from app.core.errors import NotFound
from app.core.ids import parse_id
from app.core.models import Community, Endpoint
from app.core.paging import paginate
from app.core.permissions import Permission
from app.core.webhooks import endpoints as webhooks
from app.wiring import base_url, wired

PREFIX = "/webhooks"

endpoints = guarded("webhooks", tag="Webhooks")
"""Everything under ``/webhooks``."""


@endpoints.post("/register")
@endpoints.input(WebhookRegistration)
@endpoints.output(WebhookDocument, 201, content_type=JSON_API)
@endpoints.doc(responses=[200, 400, 404])
@opens_communities
def register_webhook(json_data: WebhookRegistration) -> Response:
    """Register a URL for a community's events: 201; 200 where it was registered before, with the new secret."""
    with wired().database.writing() as session:
        community_id, actor = community_servers.find_or_open(
            session, auth.caller(), json_data.platform_community_server_id
        )
        community = communities.get(session, actor, community_id)
        endpoint, made = webhooks.register(
            session,
            actor,
            wired().sealer,
            wired().allow,
            community,
            json_data.url,
            json_data.secret,
            json_data.events,
        )
        headers = {"Location": _location(endpoint)}
        return jsonapi.answer(_document(endpoint, community), 201 if made else 200, headers)


@endpoints.get("")
@endpoints.input(WebhookQuery, location="query")
@endpoints.output(WebhookList, content_type=JSON_API)
@endpoints.doc(responses=[400])
def list_webhooks(query_data: WebhookQuery) -> Response:
    """List the webhooks of the key's communities, newest first."""
    statement = webhooks.matching(auth.actor())
    if query_data.community is not None:
        statement = statement.where(Endpoint.community_id == query_data.community)
    with wired().database.reading() as session:
        page = paginate(session, statement, Endpoint.created_at, Endpoint.id, query_data.slice())
        named = communities.by_ids(session, {endpoint.community_id for endpoint in page.rows})
        return jsonapi.answer(jsonapi.listing(page, lambda row: show(row, named[row.community_id])))


@endpoints.get("/<string(length=36):webhook_id>")
@endpoints.output(WebhookDocument, content_type=JSON_API)
@endpoints.doc(responses=[404])
def read_webhook(webhook_id: str) -> Response:
    """Read one webhook."""
    with wired().database.reading() as session:
        endpoint = webhooks.get(
            session, auth.actor(), _identity(webhook_id), permission=Permission.SEE_WEBHOOKS
        )
        return _answer(session, endpoint)


@endpoints.patch("/<string(length=36):webhook_id>")
@endpoints.input(WebhookPatch)
@endpoints.output(WebhookDocument, content_type=JSON_API)
@endpoints.doc(responses=[400, 404, 409])
def patch_webhook(webhook_id: str, json_data: WebhookPatch) -> Response:
    """Change a webhook's URL, events or secret, or enable or disable it."""
    given = json_data.model_dump(include=json_data.model_fields_set)
    if "events" in given:
        given["event_names"] = given.pop("events")
    with wired().database.writing() as session:
        endpoint = webhooks.change(
            session, auth.actor(), wired().sealer, wired().allow, _identity(webhook_id), **given
        )
        return _answer(session, endpoint)


@endpoints.delete("/<string(length=36):webhook_id>")
@endpoints.output({}, 204)
@endpoints.doc(responses=[404])
def delete_webhook(webhook_id: str) -> Response:
    """Remove a webhook; what was due to it is cancelled."""
    with wired().database.writing() as session:
        webhooks.remove(session, auth.actor(), _identity(webhook_id))
    return jsonapi.nothing()


@endpoints.post("/<string(length=36):webhook_id>/test")
@endpoints.output(WebhookDocument, 202, content_type=JSON_API)
@endpoints.doc(responses=[404, 409])
def test_webhook(webhook_id: str) -> Response:
    """Send a ``webhook.test`` event to this webhook alone; ``meta.event_id`` names it. Disabled: 409."""
    with wired().database.reading() as session:
        webhooks.get(session, auth.actor(), _identity(webhook_id))
    auth.count("webhook_tests", str(_identity(webhook_id)))
    with wired().database.writing() as session:
        event = webhooks.send_test(session, auth.actor(), _identity(webhook_id))
        endpoint = webhooks.get(session, auth.actor(), _identity(webhook_id))
        return _answer(session, endpoint, 202, event_id=event.id)


def _identity(webhook_id: str) -> uuid.UUID:
    identity = parse_id(webhook_id)
    if identity is None:
        raise NotFound("webhook")
    return identity


def _answer(session: Session, endpoint: Endpoint, status: int = 200, **meta: Any) -> Response:
    community = session.get_one(Community, endpoint.community_id)
    return jsonapi.answer(_document(endpoint, community, **meta), status)


def _document(endpoint: Endpoint, community: Community, **meta: Any) -> dict[str, Any]:
    shown = show(endpoint, community)
    links = {"self": _location(endpoint), "describedby": _absolute(jsonapi.DESCRIBED_BY)}
    return jsonapi.document(shown, links=links, meta=meta) | {"id": shown["id"]}


def _location(endpoint: Endpoint) -> str:
    return _absolute(f"{PREFIX}/{endpoint.id}")


def _absolute(path: str) -> str:
    # ``jsonapi.url`` names paths below the API's prefix, and these are not.
    return base_url() + path


def show(endpoint: Endpoint, community: Community) -> dict[str, Any]:
    """The resource object of a webhook, without its secrets."""
    until = endpoint.previous_until
    attributes = {
        "url": endpoint.url,
        "events": endpoint.events,
        "community_server_id": endpoint.community_id,
        "platform_community_server_id": community.platform_community_server_id,
        "is_active": endpoint.is_active,
        "disabled_reason": endpoint.disabled_reason,
        "failures": endpoint.failures,
        "failing_since": endpoint.failing_since,
        "last_success_at": endpoint.last_success_at,
        "previous_secret_until": until if until is not None and clock.now() < until else None,
        "created_at": endpoint.created_at,
        "updated_at": endpoint.updated_at,
    }
    return jsonapi.resource("webhooks", endpoint.id, attributes, null=tuple(attributes))
