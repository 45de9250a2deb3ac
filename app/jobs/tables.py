"""The tables, stored jobs and connections of the job engine, and which tables Alembic must ignore."""

from collections import defaultdict
from collections.abc import Collection
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.schema import CreateTable

from app.core import clock
from app.core.db import UNPREPARED
from app.jobs.heartbeat import heartbeats_table
from app.jobs.ticker import periods_table

SCHEMA = "dbos"
"""The schema of every job table on PostgreSQL. SQLite has no schemas: there, names tell the tables apart."""

FOREIGN_TABLES: frozenset[str] = frozenset(
    {
        "application_versions",
        "dbos_migrations",
        "event_dispatch_kv",
        "inline_jobs",
        "job_heartbeats",
        "job_periods",
        "notifications",
        "operation_outputs",
        "queues",
        "streams",
        "workflow_events",
        "workflow_events_history",
        "workflow_input",
        "workflow_output",
        "workflow_schedules",
        "workflow_status",
    }
)
"""Tables that share the database but not its models; on SQLite no model may take one of these names."""


def is_foreign(name: str | None, schema: str | None) -> bool:
    """Whether Alembic must leave a table alone: those of the job engine, and SQLite's index of search."""
    is_search = name is not None and name.startswith("search_")
    return schema == SCHEMA or (schema is None and (name in FOREIGN_TABLES or is_search))


def own_connections(database: sa.Engine, *, connections: int) -> sa.Engine:
    """An engine on the same database for the job threads alone: they never wait for a view's connection.

    Raises ``ValueError`` for an SQLite database in memory, which a second connection could not see.
    """
    url = database.url
    if database.dialect.name == "sqlite":
        if not url.database or url.database == ":memory:":
            raise ValueError("jobs need a database file, not one in memory")
        engine = sa.create_engine(url, pool_size=connections, max_overflow=10)
        event.listen(engine, "connect", _on_sqlite_connect)
        return engine
    engine = sa.create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_size=connections,
        max_overflow=10,
        pool_pre_ping=True,
        connect_args={
            "connect_timeout": 5,
            "application_name": "bridgenote jobs",
            **({} if database.get_execution_options().get("prepares", True) else UNPREPARED),
        },
    )
    return engine


def close(engine: sa.Engine) -> None:
    """Close the connections; one that a late thread still uses is closed when the thread returns it."""
    event.listen(engine, "checkin", lambda connection, record: record.close())
    engine.dispose()


def _on_sqlite_connect(connection: Any, _record: Any) -> None:
    # DBOS reads outside of transactions and writes in immediate ones, which needs the driver's own handling.
    connection.isolation_level = "IMMEDIATE"
    connection.execute("PRAGMA busy_timeout=30000")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA foreign_keys=ON")


_BATCH = 200
"""The most jobs that one transaction deletes or cancels."""
ALIVE_SECONDS = 10.0
"""An executor that has not written for this time has died or hangs. It writes every three seconds."""


class Executors(NamedTuple):
    """The processes that run jobs, by name. ``dead``: they stopped writing beats and did not end by themselves."""

    live: list[str]
    dead: list[str]


def executors(connection: sa.Connection) -> Executors:
    """Return the executors, judged by their last beat; none if there are no job tables yet."""
    schema = None if connection.dialect.name == "sqlite" else SCHEMA
    beats = heartbeats_table(schema)
    if not sa.inspect(connection).has_table(beats.name, schema=schema):
        return Executors([], [])
    since = clock.now().timestamp() - ALIVE_SECONDS
    rows = connection.execute(
        sa.select(beats.c.executor_id, beats.c.beat_at).order_by(beats.c.executor_id)
    ).all()
    return Executors(
        live=[row.executor_id for row in rows if row.beat_at > since],
        dead=[row.executor_id for row in rows if row.beat_at <= since],
    )


class OwnTables:
    """``job_heartbeats`` and ``job_periods``, beside DBOS's tables and, like them, outside Alembic."""

    def __init__(self, database: sa.Engine) -> None:
        self._database = database
        self.schema = None if database.dialect.name == "sqlite" else SCHEMA
        self.heartbeats = heartbeats_table(self.schema)
        self.periods = periods_table(self.schema)

    def create(self) -> None:
        """Create those that are missing. Of processes that start together on PostgreSQL, one does it."""
        with self._database.begin() as connection:
            if connection.dialect.name == "postgresql":
                # IF NOT EXISTS alone: of two at once, one fails with a unique violation in the catalogue.
                connection.execute(sa.text("SELECT pg_advisory_xact_lock(7241650002)"))
            for table in (self.heartbeats, self.periods):
                connection.execute(CreateTable(table, if_not_exists=True))

    def counts(self) -> dict[str, int]:
        """The number of jobs by the states that concern an operator, from DBOS's documented status table."""
        names = {
            "ENQUEUED": "waiting",
            "DELAYED": "delayed",
            "PENDING": "running",
            "MAX_RECOVERY_ATTEMPTS_EXCEEDED": "dead",
        }
        status = sa.table("workflow_status", sa.column("status"), schema=self.schema)
        query = sa.select(status.c.status, sa.func.count()).where(status.c.status.in_(names))
        with self._database.connect() as connection:
            found: dict[str, int] = {
                row[0]: row[1] for row in connection.execute(query.group_by(status.c.status))
            }
        return {name: found.get(state, 0) for state, name in names.items()}


class StoredJobs:
    """The jobs in DBOS's tables. ``client``: a ``DBOSClient``, which only the engine imports."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._list = partial(client.list_workflows, load_input=False, load_output=False)

    def held(self) -> dict[str, list[str]]:
        """The unfinished jobs that executors have claimed, by executor."""
        held: dict[str, list[str]] = defaultdict(list)
        for job in self._list(status="PENDING"):
            held[job.executor_id].append(job.workflow_id)
        return held

    def put_back(self, executor_id: str, job_ids: Collection[str]) -> None:
        """Put jobs that this executor still holds back into their queues; each keeps its partition."""
        by_queue: dict[str, list[str]] = defaultdict(list)
        for job in self._list(workflow_ids=list(job_ids), executor_id=executor_id, status="PENDING"):
            by_queue[job.queue_name].append(job.workflow_id)
        for queue, held in by_queue.items():
            self._client.resume_workflows(held, queue_name=queue)

    def delete_finished(self, age: timedelta, prefix: str | None = None) -> None:
        """Delete jobs that finished so long ago, in batches, so that no writer waits long."""
        before = (clock.now() - age).isoformat()
        states = ["SUCCESS", "ERROR", "CANCELLED"]
        while finished := self._list(
            status=states, completed_before=before, workflow_id_prefix=prefix, limit=_BATCH
        ):
            self._client.delete_workflows([job.workflow_id for job in finished])

    def cancel_unfinished(self) -> int:
        """Cancel every waiting or running job and return their number. Only for a database that nothing else uses."""
        dropped = 0
        while jobs := self._list(status=["ENQUEUED", "DELAYED", "PENDING"], limit=_BATCH):
            self._client.cancel_workflows([job.workflow_id for job in jobs])
            dropped += len(jobs)
        return dropped
