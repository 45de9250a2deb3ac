"""Taking jobs that wait out of the queue, for a job that does their work along with its own (docs/decisions/0060).

A job that is taken is deleted in the transaction that does its work: it is gone when that commits, and waits as before
when it is rolled back or the process dies. Only jobs that nobody has claimed are taken. While one is, PostgreSQL keeps
its row locked; claims, and others who would take it, pass over locked rows, so nobody waits for anybody.
"""

from collections.abc import Collection
from functools import cached_property

import sqlalchemy as sa
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import ReturningDelete

_ENQUEUED: sa.ColumnElement[str] = sa.literal_column("'ENQUEUED'")
_UNFINISHED = ("'ENQUEUED'", "'PENDING'")


class WaitingJobs:
    """The jobs in one queue with partitions that wait to be claimed. ``schema`` is that of DBOS's tables."""

    def __init__(self, queue: str, schema: str | None) -> None:
        self._queue = queue
        self._status, self._inputs = (
            sa.table(
                name,
                *(
                    sa.column(column, sa.Text)
                    for column in ("workflow_uuid", "status", "queue_name", "queue_partition_key")
                ),
                sa.column("priority", sa.Integer),
                sa.column("created_at", sa.BigInteger),
                schema=schema,
            )
            for name in ("workflow_status", "workflow_input")
        )

    def keys(self, session: Session, name: str, partition: str, most: int) -> list[str]:
        """The keys of the jobs of this name that wait, oldest first; no job that failed before, or is being taken."""
        values = {"partition": partition, "prefix": f"{name}:", "length": len(name) + 1, "most": most}
        ids = session.connection().execute(self._oldest, values).scalars()
        keys = [job_id.removeprefix(f"{name}:") for job_id in ids]
        return [key for key in keys if "~" not in key]

    def take(self, session: Session, name: str, keys: Collection[str]) -> set[str]:
        """Delete the jobs of these keys that still wait, in the session's transaction, and return their keys."""
        if not keys:
            return set()
        connection = session.connection()
        taken = list(connection.execute(self._delete, {"ids": [f"{name}:{key}" for key in keys]}).scalars())
        if taken:
            connection.execute(self._forget, {"ids": taken})
        return {job_id.removeprefix(f"{name}:") for job_id in taken}

    @cached_property
    def _oldest(self) -> sa.Select[str]:
        jobs = self._status.c
        return (
            sa.select(jobs.workflow_uuid)
            .where(
                jobs.queue_name == sa.literal_column(f"'{self._queue}'"),
                jobs.status == _ENQUEUED,
                # DBOS's index is of the jobs in these states and with a partition, which SQLite does not see by itself.
                jobs.status.in_([sa.literal_column(state) for state in _UNFINISHED]),
                jobs.queue_partition_key.is_not(None),
                jobs.queue_partition_key == sa.bindparam("partition", type_=sa.Text),
                sa.func.substr(jobs.workflow_uuid, 1, sa.bindparam("length", type_=sa.Integer))
                == sa.bindparam("prefix", type_=sa.Text),
            )
            .order_by(jobs.priority, jobs.created_at)
            .limit(sa.bindparam("most", type_=sa.Integer))
            .with_for_update(skip_locked=True)
        )

    @cached_property
    def _delete(self) -> ReturningDelete[str]:
        jobs = self._status.c
        free = (
            sa.select(jobs.workflow_uuid)
            .where(
                jobs.workflow_uuid.in_(sa.bindparam("ids", expanding=True, type_=sa.Text)),
                jobs.status == _ENQUEUED,
            )
            .with_for_update(skip_locked=True)
        )
        return sa.delete(self._status).where(jobs.workflow_uuid.in_(free)).returning(jobs.workflow_uuid)

    @cached_property
    def _forget(self) -> sa.Delete:
        ids = sa.bindparam("ids", expanding=True, type_=sa.Text)
        return sa.delete(self._inputs).where(self._inputs.c.workflow_uuid.in_(ids))
