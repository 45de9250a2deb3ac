"""Webhook deliveries: draining a backlog, one receiver that hangs beside one that does not, and the way to the first
attempt. On SQLite and PostgreSQL, measured by the receiver's clock. DELIVERIES sets the backlog (10000).
"""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from app import migrations
from app.adapters.webhook_sender import HttpSender
from app.core.communities import communities
from app.core.db import Database
from app.core.models import Webhook
from app.core.outbound import AllowList
from app.core.permissions import SYSTEM
from app.core.sealing import Sealer
from app.core.webhooks import events
from app.core.webhooks import registrations as webhooks
from app.jobs.dispatcher import Dispatcher
from tests import postgres
from tests.faults.dispatcher_receiver import HangingReceiver

BACKLOG = int(os.environ.get("DELIVERIES", "10000"))
EVENTS, A_SECOND = 400, 20
PROCESSES = 2
"""As many as `serve` starts."""
KEY = "the key of the bench, of no use elsewhere"
ALLOW = AllowList.parse("127.0.0.1")


class Receiver:
    """The receiver's process."""

    def __init__(self) -> None:
        self.process = _started("tools.bench._receiving")
        assert self.process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self.process.stdout.readline())}/hook"

    def seen(self) -> dict[str, float]:
        """When each event came first."""
        with urllib.request.urlopen(self.url) as answer:  # noqa: S310 - our own receiver
            found: dict[str, float] = {}
            for event_id, moment in json.load(answer):
                found.setdefault(event_id, moment)
        return found


class Desk:
    """A fresh database with a community in it."""

    def __init__(self, url: str) -> None:
        self.url, self.database, self.sealer = url, Database(url), Sealer.from_secret(KEY)
        migrations.upgrade(self.database.engine)
        with self.database.writing() as session:
            self.community = communities.open_community(session, SYSTEM, "bench", "bench")

    def register(self, url: str) -> Webhook:
        with self.database.writing() as session:
            return webhooks.register(session, SYSTEM, self.sealer, ALLOW, self.community, url, "a secret")[0]

    def tell(self, webhook: Webhook, count: int) -> list[str]:
        with self.database.writing() as session:
            mine = session.get_one(Webhook, webhook.id)
            return [str(events.emit_test(session, mine).id) for _ in range(count)]


def _started(module: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-m", module, *arguments], stdout=subprocess.PIPE, text=True)


@contextmanager
def _ended(process: subprocess.Popen[str]) -> Iterator[subprocess.Popen[str]]:
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


def _dispatchers(stack: ExitStack, desk: Desk) -> list[subprocess.Popen[str]]:
    made = [
        stack.enter_context(_ended(_started("tools.bench._dispatching", desk.url, KEY)))
        for _ in range(PROCESSES)
    ]
    for one in made:
        assert one.stdout is not None
        one.stdout.readline()
    return made


def _all_of(receiver: Receiver, wanted: list[str]) -> list[float]:
    """When each of these came, once all have."""
    while not set(wanted) <= (seen := receiver.seen()).keys():
        time.sleep(0.3)
    return [seen[one] for one in wanted]


def _peak_megabytes(process: subprocess.Popen[str]) -> float:
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def drain(desk: Desk) -> None:
    with ExitStack() as stack:
        receiver = Receiver()
        stack.enter_context(_ended(receiver.process))
        endpoints = [desk.register(f"{receiver.url}/{number}") for number in range(4)]
        told = [one for webhook in endpoints for one in desk.tell(webhook, BACKLOG // len(endpoints))]
        began = time.time()
        processes = _dispatchers(stack, desk)
        taken = max(_all_of(receiver, told)) - began
        memory = max(map(_peak_megabytes, processes))
        print(
            f"  {len(told)} due at once: {taken:.1f} s, {len(told) / taken:.0f} a second, "
            f"at most {memory:.0f} MB in a process"
        )


def beside_one_that_hangs(desk: Desk) -> None:
    with ExitStack() as stack:
        receiver, hanging = Receiver(), HangingReceiver()
        stack.callback(hanging.close)
        stack.enter_context(_ended(receiver.process))
        desk.tell(desk.register(hanging.url), 200)
        healthy = desk.register(f"{receiver.url}/healthy")
        _dispatchers(stack, desk)
        time.sleep(1)
        delays = []
        for _ in range(20):
            began = time.time()
            delays.append(max(_all_of(receiver, desk.tell(healthy, 1))) - began)
        print(f"  beside a receiver that hangs, a healthy one waits: at most {max(delays):.2f} s")


def first_attempt(desk: Desk) -> None:
    """In the process that commits, as the server's own requests do."""
    with ExitStack() as stack:
        receiver = Receiver()
        stack.enter_context(_ended(receiver.process))
        webhook, wake = desk.register(f"{receiver.url}/steady"), threading.Event()
        desk.database.on_commit = wake.set
        dispatcher = Dispatcher(desk.database, HttpSender(ALLOW), desk.sealer, (10, 30), wake, "bench")
        dispatcher.start()
        stack.callback(dispatcher.stop, 5)
        committed: dict[str, float] = {}
        began = time.monotonic()
        for number in range(EVENTS):
            time.sleep(max(0.0, began + number / A_SECOND - time.monotonic()))
            (event_id,) = desk.tell(webhook, 1)
            committed[event_id] = time.time()
        came = _all_of(receiver, list(committed))
        waits = sorted(max(0.0, at - since) for at, since in zip(came, committed.values(), strict=True))
        p50, p95 = (waits[int(share * (len(waits) - 1))] * 1000 for share in (0.5, 0.95))
        print(f"  commit to first attempt at {A_SECOND} events a second: p50 {p50:.0f} ms, p95 {p95:.0f} ms")


def main() -> None:
    print(
        f"aims: 100 a second on two cores, 10000 in 2 min, 300 MB, p95 1 s; load now {os.getloadavg()[0]:.1f}"
    )
    with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as folder, postgres.running() as server:
        for kind in ("sqlite", "postgresql"):
            print(kind)
            for part in (drain, beside_one_that_hangs, first_attempt):
                file = f"sqlite:///{folder}/{part.__name__}.db"
                part(Desk(file if kind == "sqlite" else server.url(server.create())))


if __name__ == "__main__":
    main()
