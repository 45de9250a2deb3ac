"""What webhooks of communities on Discourse carry, read as the Discourse plugin reads it (docs/integrate/api.md)."""

import hashlib
import hmac
import json
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.actions import actions
from app.core.communities import communities
from app.core.history.reason import Reason
from app.core.models import Action, Delivery
from app.core.permissions import SYSTEM
from app.core.vocabulary import ActionState, DeliveryState, EventName
from app.core.webhooks import payloads, signing
from app.jobs.dispatcher import Dispatcher
from app.wiring import Wiring
from tests import factories
from tests.api.conftest import Api
from tests.api.test_notes import made
from tests.api.test_ratings import rate
from tests.cast import Cast
from tests.conftest import RecordingSender

SECRET = "the plugin's own API key"
URL = "https://forum.example.org/opennotes/webhook"
KNOWN = {
    "moderation_action.proposed",
    "moderation_action.applied",
    "moderation_action.confirmed",
    "moderation_action.overturned",
    "moderation_action.dismissed",
    "note.status_changed",
}
"""What the plugin acts on; it writes a line to its log for everything else."""


@dataclass
class Plugin:
    """Reads flat bodies: ``event`` before ``event_type``, the action before what is recommended."""

    did: list[tuple[Any, ...]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    def take(self, body: bytes, headers: dict[str, str]) -> None:
        digest = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
        assert headers["X-Webhook-Signature"] == f"sha256={digest}"
        told = json.loads(body)
        name = told.get("event") or told.get("event_type")
        if name not in KNOWN:
            self.unknown.append(name)
            return
        assert uuid.UUID(told["request_id"]), "the plugin finds its post by our UUID"
        if name == "moderation_action.proposed":
            what = told["action_type"] or told["recommended_action"]
            self.did.append((name, what, told["action_id"], told["review_group"]))
            assert set(told["classifier_evidence"]) == {"score", "category"}
        elif name == "note.status_changed":
            if told["status"] == "CURRENTLY_RATED_HELPFUL" and told["recommended_action"] == "hide_post":
                self.did.append((name, "hide_post", told["action_id"]))
            elif told["status"] == "CURRENTLY_RATED_NOT_HELPFUL":
                self.did.append((name, "resolved", told["action_id"]))
        else:
            self.did.append((name, told["action_id"]))


@pytest.fixture
def register(api: Api, cast: Cast) -> Callable[..., str]:
    """Register a webhook of the forum: ``register()`` for all events."""

    def put(events: list[str] | None = None, url: str = URL) -> str:
        body = {"url": url, "secret": SECRET, "platform_community_server_id": "forum-1", "events": events}
        answer = api.post("/webhooks/register", json=body)
        assert answer.status_code == 201, answer.text
        return url

    return put


@pytest.fixture
def deliver(wiring: Wiring, sender: RecordingSender) -> Iterator[Callable[[], None]]:
    """Send what is due, by the real dispatcher."""
    dispatcher = Dispatcher(wiring.database, sender, wiring.sealer, (10, 30), wiring.wake, "test")
    dispatcher.start()

    def is_due() -> bool:
        with wiring.database.reading() as session:
            due = sa.select(sa.func.count()).where(Delivery.state == DeliveryState.DUE)
            return bool(session.scalar(due))

    def wait() -> None:
        deadline = time.monotonic() + 240
        while is_due():
            assert time.monotonic() < deadline, "deliveries are still due"
            time.sleep(0.02)

    yield wait
    dispatcher.stop(10)


def heard(sender: RecordingSender, url: str = URL) -> list[tuple[dict[str, Any], dict[str, str]]]:
    """What arrived at a URL: bodies with their headers."""
    return [(json.loads(body), headers) for to, body, headers in sender.sent if to == url]


def plugin_of(sender: RecordingSender) -> Plugin:
    plugin = Plugin()
    for to, body, headers in sender.sent:
        if to == URL:
            plugin.take(body, headers)
    return plugin


def test_the_plugin_hides_restores_and_resolves_with_a_plain_registration(
    api: Api,
    wiring: Wiring,
    cast: Cast,
    register: Callable[..., str],
    deliver: Callable[[], None],
    sender: RecordingSender,
) -> None:
    register()
    spam = factories.scored_action(wiring, cast, factories.SPAM, "spam")
    api.patch(f"/moderation-actions/{spam}", json={"action_state": "applied"})
    overturned = {"action_state": "overturned", "reason": "A mistake"}
    assert api.patch(f"/moderation-actions/{spam}", json=overturned).status_code == 200
    agreed = factories.scored_action(wiring, cast, request_id="agreed")
    factories.rate(wiring, cast, agreed, "HHHHH")
    refused = factories.scored_action(wiring, cast, request_id="refused")
    factories.rate(wiring, cast, refused, "NNNNN")
    deliver()
    with wiring.database.reading() as session:
        restoring = session.scalars(sa.select(Action.id).where(Action.restores_id == spam)).one()
    plugin = plugin_of(sender)
    assert sorted(plugin.did, key=str) == sorted(
        [
            ("moderation_action.proposed", "hide_post", str(spam), "community"),
            ("moderation_action.applied", str(spam)),
            ("moderation_action.overturned", str(spam)),
            ("moderation_action.proposed", "unhide_post", str(restoring), "community"),
            ("note.status_changed", "hide_post", str(agreed)),
            ("moderation_action.proposed", "hide_post", str(agreed), "community"),
            ("note.status_changed", "resolved", str(refused)),
            ("moderation_action.dismissed", str(refused)),
            *[
                one
                for one in plugin.did
                if one[:2] == ("note.status_changed", "resolved") and one[2] == str(spam)
            ],
        ],
        key=str,
    )
    assert set(plugin.unknown) <= {"moderation.decision"}
    ended = {"moderation_action.overturned", "moderation_action.dismissed"}
    recommended = {
        (body["event"], body["action_type"], body["recommended_action"])
        for body, _ in heard(sender)
        if body.get("event") in ended
    }
    assert recommended == {(name, "hide_post", None) for name in ended}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_delivery_has_one_name_in_its_body_and_its_header(
    api: Api,
    wiring: Wiring,
    cast: Cast,
    register: Callable[..., str],
    deliver: Callable[[], None],
    sender: RecordingSender,
) -> None:
    created, proposed = EventName.ACTION_CREATED.value, payloads.PROPOSED
    asked: dict[str, tuple[list[str] | None, str]] = {
        "https://forum.example.org/all": (None, proposed),
        "https://forum.example.org/plugin": ([proposed, "note.status_changed"], proposed),
        "https://forum.example.org/both": ([created, proposed], proposed),
        "https://forum.example.org/spec": ([created, "moderation.decision"], created),
    }
    for url, (events, _) in asked.items():
        register(events, url)
    factories.scored_action(wiring, cast, factories.SPAM)
    factories.rate(wiring, cast, factories.scored_action(wiring, cast, request_id="agreed"), "HHHHH")
    deliver()
    ids = set()
    for url, (_, name) in asked.items():
        arrived = heard(sender, url)
        assert arrived
        for told, headers in arrived:
            names = {told[member] for member in ("event", "event_type") if member in told}
            assert names == {headers["X-Webhook-Event"]}, url
            body = next(one for to, one, sent in sender.sent if to == url and sent is headers)
            assert signing.verify_body(body, SECRET, told["_webhook_timestamp"])
            assert signing.canonical(told) == body
        mine = [told for told, _ in arrived if "action_state" in told.get("data", {})]
        assert {told["event"] for told in mine} == {name}, url
        assert all(told["data"]["action_state"] == "proposed" for told in mine)
        ids.add(frozenset(told["event_id"] for told in mine))
    assert len(ids) == 1, "the same events under either name"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_elsewhere_than_on_discourse_the_shape_is_the_specified_one(
    wiring: Wiring,
    cast: Cast,
    register: Callable[..., str],
    deliver: Callable[[], None],
    sender: RecordingSender,
) -> None:
    register()
    with wiring.database.writing() as session:
        communities.get(session, SYSTEM, cast.community_id).platform = "forum"
    factories.scored_action(wiring, cast, factories.SPAM)
    factories.rate(wiring, cast, factories.scored_action(wiring, cast, request_id="agreed"), "HHHHH")
    deliver()
    shape_a = [told for told, _ in heard(sender) if "event" in told]
    assert {told["event"] for told in shape_a} == {"moderation_action.created", "note.status_changed"}
    envelope = {
        "event",
        "event_id",
        "community_server_id",
        "data",
        "_webhook_timestamp",
        "_webhook_signature",
    }
    assert {frozenset(told) for told in shape_a} == {frozenset(envelope)}


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_note_recommends_only_what_its_own_action_still_wants(
    api: Api,
    wiring: Wiring,
    cast: Cast,
    register: Callable[..., str],
    deliver: Callable[[], None],
    sender: RecordingSender,
) -> None:
    register(["note.status_changed"])
    lapsed = factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        action = session.get_one(Action, lapsed)
        actions.lapse(session, action, reason=Reason(cause="nobody answered"))
        assert action.action_state is ActionState.DISMISSED
    factories.rate(wiring, cast, lapsed, "HHHHH")
    note = made(api, author_id="author", request_id="post-1")
    for number in range(5):
        assert rate(api, note, rater_id=f"rater-{number}").status_code == 201
    deliver()
    told = {one["note_id"]: one for one, _ in heard(sender)}
    with wiring.database.reading() as session:
        rationale = str(session.get_one(Action, lapsed).note_id)
    assert {one["status"] for one in told.values()} == {"CURRENTLY_RATED_HELPFUL"}
    assert (told[rationale]["action_id"], told[rationale]["action_type"]) == (str(lapsed), "hide_post")
    assert told[rationale]["recommended_action"] is None, "its review ended without action"
    members = ("action_id", "action_type", "recommended_action", "review_group", "classifier_evidence")
    assert {told[note][member] for member in members} == {None}, "a member's note asks for no action"
    assert plugin_of(sender).did == []


def test_deliveries_from_before_get_one_name_too() -> None:
    stored = {"event": "moderation_action.created", "event_type": "moderation_action.proposed", "data": {}}
    for names, expected in (
        (None, payloads.PROPOSED),
        ([payloads.PROPOSED], payloads.PROPOSED),
        (["moderation_action.created"], "moderation_action.created"),
    ):
        sent = payloads.as_subscribed(stored, names)
        assert (sent["event"], sent["event_type"], payloads.name_of(sent)) == (expected,) * 3
