"""Made-up fact-checks by the hundred thousand, written into a database in bulk (``tools.bench.matching``).

Texts are made of words that are as unevenly frequent as those of real claims without "the" and "of".
"""

import random
import sys
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from app.core import clock
from app.core.db import Base, Database
from app.core.factcheck import search
from app.core.ids import new_id
from app.core.models import ConnectedService, FactCheckItem, FactCheckVector, VectorSpace
from app.core.vocabulary import ClaimRating, ServiceMode

DIMENSIONS = 384
_AT_ONCE = 5_000
_SYLLABLES = [first + last for first in "bdfgklmnprstvz" for last in "aeiou"]
Draw = Callable[[int], list[str]]


def words() -> Draw:
    """Draws words: the first ones often, most of the 40,000 rarely (Zipf-Mandelbrot).

    The most common is in 16 of 100 fact-checks, as in a real dataset of 10,000.
    """
    chance = random.Random(7)  # noqa: S311 - the same texts each time
    known = ["".join(chance.choices(_SYLLABLES, k=chance.randint(2, 4))) + "x" for _ in range(40_000)]
    sums = np.cumsum(1.0 / (np.arange(len(known)) + 16.0)).tolist()
    return lambda count: chance.choices(known, cum_weights=sums, k=count)


def say(message: str, begun: float) -> None:
    print(f"{message}, {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)


def fill(database: Database, draw: Draw, have: int, want: int) -> list[str]:
    """Store fact-checks with the numbers from ``have`` up to ``want`` and index them; return their claims."""
    begun, claims = time.monotonic(), []
    for start in range(have, want, _AT_ONCE):
        made = [(draw(14), draw(8)) for _ in range(start, min(start + _AT_ONCE, want))]
        claims += [" ".join(claim) for claim, _ in made]
        _write(database, FactCheckItem, [_item(number, *one) for number, one in enumerate(made, start)])
        with database.writing() as session:
            search.index(
                session,
                [
                    (number, f"{' '.join(claim)}\n{' '.join(title)}")
                    for number, (claim, title) in enumerate(made, start)
                ],
            )
        say(f"  {start + len(made):,} fact-checks stored", begun)
    return claims


def _item(number: int, claim: Sequence[str], title: Sequence[str]) -> dict[str, Any]:
    return {
        "id": new_id(),
        "dataset_name": "bench",
        "item_id": str(number),
        "claim": " ".join(claim),
        "title": " ".join(title),
        "rating": ClaimRating.FALSE,
        "rating_given": "False",
        "url": f"https://checks.example.org/{number}",
        "publisher": "Bench",
        "language": "en",
        "search_language": "en",
        "number": number,
        "created_at": clock.now(),
        "updated_at": clock.now(),
    }


def _write(database: Database, model: type[Base], rows: Sequence[dict[str, Any]]) -> None:
    """Insert rows in bulk: with COPY in PostgreSQL."""
    if database.engine.dialect.name != "postgresql":
        with database.writing() as session:
            session.execute(sa.insert(model), rows)
        return
    dialect, columns = database.engine.dialect, model.__table__.columns
    names = list(rows[0])
    prepared = [columns[name].type.dialect_impl(dialect).bind_processor(dialect) for name in names]
    with database.writing() as session:
        driver: Any = session.connection().connection.driver_connection
        with driver.cursor().copy(f"COPY {model.__tablename__} ({', '.join(names)}) FROM STDIN") as copy:
            for row in rows:
                given = zip(row.values(), prepared, strict=True)
                copy.write_row([one if prepare is None else prepare(one) for one, prepare in given])


def space_of(database: Database, community_id: uuid.UUID) -> uuid.UUID:
    """A space of random vectors, one for each fact-check, of a service that is never asked; one for all sizes."""
    dice = np.random.default_rng(3)
    with database.writing() as session:
        space_id = session.scalars(sa.select(VectorSpace.id)).first()
        if space_id is None:
            service = ConnectedService(
                id=new_id(),
                community_id=community_id,
                kind="embeddings",
                name="bench",
                mode=ServiceMode.OFF,
            )
            session.add(service)
            session.flush()
            space = VectorSpace(
                id=new_id(),
                service_id=service.id,
                settings_version=1,
                identity="bench",
                dimensions=DIMENSIONS,
            )
            session.add(space)
            space_id = space.id
        there = session.scalar(sa.select(sa.func.max(FactCheckVector.number)))
        new = session.execute(
            sa.select(FactCheckItem.id, FactCheckItem.number)
            .where(FactCheckItem.number > (-1 if there is None else there))
            .order_by(FactCheckItem.number)
        ).all()
    begun = time.monotonic()
    for start in range(0, len(new), _AT_ONCE):
        some = new[start : start + _AT_ONCE]
        vectors = dice.normal(size=(len(some), DIMENSIONS)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        packed = vectors.astype("<f2")
        _write(
            database,
            FactCheckVector,
            [
                {
                    "space_id": space_id,
                    "item_id": item_id,
                    "number": number,
                    "sha256": f"{number:064}",
                    "vector": vector.tobytes(),
                    "position": (number or 0) + 1,
                }
                for (item_id, number), vector in zip(some, packed, strict=True)
            ],
        )
    say(f"  {len(new):,} vectors stored", begun)
    return space_id
