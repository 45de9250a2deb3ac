"""Matching posts with 15,000 fact-checks (``--sizes`` for others), on SQLite and PostgreSQL, by words and by vectors.

Texts are made of made-up words that are as unevenly frequent as those of a language. A post holds two thirds of a
claim's words among twenty others. Vectors are random: how long a search takes does not depend on what they mean.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import sqlalchemy as sa
from rich.console import Console
from rich.table import Table
from sqlalchemy.orm import Session

from app import migrations
from app.core import clock
from app.core.db import Database
from app.core.factcheck import filling, pgvectors, search
from app.core.factcheck.items import Item
from app.core.factcheck.matching.candidates import NEAR_MOST
from app.core.factcheck.nearest import Nearest, Vectors
from app.core.factcheck.storing import keep
from app.core.ids import new_id
from app.core.models import ConnectedService, VectorSpace
from app.core.vocabulary import ServiceMode
from app.jobs import embedding
from tests import postgres
from tests.cast import assemble

POSTS, BATCH, DIMENSIONS = 200, 250, 384
_SYLLABLES = [first + last for first in "bdfgklmnprstvz" for last in "aeiou"]


def words() -> Callable[[int], list[str]]:
    """Draws words: the first ones often, most of the 40,000 rarely (Zipf)."""
    chance = random.Random(7)  # noqa: S311 - the same texts each time
    known = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) + "x" for _ in range(40_000)]
    sums = np.cumsum(1.0 / (np.arange(len(known)) + 3.0)).tolist()
    return lambda count: chance.choices(known, cum_weights=sums, k=count)


def fill(database: Database, draw: Callable[[int], list[str]], have: int, want: int) -> list[str]:
    """Import fact-checks until there are ``want``; return the new claims."""
    claims = []
    for start in range(have, want, BATCH):
        some = []
        for number in range(start, min(start + BATCH, want)):
            claims.append(" ".join(draw(14)))
            address = f"https://checks.example.org/{number}"
            title = " ".join(draw(8))
            some.append(
                Item("bench", str(number), claims[-1], "False", address, "Bench", title=title, language="en")
            )
        with database.writing() as session:
            keep(session, some)
    return claims


def posts(draw: Callable[[int], list[str]], claims: Sequence[str]) -> list[str]:
    chance = random.Random(11)  # noqa: S311 - as above
    return [" ".join([*claim.split()[:9], *draw(20)]) for claim in chance.sample(claims, POSTS)]


def space_of(database: Database, community_id: uuid.UUID) -> uuid.UUID:
    """A space of random vectors, one for each fact-check, of a service that is never asked; one for all sizes."""
    dice = np.random.default_rng(3)
    with database.writing() as session:
        known = session.scalars(sa.select(VectorSpace.id)).first()
    if known is not None:
        follow(database, known, dice)
        return known
    with database.writing() as session:
        service = ConnectedService(
            id=new_id(), community_id=community_id, kind="embeddings", name="bench", mode=ServiceMode.OFF
        )
        session.add(service)
        session.flush()
        space = VectorSpace(
            id=new_id(), service_id=service.id, settings_version=1, identity="bench", dimensions=DIMENSIONS
        )
        session.add(space)
    follow(database, space.id, dice)
    return space.id


def follow(database: Database, space_id: uuid.UUID, dice: np.random.Generator) -> None:
    """Give a random vector to each fact-check that has none."""
    while True:
        with database.writing() as session:
            rows = filling.pending(session, space_id, None, 1_000)
            if not rows:
                return
            vectors = dice.normal(size=(len(rows), DIMENSIONS)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            filling.store(
                session,
                space_id,
                [(row, filling.packed(vector)) for row, vector in zip(rows, vectors, strict=True)],
            )


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
            print(f"{name}: {size:,} fact-checks", file=sys.stderr)
            with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                # What either database does by itself within minutes of such an import.
                connection.execute(sa.text("ANALYZE" if name == "SQLite" else "VACUUM ANALYZE"))
            for label, ask in ways(database, cast.community_id, only_words=chosen.words):
                texts = posts(draw, claims)
                for text in texts[:10]:
                    ask(text)
                figures = [f"{figure:.0f}" for figure in measure(database, ask, texts[10:])]
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

    def near(session: Session, in_database: bool) -> Nearest:
        asked = dice.normal(size=DIMENSIONS).astype(np.float32)
        asked /= np.linalg.norm(asked)
        if in_database:
            return pgvectors.nearest(session, space_id, asked, NEAR_MOST)
        return kept.nearest(session, space_id, asked, NEAR_MOST)

    def by_vectors(text: str, in_database: bool = False) -> object:
        with database.reading() as session:
            return search.find(session, text, community_id, "en", near(session, in_database))

    yield "words and vectors in memory", by_vectors
    with database.reading() as session:
        found = pgvectors.extension(session)
    if found is not None:
        with database.writing() as session:
            session.get_one(VectorSpace, space_id).complete_at = clock.now()
            pgvectors.switch_on(session)
        begin = time.monotonic()
        embedding.follow_in_postgresql(database)
        print(f"pgvector {found.offered}: index made in {time.monotonic() - begin:.0f} s", file=sys.stderr)
        yield "words and pgvector", lambda text: by_vectors(text, True)


if __name__ == "__main__":
    main()
