"""Vectors of fact-checks searched by PostgreSQL itself, with its extension pgvector (docs/run/operations.md).

Nothing of it is there before an operator switches it on (``use-pgvector``): then a schema of its own holds a copy of
the vectors, and an index for each space. What is copied can be made again, so no backup has it. Without it, or while a
space has no index yet, posts are compared in memory (``nearest``).
"""

import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import sqlalchemy as sa
import sqlalchemy.exc as sa_exc
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from app.core.db import serialise
from app.core.factcheck.matching.meaning import LARGEST, background
from app.core.factcheck.nearest import Nearest
from app.core.listed import is_one_of
from app.core.models import FactCheckVector, VectorSpace
from app.core.services.embedding import Vector

SCHEMA = "bridgenote_vectors"
EXTENSION = "vector"
OLDEST = (0, 5)
"""The version from which there are HNSW indexes."""
DIMENSIONS_MAX = 2_000
"""What pgvector can index; spaces of more numbers are searched in memory."""
COPIED_AT_ONCE = 500
SAMPLE = 400
"""Vectors from which a post's background is taken, spread over the whole space."""
SAMPLE_LEAST = 100
"""With fewer nothing is said about the background."""
LOOKED_AT = 100
"""Candidates that the index looks at: more find the nearest ones more surely, and take longer."""
BUILD_LOCK = 0x6661_6374_6864
_TABLE = f"{SCHEMA}.embeddings"
_UNDEFINED_TABLE = "42P01"
_SAMPLES_MAX = 32
SAMPLE_SECONDS = 3_600
"""After so long a sample is taken again: some of its vectors may be deleted by then."""


@dataclass(frozen=True)
class _Sample:
    """Vectors from which a post's background is taken, each one of ``step``.

    ``copied``: up to where the space was copied when they were read, at ``read_at``.
    """

    copied: int
    read_at: float
    step: int
    vectors: NDArray[np.float16]


_samples: dict[uuid.UUID, _Sample] = {}


@dataclass(frozen=True)
class Extension:
    """What the server has of pgvector: the version that could be installed, and the one that is."""

    offered: str
    installed: str | None

    @property
    def is_recent(self) -> bool:
        parts = (self.installed or self.offered).split(".")
        return tuple(int(part) for part in parts[:2] if part.isdigit()) >= OLDEST


def extension(session: Session | sa.Connection) -> Extension | None:
    """The server's pgvector, None where there is none, as with SQLite."""
    if _dialect(session) != "postgresql":
        return None
    row = session.execute(
        sa.text("SELECT default_version, installed_version FROM pg_available_extensions WHERE name = :name"),
        {"name": EXTENSION},
    ).first()
    return None if row is None else Extension(row[0], row[1])


def is_on(session: Session | sa.Connection) -> bool:
    """Whether an operator switched it on."""
    if _dialect(session) != "postgresql":
        return False
    return session.scalar(sa.text("SELECT to_regclass(:name)"), {"name": _TABLE}) is not None


def takes(session: Session, dimensions: int) -> bool:
    """Whether a space of so many dimensions is searched here once its index is made, however large it is."""
    return dimensions <= DIMENSIONS_MAX and is_on(session)


