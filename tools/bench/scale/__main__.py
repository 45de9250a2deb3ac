"""``python -m tools.bench.scale``: fills two databases, walks both, prints figures and ratios."""

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from app import create_app, migrations
from app.core.db import Database
from app.core.insights import rollups
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import postgres
from tests.cast import Cast, assemble
from tests.inline_engine import InlineEngine
from tools.bench.scale import migrating, walk
from tools.bench.scale.fill import Filler


@contextmanager
def filled(requests: int, server: postgres.Server | None) -> Iterator[tuple[Wiring, Cast]]:
    """A database with so many requests, on the server or in a file."""
    with tempfile.TemporaryDirectory(prefix="bridgenote-scale-") as folder:
        own = {"database_url": server.url(server.create())} if server else {}
        settings = Settings(
            _env_file=None, environment="test", data_dir=Path(folder), rate_limit_enabled=False, **own
        ).ready()
        wiring = wire(settings)
        migrations.upgrade(wiring.database.engine)
        jobs = InlineEngine(wiring.database.engine)
        jobs.prepare()
        wiring.attach(jobs)
        cast = assemble(wiring.database)
        begin = time.perf_counter()
        filler = Filler(wiring.database, cast, requests)
        filler.run()
        filler.live()
        _roll_up(wiring.database)
        engine = wiring.database.engine
        if server:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                # VACUUM marks no page as visible to all before the commits are on the disk.
                connection.exec_driver_sql("SET synchronous_commit = on")
                connection.exec_driver_sql("CHECKPOINT")
                connection.exec_driver_sql("VACUUM")
        with engine.execution_options(writing=True).begin() as connection:
            connection.exec_driver_sql("ANALYZE")
        Console(stderr=True).print(f"{requests:,} requests filled in {time.perf_counter() - begin:.0f} s")
        try:
            yield wiring, cast
        finally:
            wiring.database.dispose()


def _roll_up(database: Database) -> None:
    """Count the statistics, as the hourly job does."""
    with database.reading() as session:
        due = rollups.due(session)
    for community_id in due:
        is_last = False
        while not is_last:
            with database.writing() as session:
                is_last = rollups.roll_up(session, community_id)


Filled = tuple[Wiring, Cast, int]


def figures(*databases: Filled, only: str) -> Iterator[list[walk.Figures]]:
    """Yield the figures of everything whose name has ``only`` in it, for each database."""
    visits = [walk.visits(create_app(wiring), wiring, cast, requests) for wiring, cast, requests in databases]
    recorders = [walk.Recorder(wiring.database.engine) for wiring, *_ in databases]
    for name in visits[0]:
        if only in name:
            yield walk.measure(name, list(zip(recorders, (sends[name] for sends in visits), strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=1_000_000)
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--only", default="", help="pages whose name has this in it")
    parser.add_argument(
        "--worst", action="store_true", help="also print the statement that touches most blocks"
    )
    parser.add_argument(
        "--migrate",
        action="store_true",
        help="instead: to the version before and back, with --large requests",
    )
    chosen = parser.parse_args()
    with postgres.running() as server:
        if chosen.migrate:
            place = server if chosen.database == "postgresql" else None
            with filled(chosen.large, place) as (wiring, _):
                for name, seconds in migrating.there_and_back(wiring).items():
                    Console(width=110).print(
                        f"{chosen.database}, {chosen.large:,} requests, {name}: {seconds:.1f} s"
                    )
            return
        place = server if chosen.database == "postgresql" else None
        with filled(chosen.small, place) as few, filled(chosen.large, place) as many:
            found = list(figures((*few, chosen.small), (*many, chosen.large), only=chosen.only))
    table = Table(title=f"{chosen.database}: {chosen.large:,} requests beside {chosen.small:,}")
    for heading in (
        "page or call",
        "p50 ms",
        "large",
        "×",
        "p95 ms",
        "large",
        "×",
        "statements",
        "large",
        "blocks",
        "large",
    ):
        table.add_column(heading, justify="left" if heading == "page or call" else "right")
    for one, other in found:
        table.add_row(
            one.name,
            f"{one.p50:.0f}",
            f"{other.p50:.0f}",
            f"{other.p50 / one.p50:.1f}",
            f"{one.p95:.0f}",
            f"{other.p95:.0f}",
            f"{other.p95 / one.p95:.1f}",
            str(one.statements),
            str(other.statements),
            *(f"{of.blocks:,}" if of.blocks is not None else "–" for of in (one, other)),
        )
    Console(width=120).print(table)
    if chosen.worst:
        for _, other in found:
            if (other.blocks or 0) > 2_000:
                print(f"\n== {other.name}: {other.blocks:,} blocks\n{other.worst}")


if __name__ == "__main__":
    main()
