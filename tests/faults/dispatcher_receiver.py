"""Receivers of deliveries on sockets of this machine: one that answers, one that never does."""

import socket
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from app.core.webhooks import signing

SECRET = "secret of the storm"


@dataclass(frozen=True)
class Arrival:
    """One delivery as it came. ``payload`` is None when its signature does not verify."""

    event_id: str
    body: bytes
    payload: dict[str, Any] | None


class Receiver:
    """Verifies and keeps what arrives; answers the next of ``statuses``, then 200, after ``seconds``."""

    def __init__(self, statuses: tuple[int, ...] = (), seconds: float = 0.0) -> None:
        self.arrivals: list[Arrival] = []
        self._statuses = list(statuses)
        self._seconds = seconds
        self._lock = threading.Lock()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                length = int(self.headers["Content-Length"])
                body = self.rfile.read(length)
                if len(body) < length:
                    # The sender was killed between head and body: nothing arrived.
                    self.close_connection = True
                    return
                status = receiver.take(self.headers["webhook-id"], body)
                time.sleep(receiver._seconds)
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

            def handle(self) -> None:
                # A killed sender hangs up in the middle.
                try:
                    super().handle()
                except OSError:
                    self.close_connection = True

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hooks"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def take(self, event_id: str, body: bytes) -> int:
        try:
            payload = signing.verify_body(body, SECRET, int(time.time()))
        except signing.BadSignature:
            payload = None
        with self._lock:
            self.arrivals.append(Arrival(event_id, body, payload))
            return self._statuses.pop(0) if self._statuses else 200

    @property
    def event_ids(self) -> list[str]:
        with self._lock:
            return [arrival.event_id for arrival in self.arrivals]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class HangingReceiver:
    """Takes every connection and never answers; ``close`` hangs up on all of them."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/hooks"
        self._connections: list[socket.socket] = []
        self._thread = threading.Thread(target=self._accept)
        self._thread.start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._connections.append(connection)

    @property
    def connections(self) -> int:
        return len(self._connections)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._socket.close()
        for connection in self._connections:
            connection.close()
