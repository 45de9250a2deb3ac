"""What a post costs from submission to decision: statements, processor time, and how long its community is locked.

    python -m tools.bench.submission [posts] [backlog] [waiting]

The posts go through the API without a network; the job engine runs them in threads of this process, as ``serve`` does.
Then what a post costs while many wait at once, in one community and in a hundred; and how long the posts of other
communities wait behind one community's backlog.
"""

import sys
import tempfile
import threading
import time
import uuid
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from flask import Flask
from rich.console import Console
from rich.table import Table
from sqlalchemy import event

from app import create_app, migrations
from app.core import ids
from app.core.communities import communities
from app.core.models import Request
from app.core.outbound import AllowList
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.webhooks import registrations
from app.jobs.engine import Engine
from app.jobs.registry import register_all
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import postgres
from tests.cast import Cast, assemble
from tools.bench import _backlog

POSTS = 100
IN_BATCH = 100
BATCHES = 3
BACKLOG = 5_000
WAITING = 1_000
NEIGHBOURS = 10
NEIGHBOURS_POSTS = 100
PAUSE = 0.2
"""Seconds between two posts of the others."""
TEXTS = {
    "acts at once": "Casino bonus! Buy 10,000 followers now, click here https://bit.ly/win limited offer",
    "goes to review": "You are an idiot and everybody here knows it",
    "nothing found": "The tide tables for Tuesday are on the notice board, thanks to everybody who helped.",
}


