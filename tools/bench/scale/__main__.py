"""``python -m tools.bench.scale``: fills a database, walks it, prints figures."""

import argparse
import tempfile
import time
from collections.abc import Iterator, Sequence
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
def filled(requests: int, server: postgres.Server | None, copies: int = 1) -> Iterator[tuple[Wiring, Cast]]:
    """A database with so many requests, on the server or in a file; ``copies``: of so many times fewer."""
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
        filler = Filler(wiring.database, cast, requests // copies, copies=copies)
        filler.run()
        filler.live()
        _roll_up(wiring.database)
        engine = wiring.database.engine
        if server:
            with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                # VACUUM marks no page as visible to all before the commits are on the disk.
                connection.exec_driver_sql("SET synchronous_commit = on")
                connection.exec_driver_sql("CHECKPOINT")
                connection.exec_driver_sql("VACUUM ANALYZE")
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


def walked(wiring: Wiring, cast: Cast, requests: int, *, only: str, times: int) -> Iterator[walk.Figures]:
    """Yield the figures of everything whose name has ``only`` in it; of what is not printed anyway by fewer calls."""
    recorder = walk.Recorder(wiring.database.engine)
    for visit in walk.visits(create_app(wiring), wiring, cast, requests):
        if only in visit.name:
            yield walk.measure(recorder, visit, times if visit.group == visit.name else min(3, times))


def most_expensive(found: Sequence[walk.Figures]) -> list[walk.Figures]:
    """Of each group the slowest, and the one that reads most."""
    groups: dict[str, list[walk.Figures]] = {}
    for one in found:
        groups.setdefault(one.group, []).append(one)
    chosen = []
    for of_one in groups.values():
        slowest = max(of_one, key=lambda one: one.p50)
        largest = max(of_one, key=lambda one: one.blocks or 0)
        chosen += [slowest] if largest.blocks in (None, slowest.blocks) else [slowest, largest]
    return chosen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, default=1_000_000, help="how many requests")
    parser.add_argument(
        "--copies", type=int, default=1, help="PostgreSQL: make so many times fewer, and copy them by SQL"
    )
    parser.add_argument("--database", choices=("postgresql", "sqlite"), default="postgresql")
    parser.add_argument("--only", default="", help="pages whose name has this in it")
    parser.add_argument("--times", type=int, default=21, help="how often each is called")
    parser.add_argument("--all", action="store_true", help="print every call of a list, not only the worst")
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
        place = server if chosen.database == "postgresql" else None
        with filled(chosen.large, place, chosen.copies) as (wiring, cast):
            if chosen.migrate:
                for name, seconds in migrating.there_and_back(wiring).items():
                    Console(width=110).print(
                        f"{chosen.database}, {chosen.large:,} requests, {name}: {seconds:.1f} s"
                    )
                return
            for analysed in (False, True) if place is None else (True,):
                if analysed:
                    with wiring.database.engine.execution_options(writing=True).begin() as connection:
                        connection.exec_driver_sql("ANALYZE")
                found = list(walked(wiring, cast, chosen.large, only=chosen.only, times=chosen.times))
                title = f"{chosen.database}: {chosen.large:,} requests"
                show(title if analysed else f"{title}, no statistics", found, chosen)


def show(title: str, found: Sequence[walk.Figures], chosen: argparse.Namespace) -> None:
    table = Table(title=title)
    for heading in ("page or call", "p50 ms", "p95 ms", "statements", "blocks"):
        table.add_column(heading, justify="left" if heading == "page or call" else "right")
    for one in found if chosen.all else most_expensive(found):
        blocks = "–" if one.blocks is None else f"{one.blocks:,}"
        table.add_row(one.name, f"{one.p50:.0f}", f"{one.p95:.0f}", str(one.statements), blocks)
    Console(width=140).print(table)
    if chosen.worst:
        for one in found:
            if (one.blocks or 0) > 20_000:
                print(f"\n== {one.name}: {one.blocks:,} blocks\n{one.worst}")


if __name__ == "__main__":
    main()
