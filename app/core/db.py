"""Sessions and transactions. Web, API, jobs and commands open them; ``core`` flushes and never commits."""

import math
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import sqlalchemy as sa
import sqlalchemy.exc as sa_exc
from sqlalchemy import event
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, SessionTransaction, mapped_column

from app.core import clock, outbox, replica, security_events
from app.core.replica import Replica
from app.core.types import UtcDateTime
from app.core.write_lock import WriteLock

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


UNPREPARED = {"prepare_threshold": None}
"""What tells the driver of PostgreSQL (psycopg) to prepare no statement."""


def make_engine(url: str, *, prepares: bool = True, **options: Any) -> sa.Engine:
    """Create an engine with our options (SQLite: WAL, busy timeout, enforced foreign keys).

    ``prepares``: whether the driver prepares statements that come often. The connection of PostgreSQL keeps them, and a
    PgBouncer in transaction mode gives each transaction another connection.
    """
    # Exception texts are logged, and submitted content must not reach a log.
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
    if not prepares:
        options["connect_args"] = {**options["connect_args"], **UNPREPARED}
        options["execution_options"] = {
            "prepares": False
        }  # for the job engine, which makes connections of its own
    return sa.create_engine(url, **options)


def _on_sqlite_connect(connection: Any, _record: Any) -> None:
    # The driver begins transactions late and never with BEGIN IMMEDIATE, so we issue BEGIN ourselves.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA busy_timeout=5000")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=NORMAL" if _is_memory(connection) else "PRAGMA synchronous=FULL")
    cursor.execute("PRAGMA foreign_keys=ON")
    # What is erased must not stay readable in the file: freed space is overwritten with zeros.
    cursor.execute("PRAGMA secure_delete=ON")
    cursor.close()


def _is_memory(connection: Any) -> bool:
    row = connection.execute("PRAGMA database_list").fetchone()
    return not row[2]


def _on_sqlite_begin(connection: sa.Connection) -> None:
    # A writer takes the lock at once, so writers queue; a reader that became a writer later would fail.
    writing = connection.get_execution_options().get("writing", False)
    # Use the driver's connection: through SQLAlchemy, BEGIN would cost as much as a query.
    driver: Any = connection.connection.driver_connection
    begin = "BEGIN IMMEDIATE" if writing else "BEGIN"
    try:
        driver.execute(begin)
    except sqlite3.Error as error:
        # Raise it as SQLAlchemy would: the code that reports an unavailable database catches only its errors.
        raise sa_exc.DBAPIError.instance(begin, None, error, sqlite3.Error) from error


EnqueueJob = Callable[[Session, outbox.Job], None]


