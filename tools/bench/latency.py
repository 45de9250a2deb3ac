"""How long things take from end to end: submission to decision, commit to first delivery, rating to status."""

import json
import statistics
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rich.console import Console
from rich.table import Table

from tools.bench._service import Caller, service

API = "/api/public/v1"
SPAM = "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back. Telegram: @btc_doubler"
REVIEWED = "You are such an idiot, nobody wants to read this."
EVENTS = 100
RATE = 20.0


class Receiver(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        self.arrived: dict[str, float] = {}
        super().__init__(("127.0.0.1", 0), Hook)


class Hook(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        at = time.time()
        event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if event.get("event_type") == "moderation.decision":
            self.server.arrived.setdefault(event["request_id"], at)

    def log_message(self, *_arguments: Any) -> None:
        """The table tells."""


def _row(table: Table, what: str, seconds: Sequence[float]) -> None:
    ordered = sorted(seconds)
    p95 = ordered[int(0.95 * (len(ordered) - 1))]
    table.add_row(what, str(len(ordered)), f"{statistics.median(ordered) * 1000:.0f}", f"{p95 * 1000:.0f}")


def _submit(caller: Caller, community: str, name: str, text: str) -> None:
    attributes = {
        "request_id": name,
        "requested_by": "ann",
        "community_server_id": community,
        "original_message_content": f"{text} [{name}]",
    }
    status, body = caller.call(
        "POST", f"{API}/requests", {"data": {"type": "requests", "attributes": attributes}}
    )
    if status != 201:
        raise SystemExit(f"submitting: {status} {body[:200]!r}")


def main() -> None:
    receiver = Receiver()
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    port = receiver.server_address[1]
    with service(BRIDGENOTE_WEBHOOK_ALLOW_HOSTS="127.0.0.1") as running:
        caller = Caller(running.port, {"Authorization": f"Bearer {running.key}"})
        query = "platform=bench&platform_community_server_id=bench"
        community = json.loads(caller.call("GET", f"{API}/community-servers/lookup?{query}")[1])["data"]["id"]
        hook = {
            "url": f"http://127.0.0.1:{port}/",
            "secret": "a secret for the bench",
            "platform_community_server_id": "bench",
        }
        status, body = Caller(
            running.port, {"Authorization": f"Bearer {running.key}", "X-Adapter-Platform": "bench"}
        ).call("POST", "/webhooks/register", hook)
        if status != 201:
            raise SystemExit(f"registering: {status} {body[:200]!r}")
        _submit(caller, community, "warm-up", SPAM)
        time.sleep(2)
        submitted = _spam(caller, community)
        deadline = time.time() + 30
        while len(receiver.arrived) < EVENTS + 1 and time.time() < deadline:
            time.sleep(0.05)
        table = Table(title=f"Latency in ms, {EVENTS} events at {RATE:g} a second")
        for name in ("From … to", "count", "median", "p95"):
            table.add_column(name, justify="left" if name == "From … to" else "right")
        arrived = {name: at for name, at in receiver.arrived.items() if name in submitted}
        _row(table, "submission to decision delivered", [at - submitted[n] for n, at in arrived.items()])
        _row(table, "commit of the decision to its delivery", _since_commit(caller, arrived))
        _row(table, "rating to status (the rater's own call)", _ratings(caller, community))
        Console().print(table)
        if len(arrived) < EVENTS:
            raise SystemExit(f"{EVENTS - len(arrived)} decisions did not arrive")
    receiver.shutdown()


def _spam(caller: Caller, community: str) -> dict[str, float]:
    submitted = {}
    start = time.time()
    for number in range(EVENTS):
        time.sleep(max(0.0, start + number / RATE - time.time()))
        submitted[f"s-{number}"] = time.time()
        _submit(caller, community, f"s-{number}", SPAM)
    return submitted


def _since_commit(caller: Caller, arrived: dict[str, float]) -> list[float]:
    """The decision's own stamp is taken just before its commit."""
    found = []
    for name, at in arrived.items():
        attributes = json.loads(caller.call("GET", f"{API}/requests/{name}")[1])["data"]["attributes"]
        found.append(at - datetime.fromisoformat(attributes["decided_at"]).timestamp())
    return found


def _ratings(caller: Caller, community: str) -> list[float]:
    """The fifth rating of each of twenty reviews, which decides it within the rater's own call."""
    taken = []
    for number in range(20):
        _submit(caller, community, f"r-{number}", REVIEWED)
    deadline = time.time() + 20
    waiting: list[dict[str, Any]] = []
    while len(waiting) < 20 and time.time() < deadline:
        path = f"{API}/moderation-actions?filter%5Baction_state%5D=under_review&limit=100"
        waiting = json.loads(caller.call("GET", path)[1])["data"]
        time.sleep(0.1)
    for action in waiting:
        note_id = action["attributes"]["note_id"]
        for number in range(5):
            rating = {"note_id": note_id, "rater_id": f"rater-{number}", "helpfulness_level": "HELPFUL"}
            document = {"data": {"type": "ratings", "attributes": rating}}
            start = time.perf_counter()
            caller.call("POST", f"{API}/ratings", document)
            last = time.perf_counter() - start
        taken.append(last)
        state = json.loads(caller.call("GET", f"{API}/moderation-actions/{action['id']}")[1])
        if state["data"]["attributes"]["action_state"] != "proposed":
            raise SystemExit("five ratings did not decide")
    return taken


if __name__ == "__main__":
    main()
