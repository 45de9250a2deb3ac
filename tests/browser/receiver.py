"""A platform's endpoint for webhooks, on a port of its own."""

import hashlib
import hmac
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.browser.live import wait_for


@dataclass
class Receiver:
    """An integration's endpoint: keeps the events whose signatures hold, and refuses the others."""

    secret: str
    server: ThreadingHTTPServer
    events: list[dict[str, Any]] = field(default_factory=list)
    refused: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/hook"

    def take(self, body: bytes, headers: Mapping[str, str]) -> int:
        """The status to answer with. Checked here from the specification, not with the service's own code."""
        event = json.loads(body)
        unsigned = {
            name: value
            for name, value in event.items()
            if name not in {"_webhook_timestamp", "_webhook_signature"}
        }
        canonical = json.dumps(unsigned, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        inside = self._digest(f"{event['_webhook_timestamp']}:{canonical}".encode())
        around = f"sha256={self._digest(body)}"
        if event["_webhook_signature"] != inside or headers["X-Webhook-Signature"] != around:
            self.refused.append(body)
            return 401
        self.events.append(event)
        return 200

    def named(self, name: str) -> list[dict[str, Any]]:
        """The events of this name so far."""
        return [one for one in self.events if name in (one.get("event"), one.get("event_type"))]

    def wait(self, name: str) -> dict[str, Any]:
        """The first event of this name."""
        return wait_for(f"the event {name}", lambda: next(iter(self.named(name)), None))

    def _digest(self, message: bytes) -> str:
        return hmac.new(self.secret.encode(), message, hashlib.sha256).hexdigest()


@contextmanager
def listening() -> Iterator[Receiver]:
    """A receiver on a port of its own."""

    class Hook(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(receiver.take(body, dict(self.headers)))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: Any) -> None:
            """Failures speak through the tests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    receiver = Receiver("a secret between two machines", server)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
