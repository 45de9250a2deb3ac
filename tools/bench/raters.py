"""Ratings of one community by eight callers at once, while its posts are scored.

    python -m tools.bench.raters [ratings] [seconds] [sqlite|postgresql]

A real server with its default processes. Half of the callers use the API, half are signed in to the dashboard; each
rates a note and answers a review in turn, without a pause. Posts are submitted beside them, which the same server
scores. The callers use the same cores. Statements are those of one call of each kind, counted in this process.
"""

import json
import os
import re
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from urllib.parse import urlencode

import sqlalchemy as sa
from flask import Flask
from rich.console import Console
from rich.table import Table

from app.core.models import Action, Request
from app.core.people import accounts, sessions
from app.core.permissions import SYSTEM
from app.core.vocabulary import ActionState, Role
from tests.cast import PASSWORD, PLATFORM
from tools.bench import _service
from tools.bench._backlog import server_seconds, until_scored
from tools.bench.rating import LEVELS, Bench, databases
from tools.bench.submission import TEXTS

CALLERS = 8
REVIEWS = 600
SIGNED_IN = 12
"""Accounts that rate in the dashboard; each answers a review once."""
POSTS_A_SECOND = 10
KINDS = ("API note", "web note", "API review", "web review")
Send = Callable[[str, str, str, dict[str, str]], tuple[int, str]]
"""Method, path, body and headers of a call; its status and the body of the answer."""


class Raters:
    """The calls of raters. They are numbered, so that none repeats another."""

    def __init__(self, bench: Bench) -> None:
        self._bench, self._numbers = bench, {kind: count() for kind in KINDS}
        self.reviews: list[sa.Row[uuid.UUID, uuid.UUID]] = []
        self._signed_in = [self._sign_in(f"rater-{number}@example.org") for number in range(SIGNED_IN)]

    def _sign_in(self, email: str) -> tuple[str, str]:
        """The cookies of a new member's browser, and the token of its forms."""
        with self._bench.database.writing() as session:
            account = accounts.create(session, email, PASSWORD, display_name="Rater", confirmed=True)
            accounts.give_role(session, SYSTEM, account, self._bench.cast.community_id, Role.RATER)
            token = sessions.begin(session, account, "Bench")
        client = self._bench.app.test_client()
        client.set_cookie("bridgenote", token)
        page = client.get("/settings")
        found = re.search(r'name="csrf_token" value="([^"]+)"', page.text)
        if found is None:
            raise SystemExit("the settings page has no form")
        kept = [cookie.partition(";")[0] for cookie in page.headers.getlist("Set-Cookie")]
        return "; ".join([f"bridgenote={token}", *kept]), found[1]

    def post(self, send: Send, text: str) -> None:
        self._call(
            send,
            "requests",
            request_id=str(uuid.uuid4()),
            requested_by="ann",
            community_server_id=str(self._bench.cast.community_id),
            original_message_content=text,
            platform_message_id=str(uuid.uuid4()),
        )

    def rate(self, send: Send, kind: str) -> None:
        number, (by, what), notes = next(self._numbers[kind]), kind.split(), self._bench.camps.notes
        action_id = None
        if what == "review":
            turn, place = divmod(number, len(self.reviews))
            action_id, note_id = self.reviews[place]
        else:
            turn, note_id = number, notes[number * 37 % len(notes)]
        level = number % 2
        if by == "API":
            rating = {"note_id": str(note_id), "helpfulness_level": LEVELS[level]}
            self._call(send, "ratings", **rating, rater_id=f"{what}-{turn % 40}")
            return
        cookies, token = self._signed_in[turn % SIGNED_IN]
        if action_id is not None:
            path, form = f"/help-needed/{action_id}", {"answer": ("yes", "no")[level]}
        else:
            path, form = f"/notes/{note_id}/rating", {f"note-{note_id}-level": LEVELS[level]}
            form |= {f"note-{note_id}-good": "clear", f"note-{note_id}-bad": "unclear"}
        body = urlencode({"csrf_token": token, **form})
        headers = {"Cookie": cookies, "HX-Request": "true"}
        headers |= {"Content-Type": "application/x-www-form-urlencoded"}
        _check(*send("POST", path, body, headers))

    def _call(self, send: Send, what: str, **attributes: str) -> None:
        headers = {**self._bench.cast.headers, "X-Adapter-Platform": PLATFORM}
        body = json.dumps({"data": {"type": what, "attributes": attributes}})
        headers |= {"Content-Type": "application/json"}
        _check(*send("POST", f"/api/public/v1/{what}", body, headers))


def _check(status: int, body: str) -> None:
    if status not in (200, 201):
        raise SystemExit(f"{status} {body[:300]}")


def connected(port: int) -> Send:
    """Calls by one connection to the server."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)

    def send(method: str, path: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()

    return send


def inside(app: Flask) -> Send:
    """Calls of the application in this process."""
    client = app.test_client(use_cookies=False)

    def send(method: str, path: str, body: str, headers: dict[str, str]) -> tuple[int, str]:
        answer = client.open(path, method=method, data=body, headers=headers)
        return answer.status_code, answer.text

    return send


@contextmanager
def serving(url: str, folder: Path) -> Iterator[tuple[int, int]]:
    """The port of a server of this database, and the id of its process."""
    port = _service.free_port()
    environment = {
        **os.environ,
        "BRIDGENOTE_DATA_DIR": str(folder),
        "BRIDGENOTE_DATABASE_URL": url,
        "BRIDGENOTE_PORT": str(port),
        "BRIDGENOTE_RATE_LIMIT_KEY": "100000000 per minute",
        "BRIDGENOTE_RATE_LIMIT_RATINGS": "100000000 per minute",
        "BRIDGENOTE_LOG_LEVEL": "WARNING",
    }
    command = [sys.executable, "-m", "app", "serve"]
    with _service.running(command, port, environment, folder / "log") as process:
        yield port, process.pid


_COMMIT = "COMMIT"


def statements(bench: Bench, raters: Raters, kind: str) -> tuple[int, int]:
    """How many statements one call sends, and how many of them hold the community's lock."""
    seen: list[str] = []
    listening = [
        (sa.Engine, "before_cursor_execute", lambda *given: seen.append(given[2])),
        (sa.Engine, "commit", lambda _: seen.append(_COMMIT)),
    ]
    send = inside(bench.app)
    raters.rate(send, kind)
    for one in listening:
        sa.event.listen(*one)
    raters.rate(send, kind)
    for one in listening:
        sa.event.remove(*one)
    locks = [number for number, text in enumerate(seen) if "pg_advisory_xact_lock" in text]
    locked = seen.index(_COMMIT, locks[-1]) - locks[-1] - 1 if locks else 0
    return len(seen) - seen.count(_COMMIT), locked


