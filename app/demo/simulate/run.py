"""One run: submissions at a chosen rate, acknowledgements, ratings from two camps, and the receiver of webhooks."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, SimpleQueue
from typing import Any

import httpx

from app.core.classify.corpus import SAMPLES
from app.core.vocabulary import EventName
from app.core.webhooks import signing
from app.core.webhooks.catalogue import EVENTS


@dataclass
class Tally:
    """Counters and times of a run, filled by several threads; times are ``time.monotonic()`` seconds."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    submitted: dict[str, float] = field(default_factory=dict)
    duplicates: int = 0
    queued: set[str] = field(default_factory=set)
    decided: dict[str, tuple[float, int]] = field(default_factory=dict)
    last_rating: dict[str, float] = field(default_factory=dict)
    events: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    acknowledged: int = 0
    ratings: int = 0
    problems: list[str] = field(default_factory=list)

    def problem(self, text: str) -> None:
        with self.lock:
            self.problems.append(text)


class Receiver(ThreadingHTTPServer):
    """The integration's webhook endpoint: verifies, deduplicates by ``event_id``, answers at once."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, secret: str, tally: Tally) -> None:
        self.secret, self.tally = secret, tally
        self.seen: set[str] = set()
        self.proposals: SimpleQueue[str] = SimpleQueue()
        super().__init__(("127.0.0.1", port), _Hook)

    def take(self, body: bytes) -> int:
        """Handle one delivery and return the status of the response."""
        try:
            event = signing.verify_body(body, self.secret, int(time.time()))
        except signing.BadSignature as error:
            self.tally.problem(f"a delivery with a bad signature: {error}")
            return 401
        with self.tally.lock:
            if event["event_id"] in self.seen:
                self.tally.repeated += 1
                return 200
            self.seen.add(event["event_id"])
            name = event.get("event") or event["event_type"]
            self.tally.events[name] = self.tally.events.get(name, 0) + 1
            if event.get("event_type") == "moderation.decision":
                self._decided(event)
        if event.get("event") in EVENTS[EventName.ACTION_CREATED].names:
            self.proposals.put(event["data"]["id"])
        return 200

    def _decided(self, event: dict[str, Any]) -> None:
        if event["request_id"] in self.tally.decided:
            self.tally.problems.append(f"{event['request_id']} was decided twice")
        self.tally.decided[event["request_id"]] = (time.monotonic(), event["tier"])


class _Hook(BaseHTTPRequestHandler):
    server: Receiver
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            self.close_connection = True  # the service was killed while sending; treat it as not arrived
            return
        self.send_response(self.server.take(body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        """Log nothing: the table at the end shows what arrived."""


API = "/api/public/v1"
POLL_SECONDS = 0.25
CONTESTED = frozenset({"misinformation", "toxicity"})
"""Categories on which the camps disagree in half of the cases."""


class Integration:
    """API client that retries only what an integration may retry."""

    def __init__(self, url: str, key: str, platform: str, tally: Tally) -> None:
        limits = httpx.Limits(max_connections=40)
        self._client = httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30, limits=limits
        )
        self.platform = platform
        self.tally = tally

    def call(self, method: str, path: str, *, user: str | None = None, **options: Any) -> httpx.Response:
        """Make one call; try up to three times if the server is overloaded or unreachable (docs/integrate/api.md)."""
        headers = {"X-Adapter-Platform": self.platform, "X-Adapter-User-Id": user} if user else {}
        for attempt in (1, 2, 3):
            try:
                response = self._client.request(method, path, headers=headers, **options)
            except httpx.TransportError:
                if attempt == 3:
                    raise
            else:
                if response.status_code not in {429, 500, 502, 503, 504} or attempt == 3:
                    return response
                wait = response.headers.get("Retry-After", "")
                if wait.isdigit():
                    time.sleep(min(60, int(wait)))
                    continue
            time.sleep(0.5 * 2 ** (attempt - 1))
        raise AssertionError("unreachable")

    def expect(self, statuses: set[int], response: httpx.Response, what: str) -> bool:
        if response.status_code in statuses:
            return True
        self.tally.problem(f"{what}: {response.status_code} {response.text[:200]}")
        return False


@dataclass(frozen=True)
class Rater:
    """A simulated rater in camp 0 or 1."""

    user_id: str
    camp: int

    def opinion(self, category: str, note_id: str, dice: random.Random) -> str:
        """Return this rater's answer: nearly all raters agree on clear cases; the camps disagree on contested ones."""
        contested = category in CONTESTED and int(note_id[-2:], 16) % 2 == 0
        if dice.random() < 0.04:
            return "SOMEWHAT_HELPFUL"
        if contested:
            return "HELPFUL" if self.camp == 0 else "NOT_HELPFUL"
        return "HELPFUL" if int(note_id[-4:-2], 16) % 5 else "NOT_HELPFUL"


