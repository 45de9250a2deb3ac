"""Fake of the job engine for tests of other parts: it records jobs and runs them on request."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session
from sqlalchemy.schema import CreateTable

from app.core import clock

_TABLE = sa.Table(
    "inline_jobs",
    sa.MetaData(),
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("args", sa.Text, nullable=False),
    sa.Column("key", sa.Text, unique=True),
    sa.Column("due_at", sa.Float, nullable=False),
    sa.Column("done", sa.Boolean, nullable=False),
)


@dataclass(frozen=True)
class RecordedJob:
    id: int
    name: str
    args: dict[str, Any]
    key: str | None
    due_at: float


class InlineEngine:
    """Jobs as rows of a small table, written in the caller's transaction.

    A rollback, also to a savepoint, drops them as in the engine, and keys work as in the engine. Nothing runs until
    ``run_all`` is called. It runs jobs in the calling thread and raises their errors.
    """

    def __init__(self, database: sa.Engine) -> None:
        self._reader = database
        self._writer = database.execution_options(writing=True)
        self._bodies: dict[str, Callable[..., None]] = {}
        self._insert: Any = sqlite.insert if database.dialect.name == "sqlite" else postgresql.insert

    def register(self, name: str, function: Callable[..., None], **_retries: Any) -> None:
        self._bodies[name] = function

    def every(self, name: str, seconds: float) -> None:
        """Do nothing: periodic jobs do not run by themselves here."""

    def prepare(self) -> None:
        with self._writer.begin() as connection:
            connection.execute(CreateTable(_TABLE, if_not_exists=True))

    def start(self) -> None:
        """Do nothing: there is nothing to start."""

    def stop(self, drain: float = 0.0) -> bool:
        return True

    def enqueue(
        self,
        session: Session | sa.Connection,
        name: str,
        args: Mapping[str, Any],
        *,
        key: str | None = None,
        delay: float = 0.0,
        community: str | None = None,
        priority: int = 0,
    ) -> None:
        """Record a job in the caller's transaction (same contract as ``Engine.enqueue``)."""
        statement = self._insert(_TABLE).on_conflict_do_nothing(index_elements=["key"])
        values = {
            "name": name,
            "args": json.dumps(dict(args), allow_nan=False),
            "key": None if key is None else f"{name}:{key}",
            "due_at": clock.now().timestamp() + delay,
            "done": False,
        }
        session.execute(statement, values)

    def jobs(self) -> list[RecordedJob]:
        """Return the committed jobs that have not run, oldest first."""
        query = sa.select(_TABLE).where(_TABLE.c.done.is_(False)).order_by(_TABLE.c.id)
        with self._reader.connect() as connection:
            rows = connection.execute(query).all()
        return [RecordedJob(row.id, row.name, json.loads(row.args), row.key, row.due_at) for row in rows]

    def run_now(self, name: str, **args: Any) -> None:
        """Run one job now. What is recorded stays recorded: the engine may run a job twice."""
        self._bodies[name](**args)

    def run_all(self, *, delayed: bool = False) -> int:
        """Run all due jobs, and those that they enqueue, until none is left; with ``delayed``, jobs not yet due too.

        Returns how many jobs ran. A job that raises stays recorded. Raises ``LookupError`` for a job that is not
        registered.
        """
        ran = 0
        while True:
            moment = clock.now().timestamp()
            due = [job for job in self.jobs() if delayed or job.due_at <= moment]
            if not due:
                return ran
            for job in due:
                if job.name not in self._bodies:
                    raise LookupError(f"no body is registered for job {job.name!r}")
                self._bodies[job.name](**job.args)
                with self._writer.begin() as connection:
                    connection.execute(_TABLE.update().where(_TABLE.c.id == job.id).values(done=True))
                ran += 1
