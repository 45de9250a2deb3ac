"""Deliveries arrive at least once, whatever dies, and no receiver waits for another."""

import logging
import signal
import subprocess
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest
import sqlalchemy as sa

from app.adapters.webhook_sender import HttpSender
from app.core.communities import communities
from app.core.ids import new_id
from app.core.models import Attempt, Delivery, Webhook
from app.core.outbound import AllowList
from app.core.permissions import SYSTEM
from app.core.vocabulary import DeliveryState
from app.core.webhooks import events, queue
from app.core.webhooks import registrations as webhooks
from app.core.webhooks.sending import Outcome, Sender
from app.jobs.dispatcher import Dispatcher
from app.wiring import Wiring
from tests.faults.dispatcher_receiver import SECRET, HangingReceiver, Receiver
from tests.faults.waiting import eventually
from tests.warm import Process

ALLOW = AllowList.parse("127.0.0.1")
IN_FLIGHT = 8


class Desk:
    """One community and its webhooks."""

    def __init__(self, wiring: Wiring) -> None:
        self.database, self.sealer, self.wake = wiring.database, wiring.sealer, wiring.wake
        with self.database.writing() as session:
            self._community = communities.open_community(session, SYSTEM, "discourse", "forum-1")

    def register(self, url: str) -> uuid.UUID:
        with self.database.writing() as session:
            webhook, _ = webhooks.register(session, SYSTEM, self.sealer, ALLOW, self._community, url, SECRET)
            return webhook.id

    def crowd(self, name: str, urls: list[str]) -> None:
        """A community of this name with a webhook for each URL, each with one event that is due."""
        with self.database.writing() as session:
            community = communities.open_community(session, SYSTEM, "discourse", name)
            for url in urls:
                identity = new_id()
                webhook = Webhook(
                    id=identity,
                    community_id=community.id,
                    url=url,
                    secret=self.sealer.seal(SECRET, str(identity)),
                )
                session.add(webhook)
                session.flush()
                events.emit_test(session, webhook)

    def tell(self, webhook_id: uuid.UUID, count: int = 1) -> list[str]:
        """So many events for this webhook, in one transaction: their ids."""
        with self.database.writing() as session:
            webhook = session.get_one(Webhook, webhook_id)
            return [str(events.emit_test(session, webhook).id) for _ in range(count)]

    def states(self, webhook_id: uuid.UUID) -> Counter[DeliveryState]:
        with self.database.reading() as session:
            return Counter(
                session.scalars(sa.select(Delivery.state).where(Delivery.webhook_id == webhook_id))
            )

    def attempts(self, *webhook_ids: uuid.UUID) -> int:
        with self.database.reading() as session:
            return (
                session.scalar(
                    sa.select(sa.func.count(Attempt.id))
                    .join(Delivery, Delivery.id == Attempt.delivery_id)
                    .where(Delivery.webhook_id.in_(webhook_ids))
                )
                or 0
            )


@pytest.fixture
def desk(wiring: Wiring) -> Desk:
    return Desk(wiring)


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def dispatch(desk: Desk, stack: ExitStack) -> Callable[..., Dispatcher]:
    """Starts a dispatcher in this process, which ends with the test."""

    def start(sender: Sender | None = None, **options: object) -> Dispatcher:
        options.setdefault("retry_delays", (0.0, 0.0))
        dispatcher = Dispatcher(
            desk.database,
            sender or HttpSender(ALLOW),
            desk.sealer,
            wake=desk.wake,
            owner="test",
            **options,  # type: ignore[arg-type]
        )
        dispatcher.start()
        stack.callback(dispatcher.stop, 10)
        return dispatcher

    return start


