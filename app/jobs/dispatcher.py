"""Sends the deliveries that are due. One thread claims and records them, others send (docs/develop/architecture.md).

Deliveries are no engine jobs: a hanging receiver would hold the engine's slots against every healthy one.
Here a delivery holds a slot from its claim until its attempt is on record; so a killed process repeats at most
as many deliveries as there were slots in use. Demanded by tests/faults/test_dispatcher.py:
``test_receivers_that_hang_hold_no_healthy_one_up``.
"""

import logging
import threading
import time
import uuid
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from app.core import clock, tracing
from app.core.db import Database
from app.core.ids import new_id
from app.core.sealing import Sealer
from app.core.webhooks import payloads, signing
from app.core.webhooks import queue as delivery_queue
from app.core.webhooks.queue import LEASE_SECONDS, Claimed, SendResult
from app.core.webhooks.sending import Outcome, Sender, Slots

log = logging.getLogger(__name__)

STUCK_SECONDS = 1.0
"""Seconds after which an attempt no longer counts among ``max_in_flight``: it only waits for its answer."""

BATCH = 64
"""The most attempts that one transaction records."""

LONGEST_PAUSE = 5.0
"""Seconds between tries while the database fails."""


@dataclass(slots=True)
class _Sending:
    claimed: Claimed
    began: float