def measure(
    raters: Raters, port: int, seconds: float, posts_a_second: float
) -> tuple[dict[str, list[float]], float]:
    """Seconds of each call by kind, and how long all of them took."""
    taken: dict[str, list[float]] = {kind: [] for kind in KINDS}
    begin = time.perf_counter()
    end = begin + seconds

    def run(kinds: tuple[str, ...]) -> None:
        send = connected(port)
        for number in count():
            if time.perf_counter() > end:
                return
            start = time.perf_counter()
            raters.rate(send, kinds[number % 2])
            taken[kinds[number % 2]].append(time.perf_counter() - start)

    def submit() -> None:
        send, texts = connected(port), list(TEXTS.values())
        for number in range(int(seconds * posts_a_second)):
            time.sleep(max(0.0, begin + number / posts_a_second - time.perf_counter()))
            raters.post(send, texts[number % len(texts)])

    works = [lambda: run(KINDS[0::2]), lambda: run(KINDS[1::2])] * (CALLERS // 2)
    threads = [threading.Thread(target=work) for work in [*works, submit]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken, time.perf_counter() - begin


def fill_reviews(bench: Bench, raters: Raters, port: int) -> None:
    """Submit posts that go to review, and wait until they are there."""
    send = connected(port)
    for _ in range(REVIEWS):
        raters.post(send, TEXTS["goes to review"])
    until_scored(bench.database)
    with bench.database.reading() as session:
        raters.reviews = list(
            session.execute(
                sa.select(Action.id, Action.note_id).where(
                    Action.community_id == bench.cast.community_id,
                    Action.action_state == ActionState.UNDER_REVIEW,
                    Action.note_id.is_not(None),
                )
            )
        )
    if len(raters.reviews) < REVIEWS:
        raise SystemExit(f"only {len(raters.reviews)} posts went to review")


def report(name: str, url: str, folder: Path, bench: Bench, seconds: float) -> None:
    postmaster = _postmaster(bench)
    table = Table(
        title=f"{CALLERS} callers rate in one community of {bench.camps.ratings:,} ratings on {name}"
    )
    columns = (
        "posts/s beside",
        "ratings/s",
        "p50 ms",
        "p95 ms",
        "processor ms",
        "process",
        "database",
        "posts scored/s",
    )
    for column in columns:
        table.add_column(column, justify="right")
    raters = Raters(bench)
    with serving(url, folder) as (port, pid):
        fill_reviews(bench, raters, port)
        measure(raters, port, 5, 0)
        for beside in (0, POSTS_A_SECOND):
            scored = _scored(bench)
            before = server_seconds(pid), server_seconds(postmaster)
            taken, whole = measure(raters, port, seconds, beside)
            process, database = server_seconds(pid) - before[0], server_seconds(postmaster) - before[1]
            each = {kind: sorted(times) for kind, times in taken.items()}
            everything = sorted(one for times in taken.values() for one in times)
            parts = (process + database, process, database)
            table.add_row(
                str(beside),
                f"{len(everything) / whole:.0f}",
                *_percentiles(everything),
                *(f"{1000 * part / len(everything):.1f}" for part in parts),
                f"{(_scored(bench) - scored) / whole:.1f}",
            )
    kinds = Table(title="Each kind of call, with posts beside")
    for column in ("call", "statements", "under the lock", "p50 ms", "p95 ms"):
        kinds.add_column(column, justify="left" if column == "call" else "right")
    for kind in KINDS:
        sent, locked = statements(bench, raters, kind)
        kinds.add_row(kind, str(sent), str(locked), *_percentiles(each[kind]))
    console = Console(width=140)
    console.print(table)
    console.print(kinds)


def _percentiles(ordered: list[float]) -> list[str]:
    return [f"{1000 * ordered[int(share * (len(ordered) - 1))]:.0f}" for share in (0.5, 0.95)]


def _postmaster(bench: Bench) -> int | None:
    """The process id of the database's server."""
    with bench.database.reading() as session:
        if session.get_bind().dialect.name == "sqlite":
            return None
        return int(session.scalar(sa.text("SELECT pg_read_file('postmaster.pid')")).split()[0])


def _scored(bench: Bench) -> int:
    with bench.database.reading() as session:
        return session.scalar(sa.select(sa.func.count()).where(Request.scored_at.is_not(None))) or 0


def main() -> None:
    ratings = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 20
    wanted = sys.argv[3] if len(sys.argv) > 3 else ""
    with databases(wanted) as found:
        for name, url in found:
            with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as folder:
                bench = Bench(url, Path(folder), ratings)
                bench.refit()
                report(name, url, Path(folder), bench, seconds)
                bench.database.dispose()


if __name__ == "__main__":
    main()
