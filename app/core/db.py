"""Sessions and transactions. They begin and end at the edges; the core flushes and never commits."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from app.core import clock, outbox
from app.core.types import UtcDateTime

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


def make_engine(url: str, **options: Any) -> sa.Engine:
    """An engine with our pragmas (SQLite: WAL, waiting writers, enforced foreign keys)."""
    # What people submit must not reach a log by way of an exception's text.
    options.setdefault("hide_parameters", True)
    if url.startswith("sqlite"):
        options.setdefault("pool_size", 20)
        options.setdefault("max_overflow", 40)
        engine = sa.create_engine(url, **options)
        event.listen(engine, "connect", _on_sqlite_connect)
        event.listen(engine, "begin", _on_sqlite_begin)
        return engine
    options.setdefault("pool_size", 10)
    options.setdefault("max_overflow", 20)
    options.setdefault("pool_pre_ping", True)
    options.setdefault("pool_timeout", 4)
    options.setdefault("connect_args", {"connect_timeout": 3})
    return sa.create_engine(url, **options)


def _on_sqlite_connect(connection: Any, _record: Any) -> None:
    # The driver's own transaction handling begins late and never immediately; we say BEGIN ourselves.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=30000")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL" if _is_memory(connection) else "PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    cursor.close()


def _is_memory(connection: Any) -> bool:
    row = connection.execute("PRAGMA database_list").fetchone()
    return not row[2]


def _on_sqlite_begin(connection: sa.Connection) -> None:
    # A writer takes the lock at once, so writers queue; a reader that upgrades later would fail instead.
    writing = connection.get_execution_options().get("writing", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


EnqueueJob = Callable[[Session, outbox.Job], None]


class Database:
    """One database: ``reading()`` and ``writing()`` are the only ways to a session.

    ``enqueue`` writes a job in the session's transaction; ``on_commit`` is called after a commit that left
    deliveries to send.
    """

    def __init__(self, url: str, **engine_options: Any) -> None:
        self.engine = make_engine(url, **engine_options)
        self._writer = self.engine.execution_options(writing=True)
        self.enqueue: EnqueueJob | None = None
        self.on_commit: Callable[[], None] | None = None

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that only reads; whatever it did is rolled back."""
        with Session(self.engine, autoflush=False) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One transaction: committed with its jobs when the block ends, rolled back when it raises."""
        with Session(self._writer, expire_on_commit=False) as session:
            session.begin()
            yield session
            session.flush()
            jobs = outbox.take_jobs(session)
            if jobs and self.enqueue is None:
                raise RuntimeError("jobs were noted, but no job engine is wired")
            for job in jobs:
                if self.enqueue is not None:
                    self.enqueue(session, job)
            session.commit()
            if outbox.take_wake(session) and self.on_commit is not None:
                self.on_commit()

    def dispose(self) -> None:
        self.engine.dispose()


def serialise(session: Session, community_id: uuid.UUID) -> None:
    """Let one writer at a time through per community, until its transaction ends.

    History's chain and the strictly increasing ``decided_at`` need it. SQLite has one writer anyway; PostgreSQL
    takes an advisory transaction lock. Verbs take it before any row lock, so two of them cannot deadlock.
    """
    if session.get_bind().dialect.name == "postgresql":
        key = int.from_bytes(community_id.bytes[-8:], "big", signed=True)
        session.execute(sa.select(sa.func.pg_advisory_xact_lock(key)))


class Base(DeclarativeBase):
    metadata = sa.MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads this class attribute, it is never changed
        dict[str, Any]: sa.JSON,
        list[str]: sa.JSON,
        list[dict[str, Any]]: sa.JSON,
    }


class Stamped:
    """``created_at`` and ``updated_at`` exist on every resource type (Spec: Conventions)."""

    created_at: Mapped[Any] = mapped_column(UtcDateTime, default=clock.now, sort_order=900)
    updated_at: Mapped[Any] = mapped_column(
        UtcDateTime, default=clock.now, onupdate=clock.now, sort_order=901
    )
