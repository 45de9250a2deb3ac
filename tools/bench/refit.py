"""A whole refit of one large community, as a worker makes it: read, fitted, written, settled; and who rates beside it.

    python -m tools.bench.refit [ratings] [sqlite|postgresql] [--notes 209000]

The refit runs in a process of its own, and its peak memory is that of this process; "idle" is what it had before.
Two refits are timed: the first, after which nearly every score differs, and one after another hundredth of the
ratings, which is what a community sees every day. Ratings are server time of whole calls of the API, without a
network, with and without a refit beside them.
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from app import create_app, migrations
from app.core import clock, scoring
from app.core.db import Base, Database
from app.core.helpfulness import refits
from app.core.ids import new_id
from app.core.models import Note, Profile, Rating, ScoringState
from app.core.people import profiles
from app.core.vocabulary import Classification, HelpfulnessLevel, NoteStatus
from app.jobs import rescoring
from app.jobs.registry import register_all
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import bulk
from tests.cast import PLATFORM, Cast, assemble
from tests.inline_engine import InlineEngine
from tools.bench.rating import databases
from tools.bench.scoring import community

GOAL = 1_130_000
CALLS = 300
PAUSE = 0.02
EVERY = 100
"""One rating of so many changes before the second refit."""
LEVELS = {
    0.0: HelpfulnessLevel.NOT_HELPFUL,
    0.5: HelpfulnessLevel.SOMEWHAT_HELPFUL,
    1.0: HelpfulnessLevel.HELPFUL,
}
STAGES = ("read", "fit", "write", "catch up", "scores", "settle", "clear")
Call = Callable[[int], None]


class Bench:
    """The service over one database, with one large community."""

    def __init__(self, url: str, folder: Path, ratings: int, notes: int) -> None:
        self.url, self.folder, self.ratings = url, folder, ratings
        self.wiring = wired(url, folder)
        migrations.upgrade(self.wiring.database.engine)
        self.cast: Cast = assemble(self.wiring.database)
        self.chance = random.Random(3)  # noqa: S311 - the same ratings each time, nothing secret
        self.notes, self.some = fill(self.wiring.database, self.cast.community_id, ratings, notes)
        decide_all(self.wiring.database, self.cast.community_id)
        with self.wiring.database.writing() as session:
            session.execute(sa.text("ANALYZE"))

    def call(self) -> Call:
        """An integration that rates for many of its people, each time another note."""
        client = create_app(self.wiring).test_client()
        headers = {**self.cast.headers, "X-Adapter-Platform": PLATFORM}

        def call(number: int) -> None:
            rating = {
                "note_id": str(self.notes[number * 37 % len(self.notes)]),
                "rater_id": f"bench-{number % 40}",
                "helpfulness_level": ("HELPFUL", "NOT_HELPFUL")[number % 2],
            }
            given = {"data": {"type": "ratings", "attributes": rating}}
            answer = client.post("/api/public/v1/ratings", json=given, headers=headers)
            if answer.status_code not in (200, 201):
                raise SystemExit(f"API: {answer.status_code} {answer.text[:200]}")

        return call

    def refit(self) -> dict[str, float]:
        """What the worker says of its refit."""
        with self.wiring.database.writing() as session:
            refits.ask(session, self.cast.community_id)
        words = ["--work", self.url, str(self.folder), str(self.cast.community_id)]
        child = subprocess.run(
            [sys.executable, "-m", "tools.bench.refit", *words], check=True, stdout=subprocess.PIPE, text=True
        )
        said: dict[str, float] = json.loads(child.stdout.splitlines()[-1])
        return said

    def change_some(self) -> None:
        """Other answers in a hundredth of the ratings, at one stroke: no rating settles its own note, as it would."""
        rating, note = Rating.__table__, Note.__table__
        answers = list(HelpfulnessLevel)
        changes = [{"rating": one, "level": self.chance.choice(answers)} for one, _ in self.some]
        touched = Counter(note_id for _, note_id in self.some)
        with self.wiring.database.writing() as session:
            session.connection().execute(
                sa.update(rating)
                .where(rating.c.id == sa.bindparam("rating"))
                .values(helpfulness_level=sa.bindparam("level")),
                changes,
            )
            session.connection().execute(
                sa.update(note)
                .where(note.c.id == sa.bindparam("note"))
                .values(rating_changes=note.c.rating_changes + sa.bindparam("times")),
                [{"note": one, "times": times} for one, times in touched.items()],
            )


def wired(url: str, folder: Path) -> Wiring:
    settings = Settings(
        _env_file=None, environment="test", data_dir=folder, database_url=url, rate_limit_enabled=False
    ).ready()
    wiring = wire(settings)
    jobs = InlineEngine(wiring.database.engine)
    jobs.prepare()
    register_all(jobs, wiring)
    wiring.attach(jobs)
    return wiring


Some = list[tuple[uuid.UUID, uuid.UUID]]
"""Ratings and their notes."""


def fill(
    database: Database, community_id: uuid.UUID, count: int, notes_count: int
) -> tuple[list[uuid.UUID], Some]:
    """Write the community of ``tools.bench.scoring``; return its notes, and one rating of each hundred."""
    note_numbers, rater_numbers, values = community(count, notes=notes_count)
    notes = {number: new_id() for number in np.unique(note_numbers).tolist()}
    raters = {number: new_id() for number in np.unique(rater_numbers).tolist()}
    per_note = dict(
        zip(*(column.tolist() for column in np.unique(note_numbers, return_counts=True)), strict=True)
    )
    with database.writing() as session:
        author = profiles.of_service(session).id
    begin = clock.now() - timedelta(days=3)
    stamps = {"created_at": begin, "updated_at": begin}
    fixed = {"community_id": community_id, **stamps}
    people = [
        {
            "id": identity,
            "platform": "bench",
            "platform_user_id": f"rater-{number}",
            "provider_scope": "",
            **stamps,
        }
        for number, identity in raters.items()
    ]
    written = [
        {
            "id": identity,
            "author_id": author,
            "author_ref": str(author),
            "summary": "A note",
            "classification": Classification.MISLEADING,
            "status": NoteStatus.NEEDS_MORE_RATINGS,
            "ratings_count": per_note[number],
            **fixed,
        }
        for number, identity in notes.items()
    ]
    some: Some = []

    def given() -> Iterator[dict[str, Any]]:
        columns = (note_numbers.tolist(), rater_numbers.tolist(), values.tolist())
        for place, (note, rater, value) in enumerate(zip(*columns, strict=True)):
            identity = new_id()
            if place % EVERY == 0:
                some.append((identity, notes[note]))
            yield {
                "id": identity,
                "note_id": notes[note],
                "rater_id": raters[rater],
                "rater_ref": str(raters[rater]),
                "helpfulness_level": LEVELS[value],
            }

    _write(database, Profile, iter(people), {})
    _write(database, Note, iter(written), {})
    _write(database, Rating, given(), {"note_version": 1, **fixed})
    with database.writing() as session:
        session.add(
            ScoringState(
                community_id=community_id, ratings_since=count, refit_due_at=clock.now(), ratings_fitted=0
            )
        )
    return list(notes.values()), some


def _write(
    database: Database, model: type[Base], rows: Iterator[dict[str, Any]], same: dict[str, Any]
) -> None:
    """Write rows: by COPY on PostgreSQL. What is the ``same`` in all of them is converted only once."""
    table: sa.Table = model.__table__  # type: ignore[assignment]
    dialect = database.engine.dialect
    with database.engine.connect().execution_options(writing=True) as connection:
        first = next(rows)
        columns = [one for one in table.columns if one.key in {**bulk.defaults(table), **same, **first}]
        plain: list[Callable[[Any], Any]] = [
            one.type.bind_processor(dialect) or (lambda value: value) for one in columns
        ]
        constant = {**bulk.defaults(table), **same}
        ready = [
            None if one.key in first else _plain(change(constant[one.key]))
            for one, change in zip(columns, plain, strict=True)
        ]
        varying = [(place, one.key, plain[place]) for place, one in enumerate(columns) if one.key in first]

        def complete() -> Iterator[list[Any]]:
            for row in chain([first], rows):
                values = ready.copy()
                for place, key, change in varying:
                    values[place] = change(row[key])
                yield values

        driver = connection.connection.driver_connection
        names = ", ".join(f'"{one.name}"' for one in columns)
        if dialect.name == "postgresql":
            connection.execute(sa.text("SET session_replication_role = replica"))
            with driver.cursor() as cursor, cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:  # type: ignore[union-attr]
                for values in complete():
                    copy.write_row(values)
        else:
            marks = ", ".join("?" * len(columns))
            connection.execute(sa.text("SELECT 1"))
            driver.executemany(f'INSERT INTO "{table.name}" ({names}) VALUES ({marks})', complete())  # type: ignore[union-attr] # noqa: S608 # names of our own tables
        connection.commit()


def _plain(value: Any) -> Any:
    return json.dumps(value) if isinstance(value, dict | list) else value


def decide_all(database: Database, community_id: uuid.UUID) -> None:
    """Give every note the status that a refit would give it, at one stroke: this community is not a new one."""
    with database.writing() as session:
        lease = refits.take(session, community_id)
    if lease is None:
        raise SystemExit("the refit was not due")
    with database.reading() as session:
        snapshot = refits.read(session, lease)
    scores = scoring.score(snapshot.note_numbers, snapshot.rater_numbers, snapshot.values, snapshot.facts)
    note = Note.__table__
    with database.writing() as session:
        session.connection().execute(
            sa.update(note).where(note.c.id == sa.bindparam("note")).values(status=sa.bindparam("became")),
            [
                {"note": snapshot.notes[number].id, "became": NoteStatus(status)}
                for number, status in zip(scores.note_ids.tolist(), scores.statuses.tolist(), strict=True)
            ],
        )
        refits.give_back(session, lease)


def work(url: str, folder: str, community_id: str) -> None:
    """Refit once, and print how long each stage took and how much memory all of it."""
    database = wired(url, Path(folder)).database
    spent: dict[str, float] = dict.fromkeys(STAGES, 0.0)
    numbers = {"ratings": 0.0, "settled": 0.0, "moved": 0.0}

    def timed(
        module: Any, name: str, stage: str, sizes: Callable[..., dict[str, float]] | None = None
    ) -> None:
        plain = getattr(module, name)

        def call(*args: Any, **options: Any) -> Any:
            began = time.perf_counter()
            result = plain(*args, **options)
            spent[stage] += time.perf_counter() - began
            for key, number in (sizes(args, result) if sizes else {}).items():
                numbers[key] += number
            return result

        setattr(module, name, call)

    timed(refits, "read", "read", lambda _, read: {"ratings": len(read.values)})
    timed(scoring, "score", "fit")
    timed(rescoring, "_take_over", "write")
    timed(rescoring, "_catch_up", "catch up")
    timed(rescoring, "_move", "scores", lambda args, _: {"moved": len(args[4])})
    timed(rescoring, "_settle", "settle", lambda args, _: {"settled": len(args[1])})
    timed(rescoring, "_clear", "clear")
    idle = _megabytes("VmRSS")
    began, used = time.perf_counter(), time.process_time()
    if not rescoring.refit(database, uuid.UUID(community_id)):
        raise SystemExit("the refit was not due")
    spent["write"] -= spent["catch up"]
    whole = {"whole": time.perf_counter() - began, "cpu": time.process_time() - used}
    print(json.dumps({**spent, **numbers, **whole, "idle": idle, "peak": _megabytes("VmHWM")}))
    database.dispose()


def _megabytes(what: str) -> float:
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(f"{what}:")) / 1024


def measure(call: Call, start: int, going: Callable[[int], bool]) -> list[float]:
    """Milliseconds of each call, for as long as it is ``going``."""
    taken: list[float] = []
    while going(len(taken)):
        began = time.perf_counter()
        call(start + len(taken))
        taken.append((time.perf_counter() - began) * 1000)
        time.sleep(PAUSE)
    return taken


def _while_running(refit: "Future[Any]") -> Callable[[int], bool]:
    return lambda _: not refit.done()


def percentiles(taken: Sequence[float]) -> tuple[str, str, str]:
    ordered = sorted(taken)
    chosen = (ordered[len(ordered) // 2], ordered[int(0.95 * (len(ordered) - 1))], ordered[-1])
    p50, p95, most = (f"{value:.1f}" for value in chosen)
    return p50, p95, most


def report(name: str, bench: Bench) -> None:
    refit_table = Table(title=f"A refit of {bench.ratings:,} ratings on {name}: seconds, MB")
    heads = (
        "refit",
        "rows read/s",
        *STAGES,
        "whole",
        "processor",
        "idle MB",
        "peak MB",
        "notes moved",
        "settled",
    )
    for head in heads:
        refit_table.add_column(head, justify="left" if head == "refit" else "right")

    def row(label: str, said: dict[str, float]) -> None:
        stages = [f"{said[stage]:.1f}" for stage in (*STAGES, "whole", "cpu")]
        counted = [f"{said['moved']:,.0f}", f"{said['settled']:,.0f}"]
        read = f"{said['ratings'] / said['read']:,.0f}"
        refit_table.add_row(label, read, *stages, f"{said['idle']:.0f}", f"{said['peak']:.0f}", *counted)

    row("first", bench.refit())
    bench.change_some()
    row("after 1 % more", bench.refit())
    call, done = bench.call(), 0
    measure(call, 0, lambda made: made < 40)
    rating_table = Table(title="Ratings by the API: milliseconds")
    for head in ("refit", "calls", "p50", "p95", "most"):
        rating_table.add_column(head, justify="left" if head == "refit" else "right")

    def rated(label: str, taken: list[float]) -> None:
        nonlocal done
        done += len(taken)
        rating_table.add_row(label, str(len(taken)), *percentiles(taken))

    for turn in ("first", "second"):
        rated("none", measure(call, done, lambda made: made < CALLS))
        bench.change_some()
        with ThreadPoolExecutor(1) as pool:
            refit = pool.submit(bench.refit)
            rated("running", measure(call, done, _while_running(refit)))
        row(f"with ratings, {turn}", refit.result())
    console = Console(width=160)
    console.print(refit_table)
    console.print(rating_table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ratings", type=int, nargs="?", default=GOAL)
    parser.add_argument("database", choices=("sqlite", "postgresql"), nargs="?", default="")
    parser.add_argument("--notes", type=int, default=0, help="how many; otherwise one for each 30 ratings")
    chosen = parser.parse_args()
    with databases(chosen.database) as found:
        for name, url in found:
            with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as folder:
                began = time.perf_counter()
                bench = Bench(url, Path(folder), chosen.ratings, chosen.notes)
                print(
                    f"{name}: {chosen.ratings:,} ratings of {len(bench.notes):,} notes made in "
                    f"{time.perf_counter() - began:.0f} s",
                    flush=True,
                )
                report(name, bench)
                bench.wiring.database.dispose()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(*sys.argv[2:5])
    else:
        main()
