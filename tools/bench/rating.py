"""What a rating costs in a community with many ratings, also while the parameters are fitted anew.

    python -m tools.bench.rating [ratings] [sqlite|postgresql]

Server time of a whole call, through the application and without a network: milliseconds.
"""

import re
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import sqlalchemy as sa
from flask import Flask
from rich.console import Console
from rich.table import Table

from app import create_app, migrations
from app.core import scoring
from app.core.helpfulness import refits
from app.core.models import Account, Note, ScoringModel, ScoringState
from app.core.people import sessions
from app.core.vocabulary import NoteStatus
from app.jobs import rescoring
from app.jobs.registry import register_all
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import postgres
from tests.camps import Camps, populate
from tests.cast import PLATFORM, Cast, assemble
from tests.inline_engine import InlineEngine

CALLS = 300
PAUSE = 0.02
"""Seconds between two calls: raters who never stop would leave SQLite's one writer to nobody else."""
LEVELS = ("HELPFUL", "NOT_HELPFUL")
Call = Callable[[uuid.UUID, str], None]


class Bench:
    """The service over one database, with one large community."""

    def __init__(self, url: str, folder: Path, ratings: int) -> None:
        settings = Settings(
            _env_file=None, environment="test", data_dir=folder, database_url=url, rate_limit_enabled=False
        ).ready()
        self.wiring: Wiring = wire(settings)
        self.database = self.wiring.database
        migrations.upgrade(self.database.engine)
        self.jobs = InlineEngine(self.database.engine)
        self.jobs.prepare()
        register_all(self.jobs, self.wiring)
        self.wiring.attach(self.jobs)
        self.cast: Cast = assemble(self.database)
        self.camps: Camps = populate(
            self.database,
            self.cast.community_id,
            raters=max(30, ratings // 50),
            notes=max(60, ratings // 50),
            ratings=ratings,
        )
        self.decide_all()
        with self.database.writing() as session:
            if session.get_bind().dialect.name == "postgresql":
                session.execute(sa.text("ANALYZE"))
        self.app: Flask = create_app(self.wiring)

    def api(self) -> Call:
        """An integration that rates for many of its people."""
        client, number = self.app.test_client(), [0]

        def call(note_id: uuid.UUID, level: str) -> None:
            number[0] += 1
            rating = {
                "note_id": str(note_id),
                "rater_id": f"bench-{number[0] % 40}",
                "helpfulness_level": level,
            }
            answer = client.post(
                "/api/public/v1/ratings",
                json={"data": {"type": "ratings", "attributes": rating}},
                headers={**self.cast.headers, "X-Adapter-Platform": PLATFORM},
            )
            if answer.status_code not in (200, 201):
                raise SystemExit(f"API: {answer.status_code} {answer.text[:200]}")

        return call

    def web(self) -> Call:
        """A person who is signed in."""
        client = self.app.test_client()
        with self.database.writing() as session:
            account = session.get_one(Account, self.cast.rater.account_id)
            client.set_cookie("bridgenote", sessions.begin(session, account, "Bench"))
        found = re.search(r'name="csrf_token" value="([^"]+)"', client.get("/settings").text)
        if found is None:
            raise SystemExit("the settings page has no form")

        def call(note_id: uuid.UUID, level: str) -> None:
            answer = client.post(
                f"/notes/{note_id}/rating",
                data={
                    "csrf_token": found[1],
                    f"note-{note_id}-level": level,
                    f"note-{note_id}-good": "clear",
                    f"note-{note_id}-bad": "unclear",
                },
                headers={"HX-Request": "true"},
            )
            if answer.status_code != 200:
                raise SystemExit(f"web: {answer.status_code} {answer.text[:200]}")

        return call

    def measure(self, call: Call, going: Callable[[int], bool]) -> list[float]:
        """Milliseconds of each call, for as long as it is ``going``."""
        taken: list[float] = []
        while going(len(taken)):
            number = len(taken)
            began = time.perf_counter()
            call(self.camps.notes[number * 37 % len(self.camps.notes)], LEVELS[number % 2])
            taken.append((time.perf_counter() - began) * 1000)
            time.sleep(PAUSE)
        return taken

    def decide_all(self) -> None:
        """Give every note the status that a refit would give it, at one stroke: this community is not a new one."""
        with self.database.writing() as session:
            lease = refits.take(session, self.cast.community_id)
        if lease is None:
            raise SystemExit("the refit was not due")
        with self.database.reading() as session:
            snapshot = refits.read(session, lease)
        scores = scoring.score(snapshot.note_numbers, snapshot.rater_numbers, snapshot.values, snapshot.facts)
        note = Note.__table__
        with self.database.writing() as session:
            session.connection().execute(
                sa.update(note)
                .where(note.c.id == sa.bindparam("note"))
                .values(status=sa.bindparam("became")),
                [
                    {"note": snapshot.notes[number].id, "became": NoteStatus(status)}
                    for number, status in zip(scores.note_ids.tolist(), scores.statuses.tolist(), strict=True)
                ],
            )
            refits.give_back(session, lease)

    def refit(self) -> float:
        """Seconds that a whole refit takes."""
        with self.database.writing() as session:
            refits.ask(session, self.cast.community_id)
        began = time.perf_counter()
        if not rescoring.refit(self.database, self.cast.community_id):
            raise SystemExit("the refit was not due")
        return time.perf_counter() - began

    def while_refitting(self, call: Call) -> tuple[list[float], float]:
        seconds: list[float] = []
        thread = threading.Thread(target=lambda: seconds.append(self.refit()))
        thread.start()
        taken = self.measure(call, lambda _: thread.is_alive())
        thread.join()
        return taken, seconds[0]


def report(name: str, bench: Bench) -> None:
    table = Table(title=f"A rating among {bench.camps.ratings:,} on {name}: milliseconds")
    for column in ("call", "refit", "calls", "p50", "p95", "most"):
        table.add_column(column, justify="left" if column in ("call", "refit") else "right")

    def row(label: str, state: str, taken: list[float]) -> None:
        ordered = sorted(taken)
        p95 = ordered[int(0.95 * (len(ordered) - 1))]
        table.add_row(
            label,
            state,
            str(len(ordered)),
            f"{ordered[len(ordered) // 2]:.1f}",
            f"{p95:.1f}",
            f"{ordered[-1]:.1f}",
        )

    api, web = bench.api(), bench.web()
    calls = {"API": api, "web": web}
    first = bench.refit()
    with bench.database.reading() as session:
        stored = session.scalars(sa.select(ScoringModel).order_by(ScoringModel.version.desc())).first()
        regime = stored.regime if stored else "cold"
        fit = session.scalars(sa.select(ScoringState.fit_milliseconds)).one()
    for label, call in calls.items():
        bench.measure(call, lambda done: done < 20)
        row(label, "none", bench.measure(call, lambda done: done < CALLS))
    for label, call in calls.items():
        taken, seconds = bench.while_refitting(call)
        row(label, f"running ({seconds:.1f} s)", taken)
    console = Console()
    console.print(table)
    console.print(
        f"regime {regime}; the first refit took {first:.1f} s, {fit / 1000:.1f} s of it reading and computing"
    )


@contextmanager
def databases(wanted: str) -> Iterator[list[tuple[str, str]]]:
    """Name and URL of each database to measure; PostgreSQL only where it is installed."""
    with ExitStack() as stack:
        found = []
        if wanted in ("", "sqlite"):
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bridgenote-bench-")))
            found.append(("SQLite", f"sqlite:///{folder / 'bench.db'}"))
        if wanted in ("", "postgresql"):
            try:
                postgres.binaries()
            except RuntimeError as error:
                print(error)
            else:
                server = stack.enter_context(postgres.running())
                found.append(("PostgreSQL", server.url(server.create())))
        yield found


def main() -> None:
    ratings = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    wanted = sys.argv[2] if len(sys.argv) > 2 else ""
    with databases(wanted) as found:
        for name, url in found:
            with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as folder:
                began = time.perf_counter()
                bench = Bench(url, Path(folder), ratings)
                print(f"{name}: {ratings:,} ratings made in {time.perf_counter() - began:.0f} s")
                report(name, bench)
                bench.database.dispose()


if __name__ == "__main__":
    main()
