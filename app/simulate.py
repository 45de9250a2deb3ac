"""Play an integration and a crowd of raters against a running server, over HTTP alone.

Submits varied content at a chosen rate, receives and verifies webhooks, acknowledges proposals, and rates
what is under review from two camps that agree on plain cases and differ on the others. Ends with a table.
"""

import json
import random
import secrets
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import click
import httpx
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from app.core import signing
from app.core.classify.samples import SAMPLES

RECEIVER_PORT = 8999
API = "/api/public/v1"
POLL_SECONDS = 0.25
CONTESTED = frozenset({"misinformation", "toxicity"})
"""Categories on which the camps differ in half of the cases."""


@dataclass
class Tally:
    """What happened, filled by several threads; times are ``time.monotonic()`` seconds."""

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
    """The integration's webhook endpoint: verifies, deduplicates on ``event_id``, answers at once."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, secret: str, tally: Tally) -> None:
        self.secret, self.tally = secret, tally
        self.seen: set[str] = set()
        self.proposals: SimpleQueue[str] = SimpleQueue()
        super().__init__(("127.0.0.1", port), _Hook)

    def take(self, body: bytes) -> int:
        """The status to answer with."""
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
        if event.get("event") == "moderation_action.created":
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
            self.close_connection = True  # the service was killed in the middle of it: nothing arrived
            return
        self.send_response(self.server.take(body))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        """The table at the end says what arrived."""


class Integration:
    """The API as an integration calls it: retries what may be retried, and nothing else."""

    def __init__(self, url: str, key: str, platform: str, tally: Tally) -> None:
        limits = httpx.Limits(max_connections=40)
        self._client = httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30, limits=limits
        )
        self.platform = platform
        self.tally = tally

    def call(self, method: str, path: str, *, user: str | None = None, **options: Any) -> httpx.Response:
        """One call, tried three times when overloaded or unreachable (Spec: Retry classification)."""
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
    """A member of the crowd with a camp, 0 or 1."""

    user_id: str
    camp: int

    def opinion(self, category: str, note_id: str, dice: random.Random) -> str:
        """Plain cases: nearly everybody agrees. Contested ones: the camps do not."""
        contested = category in CONTESTED and int(note_id[-2:], 16) % 2 == 0
        if dice.random() < 0.04:
            return "SOMEWHAT_HELPFUL"
        if contested:
            return "HELPFUL" if self.camp == 0 else "NOT_HELPFUL"
        return "HELPFUL" if int(note_id[-4:-2], 16) % 5 else "NOT_HELPFUL"


@dataclass
class Run:
    """One simulation. ``rate`` is submissions a second, ``wait`` seconds to wait for the rest at the end."""

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
        """Everybody rates everything under review until it is decided or nobody is left."""
        given: dict[str, int] = {}
        while not self.done.is_set():
            for action in self._under_review():
                if self.done.is_set():
                    return
                self._rate_next(action, given)
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
        found: list[dict[str, Any]] = response.json()["data"]
        return found

    def _rate_next(self, action: dict[str, Any], given: dict[str, int]) -> None:
        attributes = action["attributes"]
        note_id = attributes["note_id"]
        request_id = attributes["request_id"]
        if note_id is None or not request_id.startswith(self.name):
            return
        with self.tally.lock:
            self.tally.queued.add(request_id)
        turn = given.get(note_id, 0)
        if turn >= len(self.raters):
            return
        given[note_id] = turn + 1
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
        # 403: somebody in the dashboard decided and locked it meanwhile.
        if self.integration.expect({200, 201, 403}, response, "rating"):
            with self.tally.lock:
                self.tally.ratings += 1

    def statuses(self) -> dict[str, int]:
        """How many of this run's requests are in which status, asked of the server page by page."""
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
            for one in document["data"]:
                if one["attributes"]["request_id"].startswith(f"{self.name}-"):
                    status = one["attributes"]["status"]
                    counts[status] = counts.get(status, 0) + 1
            path, query = document["links"]["next"], None
        return counts

    def settle(self) -> None:
        """Wait until everything is scored and every open review has heard all raters, or ``wait`` is over."""
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
                time.sleep(1.0)  # the last deliveries are on their way
                return
            time.sleep(0.5)
        self.tally.problem(f"not everything was settled after {self.wait:g} s")


def summarise(run: Run, counts: dict[str, int]) -> Table:
    """The closing table; latencies in milliseconds."""
    tally = run.tally
    table = Table(title=f"Simulation {run.name}")
    table.add_column("What")
    table.add_column("Number", justify="right")
    table.add_column("Median ms", justify="right")
    table.add_column("p95 ms", justify="right")
    first = [at - tally.submitted[r] for r, (at, tier) in tally.decided.items() if tier == 1]
    second = [
        max(0.0, at - tally.last_rating[r])
        for r, (at, tier) in tally.decided.items()
        if tier == 2 and r in tally.last_rating
    ]
    scored = sum(counts.values()) - counts.get("PENDING", 0) - counts.get("FAILED", 0)
    delivered = sum(tally.events.values())
    table.add_row("submitted", str(len(tally.submitted)), "", "")
    table.add_row("scored", str(scored), "", "")
    table.add_row("auto-acted (submission to decision)", str(len(first)), *_figures(first))
    table.add_row("queued for review", str(len(tally.queued)), "", "")
    table.add_row("ratings given", str(tally.ratings), "", "")
    table.add_row("decided by raters (last rating to decision)", str(len(second)), *_figures(second))
    table.add_row("decided in all", str(len(tally.decided)), "", "")
    table.add_row("events delivered", str(delivered), "", "")
    table.add_row("delivered more than once", str(tally.repeated), "", "")
    table.add_row("acknowledged", str(tally.acknowledged), "", "")
    return table


