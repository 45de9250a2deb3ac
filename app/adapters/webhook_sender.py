"""Sends webhook deliveries over HTTP: the ``Sender`` used in production.

Each attempt opens a new connection. So the addresses are checked again at every attempt, and no attempt is lost because
a kept connection closes just as a POST is sent. The cost is a handshake: two cores still send some hundreds of
deliveries per second, well above the hundred promised.
"""

import time
from collections.abc import Mapping

import httpx

from app.adapters.net import Deadline, Guarded, chunks, coding
from app.core.clock import now
from app.core.outbound import AllowList, BadAddress, Target, check_url, excerpt_of, parse_retry_after
from app.core.webhooks.sending import BAD_ADDRESS, TIMEOUT, Outcome

BODY_LIMIT = 64 * 1024
BODY_SECONDS = 1.0
"""How long the body of a response is read after its head. Only the status counts; the body is shown to people."""

_ERROR_LENGTH = 300


class HttpSender:
    """Sends to public https URLs and to the hosts in ``allow``. Threads share one instance."""

    def __init__(self, allow: AllowList, guarded: Guarded | None = None) -> None:
        self._allow = allow
        self._guarded = guarded or Guarded()

    def send(self, url: str, body: bytes, headers: Mapping[str, str], deadline: float) -> Outcome:
        """POST ``body`` (see ``Sender.send``). The response's body is read for at most one second after its head.

        The deadline covers the DNS lookup, the connection, TLS, the request and the whole head of the response; a
        response whose headers never end is a failure. If the connection breaks in the body, the status still counts,
        because the receiver has decided by then.
        """
        started = time.monotonic()
        limit = Deadline(deadline)
        try:
            target = check_url(url, self._allow)
            request = httpx.Request("POST", url, content=body, headers=_completed(headers))
        except BadAddress as error:
            return _failed(f"{BAD_ADDRESS}: it {error.reason}", started)
        except (httpx.InvalidURL, ValueError) as error:
            return _failed(f"{BAD_ADDRESS}: {error}", started)
        try:
            return self._exchange(target, request, limit, started)
        except httpx.TimeoutException as error:
            return _failed(str(error) or TIMEOUT, started)
        except httpx.RemoteProtocolError as error:
            return _failed(f"broken answer: {error}", started)
        except httpx.TransportError as error:
            return _failed(str(error) or type(error).__name__, started)

    def _exchange(self, target: Target, request: httpx.Request, limit: Deadline, started: float) -> Outcome:
        with self._guarded.exchange(target, request, limit) as response:
            elapsed = _milliseconds_since(started)
            limit.restart(BODY_SECONDS)
            excerpt = _excerpt(response)
        delivered = 200 <= response.status_code < 300
        retry_after = None if delivered else parse_retry_after(response.headers.get("Retry-After"), now())
        return Outcome(response.status_code, elapsed, excerpt, None, retry_after)


def _completed(headers: Mapping[str, str]) -> dict[str, str]:
    # Compression is not accepted, and a response that is compressed anyway is never decompressed.
    return {**headers, "Accept": "*/*", "Accept-Encoding": "identity", "Connection": "close"}


def _excerpt(response: httpx.Response) -> str:
    if response.status_code < 200:  # 101: what follows is not HTTP
        return ""
    received = bytearray()
    try:
        # Read more than the excerpt, so that an ordinary receiver can finish its response.
        for chunk in chunks(response):
            received += chunk
            if len(received) >= BODY_LIMIT:
                break
    except httpx.TransportError:
        pass  # The status counts; the part of the body that arrived is shown.
    if packed := coding(response):
        return excerpt_of(f"(compressed answer, not unpacked: {packed})".encode())
    return excerpt_of(bytes(received))


def _failed(reason: str, started: float) -> Outcome:
    # Some reasons quote the receiver's response, so they are cleaned like an excerpt.
    return Outcome(None, _milliseconds_since(started), error=excerpt_of(reason.encode())[:_ERROR_LENGTH])


def _milliseconds_since(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
