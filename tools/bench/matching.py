"""Matching posts with 15,000 fact-checks (``--sizes`` for others), on SQLite and PostgreSQL, by words and by vectors.

Texts are made of made-up words that are as unevenly frequent as those of a language. A post holds two thirds of a
claim's words among twenty others. Vectors are random: how long a search takes does not depend on what they mean.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from app import migrations
from app.core.db import Database
from app.core.factcheck import search
from app.core.factcheck.matching.matcher import NEAR_MOST
from app.core.factcheck.nearest import Vectors
from tests import postgres
from tests.cast import assemble
from tools.bench._fact_checks import DIMENSIONS, Draw, fill, say, space_of, words

POSTS = 200


def posts(draw: Draw, claims: Sequence[str]) -> list[str]:
    chance = random.Random(11)  # noqa: S311 - as above
    return [" ".join([*claim.split()[:9], *draw(20)]) for claim in chance.sample(claims, POSTS)]


def measure(database: Database, ask: Callable[[str], object], texts: Sequence[str]) -> list[float]:
    """Milliseconds: by the clock p50 and p95, of this process alone p95, and of it and PostgreSQL's on average."""
    clock_times, own = [], []
    before = of_server(database)
    for text in texts:
        begin, used = time.perf_counter(), time.thread_time()
        ask(text)
        clock_times.append((time.perf_counter() - begin) * 1000)
        own.append((time.thread_time() - used) * 1000)
    server = (of_server(database) - before) * 1000 / len(texts)
    p95 = [statistics.quantiles(times, n=20)[-1] for times in (clock_times, own)]
    return [statistics.median(clock_times), *p95, statistics.mean(own) + server]


def of_server(database: Database) -> float:
    """Seconds of processor time that PostgreSQL has used for our connection, if it runs on this machine."""
    if database.engine.dialect.name != "postgresql":
        return 0.0
    with database.reading() as session:
        pid = session.scalar(sa.text("SELECT pg_backend_pid()"))
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def databases(only: str | None) -> Iterator[tuple[str, Database]]:
    if only in (None, "sqlite"):
        with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as folder:
            yield "SQLite", Database(f"sqlite:///{Path(folder) / 'bench.db'}")
    if only in (None, "postgresql"):
        with postgres.running() as server:
            yield "PostgreSQL", Database(server.url(server.create()))
    if only is not None and "://" in only:
        yield only.split("/")[2], Database(only)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=[15_000])
    options.add_argument(
        "--database", help="sqlite, postgresql or the address of an empty database; both by default"
    )
    options.add_argument("--words", action="store_true", help="only by words, without vectors")
    chosen = options.parse_args()
    table = Table(title=f"Matching a post, {POSTS} posts")
    for heading in (
        "database",
        "fact-checks",
        "found by",
        "ms p50",
        "ms p95",
        "of this process p95",
        "of both, mean",
    ):
        table.add_column(heading, justify="left" if heading in {"database", "found by"} else "right")
    for name, database in databases(chosen.database):
        migrations.upgrade(database.engine)
        cast, draw = assemble(database), words()
        claims: list[str] = []
        for size in chosen.sizes:
            claims += fill(database, draw, len(claims), size)
            begun = time.monotonic()
            with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                # What either database does by itself within minutes of such an import.
                connection.execute(sa.text("ANALYZE" if name == "SQLite" else "VACUUM ANALYZE"))
            say(f"{name}: {size:,} fact-checks, analysed", begun)
            for label, ask in ways(database, cast.community_id, only_words=chosen.words):
                texts = posts(draw, claims)
                for text in texts[:10]:
                    ask(text)
                begun = time.monotonic()
                figures = [f"{figure:.0f}" for figure in measure(database, ask, texts[10:])]
                say(f"  {label}: p50 {figures[0]} ms, p95 {figures[1]} ms", begun)
                table.add_row(name, f"{size:,}", label, *figures)
        database.dispose()
    Console(width=110).print(table)


def ways(
    database: Database, community_id: uuid.UUID, *, only_words: bool
) -> Iterator[tuple[str, Callable[[str], object]]]:
    """Ways to match a post. Its vector is made up here, so what a service takes to answer is left out."""

    def by_words(text: str) -> object:
        with database.reading() as session:
            return search.find(session, text, community_id, "en")

    yield "words", by_words
    if only_words:
        return
    kept, dice = Vectors(), np.random.default_rng(9)
    space_id = space_of(database, community_id)

    def by_vectors(text: str) -> object:
        asked = dice.normal(size=DIMENSIONS).astype(np.float32)
        asked /= np.linalg.norm(asked)
        with database.reading() as session:
            near = kept.nearest(session, space_id, asked, NEAR_MOST)
            return search.find(session, text, community_id, "en", near)

    yield "words and vectors in memory", by_vectors


if __name__ == "__main__":
    main()
