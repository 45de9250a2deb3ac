"""The counters of a run, and the receiver that verifies every webhook delivery."""

import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any

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
