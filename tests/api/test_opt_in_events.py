"""``request.completed`` and ``review.opened``: sent over HTTP to webhooks that name them, and to no others."""

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from app.adapters.webhook_sender import HttpSender
from app.core import clock
from app.core.models import Action, Delivery, Event, Webhook
from app.core.outbound import AllowList
from app.core.permissions import SYSTEM
from app.core.upkeep import community_revisions
from app.core.vocabulary import DeliveryState, EventName
from app.jobs.dispatcher import Dispatcher
from app.jobs.scoring import Scorer
from app.wiring import Wiring
from tests import factories
from tests.api.conftest import INSULT, Api
from tests.cast import Cast
from tests.faults.dispatcher_receiver import SECRET, Receiver
from tests.inline_engine import InlineEngine

pytestmark = pytest.mark.both_databases

NAMES = ["request.completed", "review.opened"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver on a socket, for the webhook that names the events."""
    with closing(Receiver()) as receiver:
        yield receiver


@pytest.fixture
def everything() -> Iterator[Receiver]:
    """A receiver on a socket, for a webhook that subscribes to everything."""
    with closing(Receiver()) as receiver:
        yield receiver


@pytest.fixture
def subscribe(api: Api, wiring: Wiring) -> Callable[..., str]:
    """Register a receiver for these events; None: all."""
    wiring.allow = AllowList.parse("127.0.0.1")

    def put(receiver: Receiver, events: list[str] | None) -> str:
        body = {
            "url": receiver.url,
            "secret": SECRET,
            "platform_community_server_id": "forum-1",
            "events": events,
        }
        answer = api.post("/webhooks/register", json=body)
        assert answer.status_code == 201, answer.text
        return str(answer.json["id"])

    return put


@pytest.fixture
def deliver(wiring: Wiring) -> Iterator[Callable[[], None]]:
    """Send what is due, with the real dispatcher and the real sender."""
    sender = HttpSender(AllowList.parse("127.0.0.1"))
    dispatcher = Dispatcher(wiring.database, sender, wiring.sealer, (0.0, 0.0), wiring.wake, "test")
    dispatcher.start()

    def is_due() -> bool:
        with wiring.database.reading() as session:
            return (
                session.scalar(sa.select(Delivery.id).where(Delivery.state == DeliveryState.DUE)) is not None
            )

    def wait() -> None:
        deadline = time.monotonic() + 60
        while is_due():
            assert time.monotonic() < deadline, "deliveries are still due"
            time.sleep(0.02)

    yield wait
    dispatcher.stop(10)


def arrived(receiver: Receiver) -> list[dict[str, Any]]:
    """The bodies that arrived, each with a signature that holds."""
    assert all(arrival.payload is not None for arrival in receiver.arrivals)
    return [json.loads(arrival.body) for arrival in receiver.arrivals]


def test_a_request_that_ends_without_action_and_a_review_that_opens_are_sent_by_name_alone(
    api: Api,
    wiring: Wiring,
    jobs: InlineEngine,
    subscribe: Callable[..., str],
    deliver: Callable[[], None],
    receiver: Receiver,
    everything: Receiver,
    decide: Callable[..., None],
) -> None:
    subscribe(receiver, NAMES)
    subscribe(everything, None)
    quiet = api.submit("quiet").json["data"]["id"]
    reviewed = api.submit("reviewed", INSULT).json["data"]["id"]
    jobs.run_all()
    decide("spam")
    (row,) = api.get("/moderation-actions?filter[action_state]=under_review").json["data"]
    assert (
        api.patch(f"/moderation-actions/{row['id']}", json={"action_state": "dismissed"}).status_code == 200
    )
    deliver()
    bodies = {(body["event"], body["data"]["request_id"]): body for body in arrived(receiver)}
    assert set(bodies) == {
        ("request.completed", quiet),
        ("review.opened", reviewed),
        ("request.completed", reviewed),
    }
    found = bodies["request.completed", quiet]
    completed_at = api.get("/requests/quiet").json["data"]["attributes"]["completed_at"]
    home = found["community_server_id"]
    assert found["data"] == {
        "request_id": quiet,
        "community_server_id": home,
        "decision": None,
        "completed_at": completed_at,
    }
    assert bodies["request.completed", reviewed]["data"]["decision"] == "none"
    opened = bodies["review.opened", reviewed]["data"]
    created_at = row["attributes"]["created_at"]
    assert opened == {
        "request_id": reviewed,
        "action_id": row["id"],
        "note_id": row["attributes"]["note_id"],
        "community_server_id": home,
        "review_group": "community",
        "question": "Should this post be hidden?",
        "closes_at": clock.iso(
            datetime.fromisoformat(created_at) + timedelta(days=wiring.settings.review_days)
        ),
    }
    assert opened["question"] == row["attributes"]["question"]
    names = Counter(body.get("event", body.get("event_type")) for body in arrived(everything))
    assert not names.keys() & set(NAMES)
    assert names["moderation.decision"] == 2


def test_a_review_that_opens_again_is_sent_again_with_its_new_end(
    api: Api,
    jobs: InlineEngine,
    subscribe: Callable[..., str],
    deliver: Callable[[], None],
    receiver: Receiver,
    decide: Callable[..., None],
    wiring: Wiring,
) -> None:
    subscribe(receiver, ["review.opened"])
    decide("spam")
    (row,) = api.get("/moderation-actions").json["data"]
    back = api.patch(f"/moderation-actions/{row['id']}", json={"action_state": "under_review"})
    assert back.status_code == 200
    api.submit("quiet")
    jobs.run_all()
    assert api.patch("/requests/quiet", json={"escalated": True}).status_code == 200
    deliver()
    again, staff = arrived(receiver)
    with wiring.database.reading() as session:
        opened_at = session.get_one(Action, uuid.UUID(row["id"])).review_opened_at
    assert opened_at is not None
    assert again["data"]["closes_at"] == clock.iso(opened_at + timedelta(days=wiring.settings.review_days))
    assert staff["data"]["review_group"] == "staff"


def test_nothing_is_stored_where_no_webhook_names_the_events(
    api: Api, wiring: Wiring, jobs: InlineEngine, subscribe: Callable[..., str], everything: Receiver
) -> None:
    webhook_id = subscribe(everything, None)

    def stored() -> set[str]:
        with wiring.database.reading() as session:
            return set(session.scalars(sa.select(Event.name))) & set(NAMES)

    for events, active in ((None, True), (["moderation.decision"], True), (NAMES, False)):
        with wiring.database.writing() as session:
            webhook = session.get_one(Webhook, uuid.UUID(webhook_id))
            webhook.events, webhook.is_active = events, active
        api.submit(f"quiet-{events}-{active}")
        api.submit(f"queued-{events}-{active}", INSULT)
        jobs.run_all()
        assert stored() == set(), events
    with wiring.database.writing() as session:
        session.get_one(Webhook, uuid.UUID(webhook_id)).is_active = True
    api.submit("quiet")
    jobs.run_all()
    assert stored() == {EventName.REQUEST_COMPLETED}


def test_every_way_in_which_a_request_ends_without_action_is_sent(
    api: Api,
    wiring: Wiring,
    cast: Cast,
    jobs: InlineEngine,
    subscribe: Callable[..., str],
    receiver: Receiver,
) -> None:
    """Nothing found, exempt from scanning, and an archived community; a dismissed review is in the test above."""
    subscribe(receiver, ["request.completed"])
    hidden = factories.scored_action(wiring, cast, factories.SPAM, "restored")
    for state in ("applied", "overturned"):
        move = {"action_state": state, "reason": "It was a quotation"}
        assert api.patch(f"/moderation-actions/{hidden}", json=move).status_code == 200
    unhide = api.get("/moderation-actions?filter[action_state]=proposed").json["data"][0]["id"]
    assert api.patch(f"/moderation-actions/{unhide}", json={"action_state": "applied"}).status_code == 200
    ended = {"exempt": factories.submit(wiring, cast, factories.SPAM, "exempt")}
    jobs.run_all()
    ended["quiet"] = factories.submit(wiring, cast, "The harbour is quiet", "quiet")
    jobs.run_all()
    late = factories.submit(wiring, cast, "The harbour is quiet", "late")
    with wiring.database.writing() as session:
        community_revisions.archive(session, SYSTEM, cast.community_id, "Closed")
    Scorer(wiring).score(late)
    ended["late"] = late
    with wiring.database.reading() as session:
        told = list(
            session.scalars(
                sa.select(Event.request_id)
                .where(Event.name == EventName.REQUEST_COMPLETED)
                .order_by(Event.id)
            )
        )
    assert told == list(ended.values())
