"""Webhooks: register, list, change, test and remove (docs/integrate/api.md).

These paths are outside the API's prefix but need the same keys. Responses never contain a secret.
"""

from typing import Any

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth, community_servers, jsonapi
from app.api.blueprints import guarded, opens_communities
from app.api.schemas.webhooks import (
    ROTATION,
    DeliveryAttributes,
    DeliveryList,
    DeliveryQuery,
    ReplayAttributes,
    ReplayDocument,
    WebhookAttributes,
    WebhookDocument,
    WebhookList,
    WebhookPatch,
    WebhookQuery,
    WebhookRegistration,
    WebhookReplay,
)
from app.core import clock
from app.core.communities import communities
from app.core.ids import require_id
from app.core.models import Community, Replay, Webhook
from app.core.paging import paginate
from app.core.permissions import Permission
from app.core.vocabulary import DeliveryState
from app.core.webhooks import deliveries, replays, signing
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.deliveries import Filters, Line
from app.process.replica_reads import may_be_old
from app.wiring import base_url, wired

PREFIX = "/webhooks"

endpoints = guarded("webhooks", tag="Webhooks")
"""Every view under ``/webhooks``."""


@endpoints.post("/register")
@endpoints.input(WebhookRegistration)
@endpoints.answers(WebhookDocument, 201, also=[200, 400, 404])
@opens_communities
def register_webhook(json_data: WebhookRegistration) -> Response:
    """Register a URL for a community's events: 201. If it was registered before: 200, and the new secret is used."""
    caller = auth.caller()
    with wired().database.writing() as session:
        community_id, actor = community_servers.find_or_open(
            session,
            caller,
            json_data.platform_community_server_id,
            platform=community_servers.platform_of(caller),
        )
        community = communities.get(session, actor, community_id)
        webhook, created = webhooks.register(
            session,
            actor,
            wired().sealer,
            wired().allow,
            community,
            json_data.url,
            json_data.secret,
            json_data.events,
        )
        headers = {"Location": _location(webhook)}
        return jsonapi.answer(_document(webhook, community), 201 if created else 200, headers)


@endpoints.get("")
@endpoints.input(WebhookQuery, location="query")
@endpoints.answers(WebhookList, also=[400])
def list_webhooks(query_data: WebhookQuery) -> Response:
    """List the webhooks of the key's communities, newest first."""
    statement = webhooks.visible_statement(auth.actor())
    if query_data.community is not None:
        statement = statement.where(Webhook.community_id == query_data.community)
    with wired().database.reading() as session:
        page = paginate(session, statement, Webhook.created_at, Webhook.id, query_data.slice())
        by_id = communities.by_ids(session, {webhook.community_id for webhook in page.rows})
        return jsonapi.answer(jsonapi.listing(page, lambda row: show(row, by_id[row.community_id])))


@endpoints.get("/<string(length=36):webhook_id>")
@endpoints.answers(WebhookDocument, also=[404])
def read_webhook(webhook_id: str) -> Response:
    """Read one webhook."""
    with wired().database.reading() as session:
        webhook = webhooks.get(
            session, auth.actor(), require_id(webhook_id, "webhook"), permission=Permission.SEE_WEBHOOKS
        )
        return _answer(session, webhook)


@endpoints.patch("/<string(length=36):webhook_id>")
@endpoints.input(WebhookPatch)
@endpoints.answers(WebhookDocument, also=[400, 404, 409])
def patch_webhook(webhook_id: str, json_data: WebhookPatch) -> Response:
    """Change a webhook's URL, events or secret, end its former secrets, or enable or disable it."""
    changes = json_data.model_dump(include=json_data.model_fields_set)
    if "events" in changes:
        changes["event_names"] = changes.pop("events")
    changes["end_former"] = "previous_secret_until" in changes
    changes.pop("previous_secret_until", None)
    with wired().database.writing() as session:
        webhook = webhooks.change(
            session, auth.actor(), wired().sealer, wired().allow, require_id(webhook_id, "webhook"), **changes
        )
        return _answer(session, webhook)


@endpoints.delete("/<string(length=36):webhook_id>")
@endpoints.output({}, 204)
@endpoints.doc(responses=[404])
def delete_webhook(webhook_id: str) -> Response:
    """Remove a webhook. Its pending deliveries are cancelled."""
    with wired().database.writing() as session:
        webhooks.remove(session, auth.actor(), require_id(webhook_id, "webhook"))
    return jsonapi.no_content()


