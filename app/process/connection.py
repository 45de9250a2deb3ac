"""One client's connection: parsing its requests, answering refused requests, and closing it."""

# waitress has no types: without this, mypy reports every call of an inherited method.
# mypy: disallow-untyped-calls=False

import json
import logging
import socket
import time
import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.task import ErrorTask
from waitress.utilities import BadRequest, RequestEntityTooLarge

from app.process import framing

log = logging.getLogger("bridgenote.requests")

LINGER_SECONDS = 30
"""How long the server still reads the rest of a refused request, so that the client can read the answer."""
LATE_SECONDS = 1.0
"""At shutdown, how long a request may still take to arrive, and a client to close its side of a connection."""
QUIET_SECONDS = 0.05
"""At shutdown, how long a used connection must have been silent before the server closes it."""


class Parser(HTTPRequestParser):
    """Refuses ambiguous requests, and reads nothing after one on the same connection as a request.

    A request with too large a body goes to the application without the body, as soon as its size is known. Its
    ``CONTENT_LENGTH`` has that size, so the application refuses it with its own message.
    """

    error: Any
    body_rcv: Any
    header_plus: bytes

    def __init__(self, adj: Any, on_last: Callable[[], None], is_ending: Callable[[], bool]) -> None:
        super().__init__(adj)
        self._on_last = on_last
        self._is_ending = is_ending

    def received(self, data: bytes) -> int:
        consumed = self._read(data)
        if self.completed and self.body_rcv is None:
            # Waitress would wait for a body that was not announced, and read the next request as that body.
            self.expect_continue = False
        if self.completed and not self.empty and self.error is None and self._is_ending():
            self.headers["CONNECTION"] = "close"
            self._on_last()
            return len(data)
        if self.error is None:
            return consumed
        self.expect_continue = False
        if isinstance(self.error, RequestEntityTooLarge):
            self.error = None
            self.headers["CONTENT_LENGTH"] = str(max(self.content_length, self.body_bytes_received))
            self.headers["CONNECTION"] = "close"
            self.connection_close = True
        if self.body_rcv is not None:
            self.body_rcv.getbuf().close()
            self.body_rcv = None
        self._on_last()
        return len(data)  # what follows belongs to this request, or to no known request

    def _read(self, data: bytes) -> int:
        # Waitress would wait for the end of a line without CR until the connection times out.
        if self.body_rcv is None and b"\r\n\r\n" not in self.header_plus[-3:] + data:
            seam = b"\r" if self.header_plus.endswith(b"\r") else b""
            if framing.has_lone_break(seam + data):
                self.error = BadRequest(framing.LONE_BREAK)
                self.completed = True
                return len(data)
        consumed: int = super().received(data)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        try:
            framing.check_head(header_plus)
        except framing.Ambiguous as error:
            raise ParsingError(str(error)) from error
        super().parse_header(header_plus)
        if self.chunked:
            self.body_rcv = _ChunkedReceiver(self.body_rcv.getbuf())


class _ChunkedReceiver(framing.ChunkedBody):
    """Gives our decoder of chunked bodies the interface that waitress expects."""

    error: Any = None

    def __init__(self, buffer: Any) -> None:
        super().__init__(buffer)
        self._file = buffer

    def received(self, data: bytes) -> int:
        try:
            return self.take(data)
        except framing.Ambiguous as error:
            self.error = BadRequest(str(error))
            return len(data)

    def getfile(self) -> Any:
        return self._file.getfile()

    def getbuf(self) -> Any:
        return self._file


class Refusal(ErrorTask):
    """The answer to a request that does not reach the application: JSON like the API's errors, and a log line."""

    def __init__(self, channel: Any, request: Any) -> None:
        super().__init__(channel, request)
        self.version = "1.1"

    content_length: Any

    def execute(self) -> None:
        error = self.request.error
        request_id = uuid.uuid4().hex
        detail = str(error.body) if error.code < 500 else "Internal server error"
        log.info(
            "Refused a request from %s with %s: %s; request %s",
            self.channel.addr[0],
            error.code,
            detail,
            request_id,
        )
        body = json.dumps({"detail": detail}).encode()
        self.status = f"{error.code} {error.reason}"
        self.response_headers += [
            ("Content-Type", "application/json"),
            ("Cache-Control", "no-store"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Request-Id", request_id),
        ]
        self.set_close_on_finish()
        self.content_length = len(body)
        self.write(body)


class Channel(HTTPChannel):
    """A connection that is closed with a delay after a refused or shortened request, and at shutdown (RFC 9112: 9.6).

    If the server closes it at once while unread bytes wait, the kernel sends a reset, which can overtake the answer:
    the client would see a broken connection instead of the 400 or 413.
    """

    error_task_class = Refusal
    parser_class: Any
    _is_last = False
    _ending_since: float | None = None
    _linger_until: float | None = None

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.parser_class = partial(Parser, on_last=self._stop_parsing, is_ending=self._is_ending)
        self._was_used = False

    def _stop_parsing(self) -> None:
        self._is_last = True

    def _is_ending(self) -> bool:
        return self._ending_since is not None

    def received(self, data: bytes) -> bool:
        self._was_used = True
        return not self._is_last and bool(super().received(data))

    @property
    def is_answering(self) -> bool:
        """Whether a request has arrived completely and its answer is not sent yet."""
        return bool(self.requests or self.total_outbufs_len)

    def wind_down(self, now: float) -> None:
        """Send at most one more answer, then close the connection. Called repeatedly while the server shuts down.

        Requests that have arrived are answered, and also those that arrive at once on a new connection. The server
        does not close a connection while bytes wait to be read.
        """
        if self._ending_since is None:
            self._ending_since = now
            with self.requests_lock:
                if self.requests and self.request is None and not self._is_last:
                    # Too late if its answer has begun: then the connection is closed like an unused one.
                    self.requests[-1].headers["CONNECTION"] = "close"
                    self._is_last = True
        if self._linger_until is not None:
            if now > self._linger_until:
                self.will_close = True
        elif not (self.is_answering or self.close_when_flushed):
            is_awaited = self.request is not None or not self._was_used
            if now - self._ending_since > (LATE_SECONDS if is_awaited else QUIET_SECONDS):
                self._is_last = True
                self._linger(LATE_SECONDS)

    def readable(self) -> bool:
        return self._linger_until is not None or bool(super().readable())

    def writable(self) -> bool:
        if self._linger_until is not None:
            return self.will_close
        return bool(super().writable())

    def handle_write(self) -> None:
        if not (self._is_last and self.close_when_flushed) or self.will_close:
            super().handle_write()
            return
        self.close_when_flushed = False
        super().handle_write()
        if self.connected and not self.will_close:
            if self.total_outbufs_len:
                self.close_when_flushed = True
            else:
                self._linger(LINGER_SECONDS if self._ending_since is None else LATE_SECONDS)

    def _linger(self, seconds: float) -> None:
        self._linger_until = time.time() + seconds
        try:
            if self.socket is not None:
                self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.will_close = True

    def is_overdue(self, now: float) -> bool:
        """Whether the rest of a refused request takes too long to arrive."""
        return self._linger_until is not None and now > self._linger_until
