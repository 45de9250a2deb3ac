"""Sending a delivery: what a receiver's answer, or its failure, means.

``adapters.webhook_sender`` opens the connection. Source: docs/integrate/api.md (Webhooks).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

TIMEOUT = "timeout"
BAD_ADDRESS = "bad address"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one attempt.

    ``status``: the HTTP status, or None when no complete response head arrived. ``milliseconds``: from the start to
    the response head, or to the failure. ``excerpt``: the first kilobyte of the body, safe to store. ``error``:
    None, or a kind and its detail: ``timeout…``, ``connection refused``, ``connection failed: …``, ``dns: …``,
    ``tls: …``, ``address not allowed: …``, ``broken answer: …``, ``bad address: …``. ``retry_after``: seconds the
    receiver asks us to wait, 0–600, or None; the longer of it and the schedule applies.
    """

    status: int | None
    milliseconds: int
    excerpt: str = ""
    error: str | None = None
    retry_after: int | None = None

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def permanent(self) -> bool:
        """Whether a retry is pointless: a 4xx other than 429, or a URL to which we never send.

        A name that *resolves* to a forbidden IP address is no permanent failure: nothing was sent, and its owner
        may correct the DNS record before the next attempt, which resolves and checks it again.
        """
        if self.status is not None:
            return 400 <= self.status < 500 and self.status != 429
        return self.error is not None and self.error.startswith(BAD_ADDRESS)

    @property
    def timed_out(self) -> bool:
        """Whether the receiver used up the whole deadline, in any phase."""
        return self.error is not None and self.error.startswith(TIMEOUT)


class Sender(Protocol):
    """Sends one attempt. Thread-safe."""

    def send(self, url: str, body: bytes, headers: Mapping[str, str], deadline: float) -> Outcome:
        """POST ``body`` within ``deadline`` seconds, counted from the start to the response head.

        Every failure of the receiver or the network is returned as an Outcome, never raised.
        """
        ...