class Dispatcher:
    """Sends the deliveries that this process claims.

    ``owner``: the process's name in leases; a part that is new with each start is added, so that a restarted
    process never takes its predecessor's leases for its own. ``retry_delays``: seconds after each failure.
    ``traces``: whether attempts are recorded in the traces of their requests.
    ``wake`` is set at a commit that left deliveries to send; ``poll_seconds`` finds the others.

    ``max_in_flight`` bounds the attempts at work, ``max_stuck`` those beyond them that have waited for a
    second or more: receivers that all begin to hang at once cost the healthy ones that second and no more.
    ``Slots`` shares all of them fairly; a webhook has ``per_webhook``, and 1 from a timeout until an attempt ends
    otherwise.
    """

    def __init__(
        self,
        database: Database,
        sender: Sender,
        sealer: Sealer,
        retry_delays: Sequence[float],
        wake: threading.Event,
        owner: str,
        *,
        max_in_flight: int = 64,
        max_stuck: int = 192,
        per_webhook: int = 16,
        poll_seconds: float = 0.5,
        lease_seconds: float = LEASE_SECONDS,
        traces: bool = False,
    ) -> None:
        self.owner = f"{owner[:60]}:{new_id().hex[-12:]}"
        self._database = database
        self._sender = sender
        self._sealer = sealer
        self._retry_delays = tuple(retry_delays)
        self._wake = wake
        self._max_in_flight = max_in_flight
        self._max_stuck = max_stuck
        self._per_webhook = per_webhook
        self._poll_seconds = poll_seconds
        self._traces = traces
        self._traced: dict[uuid.UUID, str] = {}
        self._lease_seconds = lease_seconds
        # The claiming thread alone touches these; sending threads only append to ``_finished``.
        self._sending: dict[uuid.UUID, _Sending] = {}
        self._unrecorded: list[SendResult] = []
        self._batch = BATCH
        self._hanging: set[uuid.UUID] = set()
        self._finished: deque[tuple[Claimed, SendResult]] = deque()
        self._draining = threading.Event()
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the threads. Call it in the process that sends, because a fork does not copy threads."""
        self._thread = threading.Thread(target=self._loop, name="dispatcher", daemon=True)
        self._thread.start()

    def stop(self, drain_seconds: float = 10.0) -> int:
        """Stop claiming and wait up to ``drain_seconds`` for the running attempts. Return how many did not end.

        Those stay leased; when the leases expire, another process sends them again.
        """
        self._draining.set()
        self._wake.set()
        if self._thread is not None:
            self._thread.join(drain_seconds)
            self._ended.set()
            self._wake.set()
            self._thread.join(1.0)
        return len(self._sending)

    def _loop(self) -> None:
        pause = 0.0
        while not self._ended.is_set() and not (self._draining.is_set() and not self._sending):
            self._wake.wait(self._poll_seconds)
            self._wake.clear()
            try:
                self._record()
                if not self._draining.is_set():
                    self._claim()
                if pause:
                    log.warning("Deliveries go on.")
                pause = 0.0
            except Exception as error:
                if not pause:
                    log.warning("Deliveries are held up, trying again: %s: %s", type(error).__name__, error)
                pause = min(max(self._poll_seconds, pause * 2), LONGEST_PAUSE)
                self._ended.wait(pause)

    def _record(self) -> None:
        """Record the attempts that have ended, many in one transaction, and free their slots."""
        while self._finished:
            claimed, tried = self._finished.popleft()
            self._unrecorded.append(tried)
            if tried.outcome.timed_out:
                self._hanging.add(claimed.webhook_id)
            else:
                self._hanging.discard(claimed.webhook_id)
        while self._unrecorded:
            batch = self._unrecorded[: self._batch]
            # What cannot be recorded keeps its slots and is tried again, as it must not be forgotten; alone
            # and last, so that one which can never be recorded holds up no others.
            self._unrecorded = self._unrecorded[self._batch :] + batch
            self._batch = 1
            with self._database.writing() as session:
                delivery_queue.record_attempts(session, self.owner, batch, self._retry_delays)
            self._batch = BATCH
            del self._unrecorded[-len(batch) :]
            for tried in batch:
                del self._sending[tried.delivery_id]

    def _claim(self) -> None:
        limit = self._room()
        if limit < 1:
            return
        now = clock.now()
        slots = Slots(self._max_in_flight + self._max_stuck, self._per_webhook, self._hanging)
        for one in (sending.claimed for sending in self._sending.values()):
            slots.take(one.webhook_id, one.community_id, one.url)
        # Read first: SQLite's write lock, taken twice a second for nothing, would hold up real writers.
        with self._database.reading() as session:
            if not delivery_queue.is_anything_due(session, now):
                return
            if not delivery_queue.webhooks_due(session, now, slots):
                return
        with self._database.writing() as session:
            claimed = delivery_queue.claim_due(
                session,
                self._sealer,
                self.owner,
                now,
                slots,
                limit=limit,
                lease_seconds=self._lease_seconds,
            )
            if self._traces and claimed:
                # By delivery: an event may go to several webhooks.
                of_events = delivery_queue.traces(session, [one.event_id for one in claimed])
                self._traced.update(
                    {one.delivery_id: of_events[one.event_id] for one in claimed if one.event_id in of_events}
                )
        for one in claimed:
            # Ours already, with a lease that ran out while the database was away: its attempt still counts.
            if one.delivery_id not in self._sending:
                # A daemon of its own: the interpreter's end waits for the threads of a pool, and so for receivers.
                threading.Thread(target=self._send, args=(one,), name="delivery", daemon=True).start()
                self._sending[one.delivery_id] = _Sending(one, time.monotonic())

    def _room(self) -> int:
        stuck_before = time.monotonic() - STUCK_SECONDS
        stuck = sum(one.began < stuck_before for one in self._sending.values())
        in_all = len(self._sending)
        return min(self._max_in_flight - (in_all - stuck), self._max_in_flight + self._max_stuck - in_all)

    def _send(self, claimed: Claimed) -> None:
        began = time.monotonic()
        try:
            outcome = self._attempt(claimed)
        except Exception as error:
            # A sender never raises; were one to, the delivery must fail visibly and not keep its slot.
            log.exception("Delivery %s could not be attempted", claimed.delivery_id)
            milliseconds = round((time.monotonic() - began) * 1000)
            outcome = Outcome(None, milliseconds, error=f"could not be sent: {type(error).__name__}")
        self._finished.append((claimed, SendResult(claimed.delivery_id, outcome, clock.now())))
        self._wake.set()

    def _attempt(self, claimed: Claimed) -> Outcome:
        """Sign the delivery with the present time, and send it. No transaction is open."""
        if not claimed.secrets:
            return Outcome(None, 0, error="the secret cannot be opened: it was sealed with another key")
        timestamp = int(clock.now().timestamp())
        body = signing.sign_body(claimed.payload, claimed.secrets[0], timestamp)
        name = payloads.name_of(claimed.payload)
        headers = signing.headers_for(body, str(claimed.event_id), name, claimed.secrets, timestamp)
        with tracing.span(
            "deliver", self._traced.pop(claimed.delivery_id, None), delivery_id=str(claimed.delivery_id)
        ):
            return self._sender.send(claimed.url, body, headers, claimed.deadline)