@dataclass
class Run:
    """One simulation. ``rate`` is submissions per second; ``wait`` is the longest wait at the end, in seconds."""

    integration: Integration
    receiver: Receiver
    community_id: str
    count: int
    rate: float
    wait: float
    raters: Sequence[Rater]
    name: str
    dice: random.Random
    tally: Tally
    done: threading.Event = field(default_factory=threading.Event)

    def submit_all(self, advance: Callable[[], None]) -> None:
        kinds = [*SAMPLES, "clean", "clean", "spam_certain"]
        start = time.monotonic()
        for number in range(self.count):
            pause = start + number / self.rate - time.monotonic()
            if pause > 0:
                time.sleep(pause)
            text = f"{self.dice.choice(SAMPLES[self.dice.choice(kinds)])} [{self.name}-{number}]"
            request_id = f"{self.name}-{number}"
            with self.tally.lock:
                self.tally.submitted[request_id] = time.monotonic()
            attributes = {
                "request_id": request_id,
                "requested_by": f"member-{self.dice.randrange(200)}",
                "community_server_id": self.community_id,
                "original_message_content": text,
                "platform_message_id": f"m-{request_id}",
            }
            document = {"data": {"type": "requests", "attributes": attributes}}
            response = self.integration.call("POST", f"{API}/requests", json=document)
            self.integration.expect({200, 201}, response, "submitting")
            if response.status_code == 200:
                self.tally.duplicates += 1
            advance()

    def acknowledge_all(self) -> None:
        while not self.done.is_set() or not self.receiver.proposals.empty():
            try:
                action_id = self.receiver.proposals.get(timeout=0.2)
            except Empty:
                continue
            body = {"action_state": "applied", "platform_action_id": f"p-{action_id}"}
            response = self.integration.call("PATCH", f"{API}/moderation-actions/{action_id}", json=body)
            if self.integration.expect({200}, response, "acknowledging"):
                with self.tally.lock:
                    self.tally.acknowledged += 1

    def rate_all(self) -> None:
        """Let all raters rate everything under review until it is decided or no rater is left."""
        turns: dict[str, int] = {}
        while not self.done.is_set():
            for action in self._under_review():
                if self.done.is_set():
                    return
                self._rate_next(action, turns)
            self.done.wait(POLL_SECONDS)

    def _under_review(self) -> list[dict[str, Any]]:
        query = {
            "filter[community_server_id]": self.community_id,
            "filter[action_state]": "under_review",
            "limit": "200",
        }
        response = self.integration.call("GET", f"{API}/moderation-actions", params=query)
        if not self.integration.expect({200}, response, "listing actions"):
            return []
        actions: list[dict[str, Any]] = response.json()["data"]
        return actions

    def _rate_next(self, action: dict[str, Any], turns: dict[str, int]) -> None:
        attributes = action["attributes"]
        note_id = attributes["note_id"]
        request_id = attributes["request_id"]
        if note_id is None or not request_id.startswith(self.name):
            return
        with self.tally.lock:
            self.tally.queued.add(request_id)
        turn = turns.get(note_id, 0)
        if turn >= len(self.raters):
            return
        turns[note_id] = turn + 1
        rater = self.raters[turn]
        category = (attributes["classifier_evidence"] or {}).get("category", "")
        rating = {"note_id": note_id, "helpfulness_level": rater.opinion(category, note_id, self.dice)}
        with self.tally.lock:
            self.tally.last_rating[request_id] = time.monotonic()
        response = self.integration.call(
            "POST",
            f"{API}/ratings",
            user=rater.user_id,
            json={"data": {"type": "ratings", "attributes": rating}},
        )
        # 403: a moderator decided and locked it in the dashboard meanwhile.
        if self.integration.expect({200, 201, 403}, response, "rating"):
            with self.tally.lock:
                self.tally.ratings += 1

    def statuses(self) -> dict[str, int]:
        """Return the number of this run's requests by status, read from the server page by page."""
        counts: dict[str, int] = {}
        path: str | None = f"{API}/requests"
        query: dict[str, str] | None = {
            "page[size]": "100",
            "filter[community_server_id]": self.community_id,
        }
        while path:
            response = self.integration.call("GET", path, params=query)
            if not self.integration.expect({200}, response, "listing requests"):
                break
            document = response.json()
            for item in document["data"]:
                if item["attributes"]["request_id"].startswith(f"{self.name}-"):
                    status = item["attributes"]["status"]
                    counts[status] = counts.get(status, 0) + 1
            path, query = document["links"]["next"], None
        return counts

    def settle(self) -> None:
        """Wait until everything is scored and all raters have rated every open review, at most ``wait`` seconds."""
        end = time.monotonic() + self.wait
        while time.monotonic() < end:
            counts = self.statuses()
            unscored = counts.get("PENDING", 0)
            open_reviews = {a["attributes"]["request_id"] for a in self._under_review()}
            waiting = any(
                self.tally.last_rating.get(r, 0) > time.monotonic() - 3 or r not in self.tally.last_rating
                for r in open_reviews
                if r.startswith(f"{self.name}-")
            )
            if not unscored and not waiting and self.receiver.proposals.empty():
                time.sleep(1.0)  # time for the last deliveries to arrive
                return
            time.sleep(0.5)
        self.tally.problem(f"not everything was settled after {self.wait:g} s")