def _figures(seconds: Sequence[float]) -> tuple[str, str]:
    if not seconds:
        return "", ""
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return f"{statistics.median(ordered) * 1000:.0f}", f"{p95 * 1000:.0f}"


def _demo_key(data_dir: Path) -> str:
    try:
        key: str = json.loads((data_dir / "demo.json").read_text())["api_key"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise click.UsageError("no demo key found; name one with --key") from error
    return key


@click.command()
@click.option("--url", default="http://127.0.0.1:8000", show_default=True, help="The running server.")
@click.option("--key", default=None, help="A Platform adapter key; default: the demo key in ./var/demo.json.")
@click.option("--platform", default="demo", show_default=True)
@click.option("--community", default="harbour", show_default=True, help="The platform's own id.")
@click.option("--count", default=60, show_default=True, type=click.IntRange(1), help="Submissions.")
@click.option(
    "--rate", default=4.0, show_default=True, type=click.FloatRange(0.1), help="Submissions a second."
)
@click.option("--raters", default=12, show_default=True, type=click.IntRange(2), help="People in two camps.")
@click.option(
    "--wait", default=60.0, show_default=True, type=click.FloatRange(1), help="Seconds for the rest."
)
@click.option("--receiver-port", default=RECEIVER_PORT, show_default=True, type=click.IntRange(1, 65535))
@click.option("--seed", default=1, show_default=True, help="Makes the content and the opinions repeatable.")
@click.option(
    "--data-dir", default=Path("var"), type=click.Path(path_type=Path), help="Where demo.json lies."
)
def simulate(
    url: str,
    key: str | None,
    platform: str,
    community: str,
    count: int,
    rate: float,
    raters: int,
    wait: float,
    receiver_port: int,
    seed: int,
    data_dir: Path,
) -> None:
    """Play an integration and a crowd of raters against a running server.

    The server must be allowed to reach the receiver: BRIDGENOTE_WEBHOOK_ALLOW_HOSTS=127.0.0.1:8999
    (`make run` sets it).
    """
    console, tally, secret = Console(), Tally(), secrets.token_urlsafe(24)
    integration = Integration(url, key or _demo_key(data_dir), platform, tally)
    try:
        receiver = Receiver(receiver_port, secret, tally)
    except OSError as error:
        raise click.ClickException(f"cannot listen on port {receiver_port}: {error.strerror}") from error
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    try:
        run = _prepare(integration, receiver, platform, community, tally, count, rate, raters, wait, seed)
        helpers = [
            threading.Thread(target=run.acknowledge_all, daemon=True),
            threading.Thread(target=run.rate_all, daemon=True),
        ]
        for thread in helpers:
            thread.start()
        columns = (
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
        )  # fmt: skip
        with Progress(*columns, console=console) as progress:
            task = progress.add_task("Submitting", total=count)
            run.submit_all(lambda: progress.advance(task))
            progress.add_task("Waiting for raters and deliveries", total=None)
            run.settle()
        run.done.set()
        for thread in helpers:
            thread.join(timeout=10)
        counts = run.statuses()
        console.print(summarise(run, counts))
        _check(run, counts)
    except httpx.TransportError as error:
        raise click.ClickException(f"cannot reach {url}: {error}") from error
    finally:
        receiver.shutdown()
    for text in tally.problems[:20]:
        console.print(f"Problem: {text}", style="red", markup=False)
    if tally.problems:
        raise SystemExit(1)


def _prepare(
    integration: Integration,
    receiver: Receiver,
    platform: str,
    community: str,
    tally: Tally,
    count: int,
    rate: float,
    raters: int,
    wait: float,
    seed: int,
) -> Run:
    query = {"platform": platform, "platform_community_server_id": community}
    found = integration.call("GET", f"{API}/community-servers/lookup", params=query)
    if found.status_code != 200:
        raise click.ClickException(f"looking the community up: {found.status_code} {found.text[:300]}")
    hook = {
        "url": f"http://127.0.0.1:{receiver.server_address[1]}/hook",
        "secret": receiver.secret,
        "platform_community_server_id": community,
    }
    registered = integration.call("POST", "/webhooks/register", json=hook)
    if registered.status_code not in {200, 201}:
        raise click.ClickException(
            f"registering the webhook: {registered.status_code} {registered.text[:300]}\n"
            f"Does the server run with BRIDGENOTE_WEBHOOK_ALLOW_HOSTS=127.0.0.1:{receiver.server_address[1]}?"
        )
    name = f"sim-{secrets.token_hex(3)}"
    return Run(
        integration=integration,
        receiver=receiver,
        community_id=found.json()["data"]["id"],
        count=count,
        rate=rate,
        wait=wait,
        raters=[Rater(f"{name}-rater-{n}", n % 2) for n in range(raters)],
        name=name,
        dice=random.Random(seed),  # noqa: S311 - repeatable traffic, not a secret
        tally=tally,
    )


def _check(run: Run, counts: dict[str, int]) -> None:
    """What must hold: nothing lost, nothing failed, every proposal acknowledged."""
    missing = len(run.tally.submitted) - sum(counts.values())
    if missing:
        run.tally.problem(f"{missing} submissions are not on the server")
    if counts.get("FAILED"):
        run.tally.problem(f"{counts['FAILED']} requests failed to be scored")