class GatedSender:
    """Stands in for the network: keeps each attempt until ``gate`` opens, then answers ``outcome``."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome = outcome
        self.gate = threading.Event()
        self.in_flight = self.most_in_flight = self.sent = 0
        self._lock = threading.Lock()

    def send(self, url: str, body: bytes, headers: Mapping[str, str], deadline: float) -> Outcome:
        with self._lock:
            self.sent += 1
            self.in_flight += 1
            self.most_in_flight = max(self.most_in_flight, self.in_flight)
        self.gate.wait(120)
        time.sleep(0.01)
        with self._lock:
            self.in_flight -= 1
        return self.outcome


def test_a_process_killed_again_and_again_in_a_storm_loses_nothing(
    desk: Desk, wiring: Wiring, database_url: str, stack: ExitStack
) -> None:
    receiver = stack.enter_context(closing(Receiver(seconds=0.02)))
    webhook_id = desk.register(receiver.url)
    key = wiring.settings.encryption_key.get_secret_value()
    command = ("tests.faults.dispatcher_app", database_url, key, IN_FLIGHT, 2)

    def start() -> Process:
        process = Process(*command, stdout=subprocess.PIPE)
        stack.callback(process.communicate)
        stack.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        return process

    told: list[str] = []
    kills = 5
    for _ in range(kills):
        told += desk.tell(webhook_id, 32)
        before = len(receiver.event_ids)
        process = start()
        eventually(lambda wanted=before + 12: len(receiver.event_ids) >= wanted, "a part arrived")
        process.send_signal(signal.SIGKILL)
        process.wait()
    start()
    eventually(
        lambda: desk.states(webhook_id) == {DeliveryState.DELIVERED: len(told)},
        "every delivery is on record as delivered",
    )
    arrived = receiver.event_ids
    assert set(arrived) == set(told)
    assert len(arrived) - len(told) <= kills * IN_FLIGHT
    for arrival in receiver.arrivals:
        assert arrival.payload is not None, "a signature does not verify"
        assert arrival.payload["event_id"] == arrival.event_id


def test_receivers_that_hang_hold_no_healthy_one_up(
    desk: Desk, dispatch: Callable[..., Dispatcher], stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient = {name: replace(kind, deadline=240.0) for name, kind in queue.EVENTS.items()}
    monkeypatch.setattr(queue, "EVENTS", patient)  # the hanging ones are not let go before the end
    dispatch()
    healthy = stack.enter_context(closing(Receiver()))
    hanging = stack.enter_context(closing(HangingReceiver()))
    # Sixteen slots each: together they take every ordinary slot there is.
    stuck = [desk.register(f"{hanging.url}/{number}") for number in range(4)]
    for webhook_id in stuck:
        desk.tell(webhook_id, 20)
    eventually(lambda: hanging.connections == 64, "the hanging receivers hold every slot")
    webhook_id = desk.register(healthy.url)
    told = desk.tell(webhook_id, 60)
    eventually(lambda: desk.states(webhook_id)[DeliveryState.DELIVERED] == 60, "all arrived", 120)
    assert desk.attempts(*stuck) == 0, "the hanging ones were let go first"
    assert sorted(healthy.event_ids) == sorted(told)


class HangingSender:
    """Stands in for the network: keeps attempts at hosts named ``hanging…`` until the end, others arrive at once."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.held = 0
        self._lock = threading.Lock()

    def send(self, url: str, body: bytes, headers: Mapping[str, str], deadline: float) -> Outcome:
        if "//hanging" in url:
            with self._lock:
                self.held += 1
            self.gate.wait(240)
        return Outcome(200, 5)


def test_a_thousand_hanging_webhooks_of_one_community_hold_no_other_community_up(
    desk: Desk, dispatch: Callable[..., Dispatcher], stack: ExitStack
) -> None:
    desk.crowd("forum-2", [f"https://hanging-{number}.example.org/" for number in range(1_000)])
    sender = HangingSender()
    dispatch(sender)
    stack.callback(sender.gate.set)
    eventually(lambda: sender.held == 128, "the community has its half of the slots", 60)
    webhook_id = desk.register("http://127.0.0.1:9/hooks")
    desk.tell(webhook_id)
    eventually(lambda: desk.states(webhook_id)[DeliveryState.DELIVERED] == 1, "the other's arrived")
    assert sender.held == 128, "the hanging ones were let go first, or have more than their half"


def test_a_host_that_hangs_for_every_community_holds_no_other_host_up(
    desk: Desk, dispatch: Callable[..., Dispatcher], stack: ExitStack
) -> None:
    for number in range(20):
        urls = [f"https://hanging.example.org/{number}/{path}" for path in range(20)]
        desk.crowd(f"guild-{number}", urls)
    sender = HangingSender()
    dispatch(sender)
    stack.callback(sender.gate.set)
    eventually(lambda: sender.held == 128, "the host has its half of the slots", 60)
    webhook_id = desk.register("http://127.0.0.1:9/hooks")
    desk.tell(webhook_id)
    eventually(lambda: desk.states(webhook_id)[DeliveryState.DELIVERED] == 1, "the other's arrived")
    assert sender.held == 128