def switch_on(session: Session) -> None:
    """Make the schema and its table. The extension must be offered; it is created if it is not."""
    session.execute(sa.text(f"CREATE EXTENSION IF NOT EXISTS {EXTENSION}"))
    session.execute(sa.text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
    session.execute(
        sa.text(
            f"CREATE TABLE IF NOT EXISTS {_TABLE} ("
            "space_id uuid NOT NULL, item_id uuid NOT NULL, position integer NOT NULL, embedding vector, "
            "PRIMARY KEY (space_id, item_id), "
            "FOREIGN KEY (space_id, item_id) REFERENCES fact_check_vectors (space_id, item_id) ON DELETE CASCADE)"
        )
    )
    session.execute(sa.text(f"CREATE INDEX IF NOT EXISTS ix_position ON {_TABLE} (space_id, position)"))


def switch_off(session: Session) -> bool:
    """Remove everything but the extension, which others may use. False, removing nothing: an index is being made.

    It does not wait: the index waits for all open transactions, also for this one.
    """
    if not session.scalar(sa.text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": BUILD_LOCK}):
        return False
    session.execute(sa.text(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE"))
    return True


def copy(session: Session, space_id: uuid.UUID) -> bool:
    """Copy some vectors that are stored and not copied yet. Returns whether there are more."""
    space = session.get(VectorSpace, space_id)
    if space is None or not 0 < space.dimensions <= DIMENSIONS_MAX:
        return False
    serialise(session, space.service_id)
    last = _last_copied(session, space_id)
    rows = session.execute(
        sa.select(FactCheckVector.item_id, FactCheckVector.position, FactCheckVector.vector)
        .where(FactCheckVector.space_id == space_id, FactCheckVector.position > (last or 0))
        .order_by(FactCheckVector.position)
        .limit(COPIED_AT_ONCE)
    ).all()
    if rows:
        session.execute(
            sa.text(
                f"INSERT INTO {_TABLE} (space_id, item_id, position, embedding) "  # noqa: S608 - our own words
                f"VALUES (:space, :item, :position, CAST(:vector AS vector({space.dimensions})))"
            ),
            [
                {"space": space_id, "item": item_id, "position": position, "vector": _written(vector)}
                for item_id, position, vector in rows
            ],
        )
    return len(rows) == COPIED_AT_ONCE


def _last_copied(session: Session, space_id: uuid.UUID) -> int | None:
    found: int | None = session.scalar(
        sa.text(f"SELECT max(position) FROM {_TABLE} WHERE space_id = :space"),  # noqa: S608 - our own words
        {"space": space_id},
    )
    return found


def _written(stored: bytes) -> str | None:
    """A stored vector as pgvector reads it; None for a text that the service refused."""
    return literal(np.frombuffer(stored, dtype="<f2").astype(np.float32)) if stored else None


def literal(vector: Vector) -> str:
    return f"[{','.join(f'{number:.6g}' for number in vector.tolist())}]"


def searched(session: Session) -> Mapping[uuid.UUID, int]:
    """The spaces that are complete and can be searched here, with their dimensions."""
    rows = session.execute(
        sa.select(VectorSpace.id, VectorSpace.dimensions).where(
            VectorSpace.complete_at.is_not(None), VectorSpace.dimensions.between(1, DIMENSIONS_MAX)
        )
    )
    return {space_id: dimensions for space_id, dimensions in rows}


def index_name(space_id: uuid.UUID) -> str:
    return f"ix_near_{space_id.hex}"


def build(connection: sa.Connection, spaces: Mapping[uuid.UUID, int]) -> None:
    """Make the indexes that these spaces, given with their dimensions, lack; drop those of other spaces.

    It takes minutes for 100,000 vectors; others read and write meanwhile. An index that a killed build left unfinished
    is made again. Does nothing while another process is at it, or once this was switched off. ``connection`` must
    commit each statement by itself, and be the same connection of the server all along (docs/run/operations.md).
    """
    if not connection.scalar(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": BUILD_LOCK}):
        return
    try:
        if not is_on(connection):
            return
        connection.execute(sa.text("SET max_parallel_maintenance_workers = 0"))
        connection.execute(sa.text("SET maintenance_work_mem = '256MB'"))
        for space_id, dimensions in spaces.items():
            _build(connection, space_id, dimensions)
        _forget(connection, spaces)
    finally:
        connection.execute(sa.text("RESET max_parallel_maintenance_workers"))
        connection.execute(sa.text("RESET maintenance_work_mem"))
        connection.execute(sa.text("SELECT pg_advisory_unlock(:key)"), {"key": BUILD_LOCK})


def _build(connection: sa.Connection, space_id: uuid.UUID, dimensions: int) -> None:
    is_valid, name = _is_valid(connection, space_id), index_name(space_id)
    if is_valid is False:
        connection.execute(sa.text(f"DROP INDEX CONCURRENTLY IF EXISTS {SCHEMA}.{name}"))
    if not is_valid:
        connection.execute(
            sa.text(
                f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {_TABLE} "
                f"USING hnsw ((embedding::vector({dimensions})) vector_ip_ops) WHERE space_id = '{space_id}'"
            )
        )


def _forget(connection: sa.Connection, present: Collection[uuid.UUID]) -> None:
    """Drop the indexes of spaces that are deleted; their vectors are gone with them."""
    kept = {index_name(space_id) for space_id in present}
    names = connection.scalars(
        sa.text("SELECT indexname FROM pg_indexes WHERE schemaname = :schema AND indexname LIKE 'ix_near_%'"),
        {"schema": SCHEMA},
    ).all()
    for name in names:
        if name not in kept:
            connection.execute(sa.text(f'DROP INDEX CONCURRENTLY IF EXISTS {SCHEMA}."{name}"'))


def is_ready(session: Session | sa.Connection, space_id: uuid.UUID) -> bool:
    """Whether a space can be searched here: its vectors were copied and its index is made."""
    return _dialect(session) == "postgresql" and _is_valid(session, space_id) is True


def _is_valid(session: Session | sa.Connection, space_id: uuid.UUID) -> bool | None:
    """Whether the index of a space is whole, None if there is none."""
    found: bool | None = session.scalar(
        sa.text("SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(:name)"),
        {"name": f"{SCHEMA}.{index_name(space_id)}"},
    )
    return found


def nearest(session: Session, space_id: uuid.UUID, vector: Vector, most: int) -> Nearest | None:
    """The items of a space that ``is_ready`` whose vectors are nearest to this one (see ``nearest.Vectors``).

    None: this was switched off a moment ago. There are none for a vector of another model, and for a deleted space.
    """
    dimensions = session.scalar(sa.select(VectorSpace.dimensions).where(VectorSpace.id == space_id))
    if not dimensions or len(vector) != dimensions:
        return Nearest()
    typed, asked = f"vector({dimensions})", {"asked": literal(vector), "most": max(most, LARGEST)}
    try:
        # Once a statement has read the table, it stays until the transaction ends.
        with session.connection().begin_nested():
            session.execute(sa.text(f"SET LOCAL hnsw.ef_search = {LOOKED_AT}"))
            # The space is part of the statement, because the planner must see that its index covers the condition.
            found = session.execute(
                sa.text(
                    f"SELECT item_id, -((embedding::{typed}) <#> CAST(:asked AS {typed})) FROM {_TABLE} "  # noqa: S608
                    f"WHERE space_id = '{space_id}' "
                    f"ORDER BY (embedding::{typed}) <#> CAST(:asked AS {typed}) LIMIT :most"
                ),
                asked,
            ).all()
    except sa_exc.ProgrammingError as error:
        if getattr(error.orig, "sqlstate", "") != _UNDEFINED_TABLE:
            raise
        return None

    def cosines(ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, float]:
        rows = session.execute(
            sa.text(
                f"SELECT item_id, -((embedding::{typed}) <#> CAST(:asked AS {typed})) FROM {_TABLE} "  # noqa: S608
                "WHERE space_id = :space AND item_id = ANY(:ids)"
            ),
            {**asked, "space": space_id, "ids": list(ids)},
        )
        return {item_id: cosine for item_id, cosine in rows if cosine is not None}

    last, copied = session.execute(
        sa.text(
            "SELECT (SELECT max(position) FROM fact_check_vectors WHERE space_id = :space), "  # noqa: S608
            f"(SELECT max(position) FROM {_TABLE} WHERE space_id = :space)"
        ),
        {"space": space_id},
    ).one()
    sample = _sample(session, space_id, copied or 0)
    seen = sample.vectors.astype(np.float32) @ vector if len(sample.vectors) >= SAMPLE_LEAST else np.zeros(0)
    return Nearest(
        [item_id for item_id, cosine in found[:most] if cosine is not None and cosine > 0],
        last == copied,
        background(seen, sample.step * len(seen), [cosine for _, cosine in found if cosine is not None]),
        cosines,
    )


def _sample(session: Session, space_id: uuid.UUID, copied: int) -> _Sample:
    """A sample of a space, read again only when more was copied: it takes 100 ms for 100,000 vectors."""
    known, now = _samples.get(space_id), time.monotonic()
    if known is not None and known.copied == copied and now - known.read_at < SAMPLE_SECONDS:
        return known
    if known is None and len(_samples) >= _SAMPLES_MAX:
        _samples.clear()
    step, positions = sampled(session, space_id)
    stored = session.scalars(
        sa.select(FactCheckVector.vector)
        .where(
            FactCheckVector.space_id == space_id,
            is_one_of(session, FactCheckVector.position, positions),
        )
        .order_by(FactCheckVector.position)
    )
    # A text that the service refused has none.
    vectors = [np.frombuffer(one, dtype="<f2") for one in stored if one]
    known = _Sample(copied, now, step, np.array(vectors, dtype=np.float16))
    _samples[space_id] = known
    return known


def sampled(session: Session, space_id: uuid.UUID) -> tuple[int, Sequence[int]]:
    """The positions of at most ``SAMPLE`` vectors, each one of so many, evenly from the whole space.

    Positions have gaps, because a text that changes gets a new one: so the vectors that are there are counted.
    """
    there = session.scalar(
        sa.text(f"SELECT count(*) FROM {_TABLE} WHERE space_id = :space"),  # noqa: S608 - our own words
        {"space": space_id},
    )
    step = max(1, -(-(there or 0) // SAMPLE))
    positions = session.scalars(
        sa.text(
            "SELECT position FROM (SELECT position, row_number() OVER (ORDER BY position) AS rank "  # noqa: S608
            f"FROM {_TABLE} WHERE space_id = :space) AS ranked WHERE rank % :step = 0 ORDER BY position"
        ),
        {"space": space_id, "step": step},
    ).all()
    return step, positions


def _dialect(session: Session | sa.Connection) -> str:
    return session.get_bind().dialect.name if isinstance(session, Session) else session.dialect.name