class Database:
    """One database: only ``reading()`` and ``writing()`` open sessions.

    ``enqueue`` writes a job in the session's transaction; ``on_commit`` is called after a commit that added deliveries
    to send. ``info`` is copied into ``Session.info`` of every session, for objects that verbs need.
    ``replica_url``: a streaming replica, which ``reading()`` reads within ``may_be_old()`` and nowhere else.
    """

    def __init__(self, url: str, *, replica_url: str = "", **engine_options: Any) -> None:
        self.engine = make_engine(url, **engine_options)
        self.replica: Replica | None = None
        if replica_url:
            self.replica = Replica(make_engine(replica_url, **replica.options(engine_options)), self.engine)
        self._here = threading.local()
        self._writer = self.engine.execution_options(writing=True)
        self.enqueue: EnqueueJob | None = None
        self.on_commit: Callable[[], None] | None = None
        self.info: dict[str, Any] = {}
        file = self.engine.url.database if self.engine.dialect.name == "sqlite" else None
        self._write_lock = WriteLock(file) if file not in (None, "", ":memory:") else None

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A session that only reads, and raises RuntimeError on a write.

        On PostgreSQL each of its statements sees its own moment (READ COMMITTED); on SQLite they share one.
        """
        engine = getattr(self._here, "reads", None) or self.engine
        with ReadingSession(engine, autoflush=False, info=self.info) as session:
            yield session

    @contextmanager
    def may_be_old(self) -> Iterator[bool]:
        """Within, ``reading()`` of this thread reads the replica, if there is a fit one. Yields whether it does."""
        if self.replica is None or self.replica.state().why_not:
            yield False
            return
        before, self._here.reads = getattr(self._here, "reads", None), self.replica.engine
        try:
            yield True
        finally:
            self._here.reads = before

    def has_written(self, since: float) -> bool:
        """Whether this thread has committed a transaction since this moment of ``time.perf_counter()``."""
        return getattr(self._here, "wrote_at", -math.inf) >= since

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """One transaction: committed with its jobs when the block ends, rolled back when it raises.

        Raises:
            RuntimeError: this thread has a writing transaction open already, and would wait for itself; or it may read
                what is old, and nothing is decided by that.
        """
        if getattr(self._here, "is_writing", False):
            raise RuntimeError("a writing transaction within another one")
        if getattr(self._here, "reads", None) is not None:
            raise RuntimeError("a writing transaction where the replica is read")
        self._here.is_writing = True
        try:
            with Session(self._writer, expire_on_commit=False, info=self.info) as session:
                lock = self._write_lock.held() if self._write_lock is not None else nullcontext()
                # Inside the session's block, so the session closes after the lock is released and delays no writer.
                with lock:
                    try:
                        session.begin()
                        yield session
                        self._commit(session)
                        self._here.wrote_at = time.perf_counter()
                    except BaseException:
                        session.rollback()
                        raise
        finally:
            self._here.is_writing = False
        security_events.log_committed(session)
        if outbox.take_wake(session) and self.on_commit is not None:
            self.on_commit()

    def _commit(self, session: Session) -> None:
        """Commit with the jobs of the session."""
        session.flush()
        jobs = outbox.take_jobs(session)
        if jobs and self.enqueue is None:
            raise RuntimeError("jobs were noted, but no job engine is wired")
        for job in jobs:
            if self.enqueue is not None:
                self.enqueue(session, job)
        session.commit()

    def empty_log(self) -> None:
        """Move SQLite's write-ahead log into the file and empty it: it holds what rows were before they changed.

        Nothing happens while others read from it; the daily upkeep tries again.
        """
        if self.engine.dialect.name == "sqlite":
            connection = self.engine.raw_connection()
            try:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                connection.close()

    def dispose(self) -> None:
        self.engine.dispose()
        if self.replica is not None:
            self.replica.engine.dispose()
        if self._write_lock is not None:
            self._write_lock.close()


_READ_ONLY = "25006"
"""SQLSTATE of a write in a database that only reads; its exception is not one of those below."""
_UNAVAILABLE = (
    sa_exc.OperationalError,
    sa_exc.InterfaceError,
    sa_exc.TimeoutError,
    sa_exc.DisconnectionError,
    sqlite3.OperationalError,
)


def is_unavailable(error: BaseException) -> bool:
    """Whether the error says that the database is away, full, locked or read-only, and nothing of the statement."""
    lost = isinstance(error, sa_exc.DBAPIError) and error.connection_invalidated
    is_read_only = getattr(getattr(error, "orig", None), "sqlstate", None) == _READ_ONLY
    return lost or is_read_only or isinstance(error, _UNAVAILABLE)


class ReadingSession(Session):
    """A session that refuses to change anything: it would be rolled back without a word.

    It does not see statements that are written as text, nor those that are given to its connection.
    """

    def get_bind(self, *args: Any, **given: Any) -> sa.Engine | sa.Connection:
        if self._flushing or isinstance(given.get("clause"), sa.UpdateBase):
            raise RuntimeError("a session that only reads was used to write")
        return super().get_bind(*args, **given)


def serialise(session: Session, community_id: uuid.UUID) -> None:
    """Lock the community for other writers until this transaction ends.

    The history chain and the strictly increasing ``decided_at`` need it. SQLite has only one writer anyway; PostgreSQL
    takes an advisory transaction lock.
    Verbs call this before any row lock, so two of them cannot deadlock.

    Only the first call in a transaction costs a statement.
    """
    if session.get_bind().dialect.name != "postgresql":
        return
    held: dict[uuid.UUID, SessionTransaction | None] = session.info.setdefault("serialised", {})
    if _is_within(session, held.get(community_id)):
        return
    key = int.from_bytes(community_id.bytes[-8:], "big", signed=True)
    session.connection().execute(_LOCK, {"key": key})
    held[community_id] = session.get_nested_transaction() or session.get_transaction()


def serialise_and_reload(session: Session, row: Any) -> None:
    """Lock the community of ``row`` (``serialise``), then read its columns again, not what was loaded with them."""
    serialise(session, row.community_id)
    session.refresh(row, sa.inspect(type(row)).column_attrs.keys())


_LOCK = sa.select(sa.func.pg_advisory_xact_lock(sa.bindparam("key", type_=sa.BigInteger)))


def _is_within(session: Session, transaction: SessionTransaction | None) -> bool:
    """Whether ``transaction`` is the one that runs now or one around it: then no lock that it took was released."""
    inner = session.get_nested_transaction() or session.get_transaction()
    while inner is not None and inner is not transaction:
        inner = inner.parent
    return inner is not None


class Base(DeclarativeBase):
    metadata = sa.MetaData(naming_convention=NAMING)
    type_annotation_map = {  # noqa: RUF012 - SQLAlchemy reads this class attribute, it is never changed
        dict[str, Any]: sa.JSON,
        list[str]: sa.JSON,
        list[dict[str, Any]]: sa.JSON,
    }


class Stamped:
    """Adds ``created_at`` and ``updated_at``, which every resource type has (docs/integrate/api.md)."""

    created_at: Mapped[Any] = mapped_column(UtcDateTime, default=clock.now, sort_order=900)
    updated_at: Mapped[Any] = mapped_column(
        UtcDateTime, default=clock.now, onupdate=clock.now, sort_order=901
    )