def test_an_webhook_that_timed_out_gets_one_slot_until_it_answers(
    desk: Desk, dispatch: Callable[..., Dispatcher]
) -> None:
    sender = GatedSender(Outcome(None, 5000, "", "timeout after 5 s"))
    dispatch(sender, per_webhook=4, retry_delays=())
    webhook_id = desk.register("http://127.0.0.1:9/hooks")
    desk.tell(webhook_id, 16)
    eventually(lambda: sender.in_flight == 4, "four slots are taken")
    sender.gate.set()
    eventually(lambda: desk.attempts(webhook_id) >= 4, "the first four timed out")
    sender.most_in_flight = sender.in_flight
    eventually(lambda: desk.attempts(webhook_id) >= 10, "six more were tried")
    assert sender.most_in_flight == 1
    sender.outcome = Outcome(200, 5)
    eventually(lambda: desk.states(webhook_id)[DeliveryState.DUE] == 0, "the rest was tried")
    sender.gate.clear()
    desk.tell(webhook_id, 8)
    eventually(lambda: sender.in_flight == 4, "the four slots are back")
    sender.gate.set()


def test_every_attempt_is_stamped_and_signed_anew(
    desk: Desk, dispatch: Callable[..., Dispatcher], stack: ExitStack
) -> None:
    receiver = stack.enter_context(closing(Receiver(statuses=(500, 429))))
    dispatch(retry_delays=(1.0, 1.0))
    webhook_id = desk.register(receiver.url)
    (told,) = desk.tell(webhook_id)
    eventually(lambda: desk.states(webhook_id)[DeliveryState.DELIVERED], "it arrived")
    assert receiver.event_ids == [told] * 3
    stamps = [a.payload["_webhook_timestamp"] for a in receiver.arrivals if a.payload is not None]
    assert len(set(stamps)) == len(stamps) == 3
    assert desk.attempts(webhook_id) == 3


def test_deliveries_go_on_after_the_database_failed(
    desk: Desk, dispatch: Callable[..., Dispatcher], stack: ExitStack, caplog: pytest.LogCaptureFixture
) -> None:
    receiver = stack.enter_context(closing(Receiver()))
    webhook_id = desk.register(receiver.url)
    sender = GatedSender(Outcome(200, 5))
    dispatch(sender)
    desk.tell(webhook_id, 5)
    eventually(lambda: sender.in_flight == 5, "five are on their way")

    def rename(source: str, target: str) -> None:
        with desk.database.writing() as session:
            session.execute(sa.text(f"ALTER TABLE {source} RENAME TO {target}"))

    with caplog.at_level(logging.WARNING, "app.jobs.dispatcher"):
        rename("deliveries", "deliveries_gone")
        sender.gate.set()
        eventually(lambda: "held up" in caplog.text, "the failure was logged")
        rename("deliveries_gone", "deliveries")
        eventually(lambda: "go on" in caplog.text, "it went on")
    desk.tell(webhook_id)
    eventually(lambda: desk.states(webhook_id)[DeliveryState.DELIVERED] == 6, "all are on record")
    assert sender.sent == 6


def test_a_delivery_that_cannot_be_signed_fails_visibly_and_holds_up_no_other(
    desk: Desk, dispatch: Callable[..., Dispatcher]
) -> None:
    sender = GatedSender(Outcome(200, 5))
    sender.gate.set()
    sealed, whole = (desk.register(f"http://127.0.0.1:9/{name}") for name in ("sealed", "whole"))
    desk.tell(sealed)
    with desk.database.writing() as session:
        session.get_one(Webhook, sealed).secret = b"\x01" + bytes(60)
    dispatch(sender)
    desk.tell(whole)
    eventually(lambda: desk.states(whole) == {DeliveryState.DELIVERED: 1}, "the other arrived")
    eventually(lambda: desk.states(sealed) == {DeliveryState.DEAD: 1}, "it is listed as dead")
    with desk.database.reading() as session:
        errors = set(session.scalars(sa.select(Attempt.error).where(Attempt.error.is_not(None))))
    assert errors == {"the secret cannot be opened: it was sealed with another key"}


def test_a_stop_lets_what_is_being_sent_end_and_claims_no_more(
    desk: Desk, dispatch: Callable[..., Dispatcher]
) -> None:
    sender = GatedSender(Outcome(200, 5))
    dispatcher = dispatch(sender, per_webhook=2)
    webhook_id = desk.register("http://127.0.0.1:9/hooks")
    desk.tell(webhook_id, 5)
    eventually(lambda: sender.in_flight == 2, "two are on their way")
    left: list[int] = []
    stopping = threading.Thread(target=lambda: left.append(dispatcher.stop(10)))
    stopping.start()
    sender.gate.set()
    stopping.join()
    assert left == [0]
    states = desk.states(webhook_id)
    assert states[DeliveryState.DELIVERED] == sender.sent
    assert states[DeliveryState.DUE] == 5 - sender.sent