@endpoints.post("/<string(length=36):webhook_id>/test")
@endpoints.answers(WebhookDocument, 202, also=[404, 409])
def test_webhook(webhook_id: str) -> Response:
    """Send a ``webhook.test`` event to this webhook only; ``meta.event_id`` is its id. 409 if disabled."""
    identity = require_id(webhook_id, "webhook")
    with wired().database.reading() as session:
        webhooks.get(session, auth.actor(), identity)
    auth.count("webhook_tests", str(identity))
    with wired().database.writing() as session:
        event = webhooks.send_test(session, auth.actor(), identity)
        webhook = webhooks.get(session, auth.actor(), identity)
        return _answer(session, webhook, 202, event_id=event.id)


@endpoints.get("/<string(length=36):webhook_id>/deliveries")
@endpoints.input(DeliveryQuery, location="query")
@endpoints.answers(DeliveryList, also=[400, 404])
@may_be_old
def list_deliveries(webhook_id: str, query_data: DeliveryQuery) -> Response:
    """List a webhook's deliveries, newest first, each with its last attempt."""
    actor = auth.actor()
    with wired().database.reading() as session:
        webhook = webhooks.get(
            session, actor, require_id(webhook_id, "webhook"), permission=Permission.SEE_WEBHOOKS
        )
        filters = Filters(
            states=(query_data.state,) if query_data.state is not None else (),
            webhook_id=webhook.id,
            event=query_data.event,
            since=query_data.created_from,
        )
        part = query_data.slice(webhook.id)
        page = deliveries.listing(session, actor, webhook.community_id, filters, part, most=None)
        return jsonapi.answer(jsonapi.listing(page, show_delivery))


@endpoints.post("/<string(length=36):webhook_id>/replay")
@endpoints.input(WebhookReplay)
@endpoints.answers(ReplayDocument, 202, also=[400, 404, 409])
def replay_deliveries(webhook_id: str, json_data: WebhookReplay) -> Response:
    """Send a webhook's deliveries of a time range again, by default those that failed, with the same event ids.

    They are sent in the background: follow them in the list of deliveries. 409 if there are none, or if the webhook is
    disabled.
    """
    actor = auth.actor()
    with wired().database.writing() as session:
        webhook = webhooks.get(session, actor, require_id(webhook_id, "webhook"))
        deliveries.check_receives(webhook)
        filters = Filters(
            states=tuple(map(DeliveryState, dict.fromkeys(json_data.states))),
            webhook_id=webhook.id,
            since=json_data.since,
            until=json_data.until,
        )
        replay = replays.begin(session, actor, webhook.community_id, filters)
        return jsonapi.answer(jsonapi.document(show_replay(replay)), 202)


def _answer(session: Session, webhook: Webhook, status: int = 200, **meta: Any) -> Response:
    community = session.get_one(Community, webhook.community_id)
    return jsonapi.answer(_document(webhook, community, **meta), status)


def _document(webhook: Webhook, community: Community, **meta: Any) -> dict[str, Any]:
    shown = show(webhook, community)
    if shown["attributes"]["previous_secret_until"] is not None:
        meta["rotation"] = ROTATION
    links = {"self": _location(webhook), "describedby": _absolute(jsonapi.DESCRIBED_BY)}
    return jsonapi.document(shown, links=links, meta=meta) | {"id": shown["id"]}


def _location(webhook: Webhook) -> str:
    return _absolute(f"{PREFIX}/{webhook.id}")


def _absolute(path: str) -> str:
    # ``jsonapi.url`` is for paths below the API's prefix; webhook paths are outside it.
    return base_url() + path


def show(webhook: Webhook, community: Community) -> dict[str, Any]:
    """Return the resource object of a webhook, without its secrets."""
    return jsonapi.shown(
        "webhooks",
        WebhookAttributes,
        webhook,
        community_server_id=webhook.community_id,
        platform_community_server_id=community.platform_community_server_id,
        previous_secret_until=signing.former_secret_until(webhook, clock.now()),
    )


def show_delivery(line: Line) -> dict[str, Any]:
    """Return the resource object of a delivery with its last attempt."""
    delivery, last = line.delivery, line.last
    return jsonapi.shown(
        "webhook-deliveries",
        DeliveryAttributes,
        delivery,
        event=delivery.event.name,
        attempts=delivery.attempts_made,
        last_attempt_at=last.at if last is not None else None,
        last_status=last.status if last is not None else None,
        last_error=last.error if last is not None else None,
    )


def show_replay(replay: Replay) -> dict[str, Any]:
    """Return the resource object of a replay."""
    filters = replays.read(replay.filters)
    return jsonapi.shown(
        "webhook-replays",
        ReplayAttributes,
        replay,
        since=filters.since,
        until=filters.until,
        states=list(filters.states),
    )
