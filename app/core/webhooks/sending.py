"""Sending a delivery: what a receiver's answer or its failure means, and which webhook may hold how many slots.

``adapters.webhook_sender`` opens the connection. Source: docs/integrate/api.md (Webhooks).
"""

import uuid
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from app.core.models import Webhook

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

        During the rotation of a secret 401 and 403 are tried again all the same (``queue``).

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


class Slots:
    """The slots of one process: ``take`` notes who holds them, ``room`` says how many more a webhook may take.

    A webhook has at most ``per_webhook``, one in ``hanging`` at most 1, and those in ``hanging`` together half of
    ``total``. A community, and a receiver's host, gets one more only while it holds fewer than are free: one alone
    has at most half of all, and while attempts end and begin, two come to a third each, and so on (the dynamic
    thresholds of Choudhury and Hahne, 1998). So no one of them can use up the slots, and no fixed share lies idle.
    """

    def __init__(
        self, total: int = 256, per_webhook: int = 16, hanging: Collection[uuid.UUID] = frozenset()
    ) -> None:
        self._total = self._free = total
        self._per_webhook = per_webhook
        self._hanging = hanging
        self._held_by_hanging = 0
        self._webhooks: Counter[uuid.UUID] = Counter()
        self._communities: Counter[uuid.UUID] = Counter()
        self._hosts: Counter[str] = Counter()

    def take(self, webhook_id: uuid.UUID, community_id: uuid.UUID, url: str, count: int = 1) -> None:
        """Note that this webhook holds ``count`` more slots."""
        self._free -= count
        self._webhooks[webhook_id] += count
        self._communities[community_id] += count
        self._hosts[_host(url)] += count
        if webhook_id in self._hanging:
            self._held_by_hanging += count

    def room(self, webhook: Webhook) -> int:
        """How many more slots this webhook may take now."""
        groups = (self._communities[webhook.community_id], self._hosts[_host(webhook.url)])
        return max(0, min(self._room_alone(webhook.id), *map(self._room_of_group, groups)))

    def held(self, webhook: Webhook) -> tuple[int, int, int]:
        """How many slots its community, its host and the webhook itself hold: who holds fewest is served first."""
        host = self._hosts[_host(webhook.url)]
        return self._communities[webhook.community_id], host, self._webhooks[webhook.id]

    def full_webhooks(self) -> list[uuid.UUID]:
        """The webhooks that hold as many as a webhook may; there may be others without ``room``."""
        return [one for one in self._webhooks if self._room_alone(one) < 1]

    def full_communities(self) -> list[uuid.UUID]:
        """The communities that hold as many as a community may now."""
        return [one for one, held in self._communities.items() if self._room_of_group(held) < 1]

    def _room_alone(self, webhook_id: uuid.UUID) -> int:
        if webhook_id not in self._hanging:
            return self._per_webhook - self._webhooks[webhook_id]
        return 0 if 2 * self._held_by_hanging >= self._total else 1 - self._webhooks[webhook_id]

    def _room_of_group(self, held: int) -> int:
        # Each that is taken leaves one fewer free.
        return (self._free - held + 1) // 2


def _host(url: str) -> str:
    return urlsplit(url).hostname or ""