class Meter:
    """Counts statements, processor time and locks by the part of the work that the thread does."""

    def __init__(self) -> None:
        self._here = threading.local()
        self.clear()
        event.listen(sa.Engine, "before_cursor_execute", self._on_statement)
        event.listen(sa.Engine, "after_cursor_execute", self._on_answer)
        event.listen(sa.Engine, "begin", self._on_begin)
        event.listen(sa.pool.Pool, "checkin", self._on_checkin)

    def clear(self) -> None:
        self.statements: Counter[str] = Counter()
        self.seconds: dict[str, float] = defaultdict(float)
        self.texts: Counter[tuple[str, str]] = Counter()
        self.holds: list[float] = []

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        self._here.part, begin = name, time.thread_time()
        try:
            yield
        finally:
            self._here.part = None
            self.seconds[name] += time.thread_time() - begin

    def _on_statement(self, _c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        part = getattr(self._here, "part", None) or "engine"
        self.statements[part] += 1
        self.texts[part, " ".join(statement.split())] += 1

    def _on_answer(self, connection: sa.Connection, _cursor: Any, statement: str, *_rest: Any) -> None:
        if "pg_advisory_xact_lock" in statement:
            connection.info.setdefault("locked", time.perf_counter())

    def _on_begin(self, connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("writing", False)
        if connection.dialect.name == "sqlite" and writes:
            connection.info["locked"] = time.perf_counter()

    def _on_checkin(self, _dbapi: Any, record: Any) -> None:
        begin = record.info.pop("locked", None)
        if begin is not None:
            self.holds.append(time.perf_counter() - begin)


class Bench:
    """The service over one database, with the engine in this process."""

    def __init__(self, url: str, folder: Path, meter: Meter) -> None:
        settings = Settings(
            _env_file=None, environment="test", data_dir=folder, database_url=url, rate_limit_enabled=False
        ).ready()
        self.meter = meter
        self.wiring: Wiring = wire(settings)
        self.database = self.wiring.database
        migrations.upgrade(self.database.engine)
        self.jobs = Engine(self.database.engine, executor_id="bench", slots=settings.job_slots)
        self.jobs.prepare()
        register_all(_Measured(self.jobs, meter), self.wiring)
        self.wiring.attach(self.jobs)
        self.cast: Cast = assemble(self.database)
        with self.database.writing() as session:
            community = communities.open_community(session, SYSTEM, "discourse", "forum-1")
            registrations.register(
                session, SYSTEM, self.wiring.sealer, AllowList.parse("127.0.0.1"), community,
                "http://127.0.0.1:9/", "a secret for the bench",
            )  # fmt: skip
        self.app: Flask = create_app(self.wiring)

    def submit(self, text: str, count: int) -> None:
        client = self.app.test_client()
        for _ in range(count):
            with self.meter.part("POST"):
                answer = client.post(
                    "/api/public/v1/requests", json={"data": self._post(text)}, headers=self.cast.headers
                )
            if answer.status_code != 201:
                raise SystemExit(f"{answer.status_code} {answer.text[:200]}")

    def submit_batch(self, text: str) -> None:
        posts = [self._post(text) for _ in range(IN_BATCH)]
        with self.meter.part("batch"):
            answer = self.app.test_client().post(
                "/api/public/v1/requests/batch", json={"data": posts}, headers=self.cast.headers
            )
        if answer.status_code != 200 or '"status":4' in answer.text:
            raise SystemExit(f"{answer.status_code} {answer.text[:200]}")

    def _post(self, text: str) -> dict[str, Any]:
        attributes = {
            "request_id": str(uuid.uuid4()),
            "requested_by": "ann",
            "community_server_id": str(self.cast.community_id),
            "original_message_content": text,
            "platform_message_id": str(uuid.uuid4()),
        }
        return {"type": "requests", "attributes": attributes}

    def wait(self, *, seconds: float = 900) -> None:
        waiting = sa.select(sa.func.count()).where(Request.scored_at.is_(None))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with self.meter.part("waiting"), self.database.reading() as session:
                if not session.scalar(waiting):
                    return
            time.sleep(0.25)
        raise SystemExit("not everything was scored in time")

    def idle(self) -> tuple[float, int]:
        """Processor seconds and statements of a second without posts."""
        self.meter.clear()
        begin = time.process_time()
        time.sleep(4)
        return (time.process_time() - begin) / 4, self.meter.statements["engine"] // 4

    def costs(self, text: str, posts: int) -> list[str]:
        """A row of the table: posts are submitted one after another, each beside the scoring of others."""
        idle_seconds, idle_statements = self.idle()
        self.meter.clear()
        begin, processor = time.perf_counter(), time.process_time()
        self.submit(text, posts)
        self.wait()
        taken = time.perf_counter() - begin
        processor = time.process_time() - processor - idle_seconds * taken - self.meter.seconds["waiting"]
        engine = max(0.0, self.meter.statements["engine"] - idle_statements * taken)
        counts, seconds = self.meter.statements, self.meter.seconds
        single, scored = seconds["POST"], seconds["scoring"]
        parts = [counts["POST"] / posts, counts["scoring"] / posts, engine / posts]
        holds = sorted(self.meter.holds) or [0.0]
        for _ in range(BATCHES):
            self.submit_batch(text)
        self.wait()
        return [
            *(f"{part:.1f}" for part in [sum(parts), *parts]),
            *(f"{1000 * part / posts:.1f}" for part in (processor, single, scored)),
            f"{1000 * seconds['batch'] / IN_BATCH / BATCHES:.1f}",
            f"{len(self.meter.holds) / posts:.1f}",
            f"{1000 * sum(holds) / posts:.1f}",
            f"{posts / taken:.0f}",
        ]

    def neighbours(self, backlog: int, *, is_running: bool) -> list[str]:
        """Seconds to scored of other communities' posts behind one community's backlog, which is made first."""
        with self.database.writing() as session:
            others = [
                communities.open_community(session, SYSTEM, "discourse", f"neighbour-{n}").id
                for n in range(NEIGHBOURS)
            ]
        for first in range(0, backlog, 250):
            with self.database.writing() as session:
                for _ in range(first, min(first + 250, backlog)):
                    self._add(session, self.cast.community_id, TEXTS["goes to review"])
        if not is_running:
            self.jobs.start()
        for number in range(NEIGHBOURS_POSTS):
            with self.database.writing() as session:
                self._add(session, others[number % NEIGHBOURS], TEXTS["acts at once"])
            time.sleep(PAUSE)
        time.sleep(5)
        with self.database.reading() as session:
            rows = session.execute(
                sa.select(Request.requested_at, Request.scored_at).where(Request.community_id.in_(others))
            ).all()
            left = session.scalar(
                sa.select(sa.func.count()).where(
                    Request.community_id == self.cast.community_id, Request.scored_at.is_(None)
                )
            )
        taken = sorted((row[1] - row[0]).total_seconds() if row[1] else float("inf") for row in rows)
        middle, late = (taken[int(share * (len(taken) - 1))] for share in (0.5, 0.95))
        return [f"{backlog:,}", f"{left:,}", f"{middle:.2f}", f"{late:.2f}", f"{taken[-1]:.2f}"]

    def _add(self, session: Any, community_id: uuid.UUID, text: str) -> None:
        submission = submitting.Submission(str(ids.new_id()), "ann", text)
        submitting.submit(session, SYSTEM, community_id, submission)


class _Measured:
    """The engine, with the processor time of scoring taken."""

    def __init__(self, engine: Engine, meter: Meter) -> None:
        self._engine, self._meter = engine, meter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def register(self, name: str, function: Callable[..., None], **options: Any) -> None:
        def measured(**args: Any) -> None:
            with self._meter.part("scoring"):
                function(**args)

        self._engine.register(name, measured if name == submitting.SCORE_JOB else function, **options)

    def every(self, name: str, seconds: float) -> None:
        """What is periodic would blur the figures."""


@contextmanager
def _urls() -> Iterator[dict[str, tuple[str, int | None]]]:
    """The address of each database, and the process id of its server."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="bridgenote-bench-"))
        server = stack.enter_context(postgres.running())
        postmaster = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
        yield {
            "sqlite": (f"sqlite:///{folder}/bench.db", None),
            "postgresql": (server.url(server.create()), postmaster),
        }


def main() -> None:
    posts = int(sys.argv[1]) if len(sys.argv) > 1 else POSTS
    backlog = int(sys.argv[2]) if len(sys.argv) > 2 else BACKLOG
    many = int(sys.argv[3]) if len(sys.argv) > 3 else WAITING
    chosen = sys.argv[4:] or ["sqlite", "postgresql"]
    verbose = "verbose" in chosen
    costs = Table(title=f"A post from submission to decision, {posts} posts of one community")
    for name in (
        "Database", "Post", "statements", "POST", "scoring", "engine",
        "processor ms", "POST", "scoring", "in a batch", "locks", "locked ms", "posts/s",
    ):  # fmt: skip
        costs.add_column(name, justify="left" if name in ("Database", "Post") else "right")
    waits = Table(title="Seconds to scored of other communities behind one community's backlog")
    for name in ("Database", "backlog", "of it left", "median", "p95", "longest"):
        waits.add_column(name, justify="left" if name == "Database" else "right")
    together = Table(title="A post of many that wait at once, from the commit to the last score")
    for name in ("Database", *_backlog.COLUMNS):
        together.add_column(name, justify="left" if name == "Database" else "right")
    meter = Meter()
    with _urls() as urls, tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as folder:
        for kind, (url, postmaster) in urls.items():
            if kind not in chosen:
                continue
            bench = Bench(url, Path(folder) / kind, meter)
            if posts or many:
                bench.jobs.start()
            for what, text in TEXTS.items() if posts else ():
                bench.submit(text, 5)
                bench.wait()
                costs.add_row(kind, what, *bench.costs(text, posts))
                if verbose:
                    for (part, statement), count in sorted(meter.texts.items()):
                        Console(width=200).print(
                            f"{part:8} {count / posts:6.2f} {statement[:170]}", markup=False
                        )
            for count in (1, 100) if many else ():
                idle = bench.idle()[0]
                together.add_row(
                    kind, *_backlog.measured(bench, many, count, [*TEXTS.values()], idle, postmaster)
                )
            if backlog:
                waits.add_row(kind, *bench.neighbours(backlog, is_running=bool(posts or many)))
            bench.jobs.stop()
            bench.database.dispose()
    console = Console(width=140)
    if posts:
        console.print(costs)
    if many:
        console.print(together)
    if backlog:
        console.print(waits)


if __name__ == "__main__":
    main()
