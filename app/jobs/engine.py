"""The job engine: durable jobs in the service's own database, on DBOS. Nothing else imports dbos.

A job is a row written in the caller's transaction, so a rollback runs nothing and a crash loses nothing.
Bodies run at least once and must be idempotent. A body that raises is stored again as a job of its own with a
delay, so a retry occupies no slot while it waits.

The one workflow that DBOS knows takes a job written as JSON and calls the body registered under its name, and
the application version is a constant. So a job enqueued by one version of the code runs in any other.

Each community has a partition of the queue for its jobs, so a backlog of one community does not delay the others.

DBOS does the claiming, running, delaying, de-duplicating and resuming; only its documented interface is used. DBOS
keeps one instance per process, and so do we.
"""

import json
import logging
import math
import threading
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import dbos
import sqlalchemy as sa
from dbos import DBOS, DBOSClient, EnqueueOptions
from sqlalchemy.orm import Session

from app.core import ids
from app.jobs import tables
from app.jobs.bodies import Backoff, Bodies, Body, GiveUp, Payload, as_text, default_backoff
from app.jobs.heartbeat import Heartbeat
from app.jobs.ticker import Ticker, claim_period

log = logging.getLogger(__name__)

# With a handler of ours present DBOS adds no console handler, and its warnings go up to the root logger.
logging.getLogger("dbos").addHandler(logging.NullHandler())

APPLICATION = "bridgenote"
APPLICATION_VERSION = "1"
"""Never changed: DBOS offers a job only to executors of the version that first claimed it."""
QUEUE = "jobs"
"""The queue of the service's own jobs."""
COMMUNITIES = "community_jobs"
"""The queue of the communities' jobs, with a partition for each community."""
SERVICE_POLLS = 2
"""How many times less often a process looks for the service's own jobs than for those of communities."""
WORKFLOW = "bridgenote.job"
PRUNE = "jobs.prune"
RESTARTS = 50
"""How often a process may die and start again while it runs a job before the job is set aside as dead."""
PRUNE_SECONDS = 300.0
UNKEYED = "-"
"""How the ids of jobs without a key begin. No name of a job begins so."""
UNKEYED_KEPT_MINUTES = 10
"""How long finished jobs without a key are kept: they are as many as the posts, and have no key to remember."""


class Engine:
    """Enqueues jobs and, once started, runs them in threads. An engine starts once.

    ``slots`` is how many jobs of one community run at once. As many more are there for the other communities, and as
    many for the service's own. Every ``poll_seconds`` a process looks for jobs of communities.

    ``database`` tells where the data lives; the engine opens connections of its own to it. ``executor_id``
    must be unique among live processes and stable over restarts, for a restarted process resumes its own jobs
    at once. Those of a dead executor wait ``beat_seconds`` × ``missed_beats`` until another takes them over.
    ``keep_hours`` is how long finished jobs with a key are kept, and with them the memory of their keys.
    """

    def __init__(
        self,
        database: sa.Engine,
        *,
        executor_id: str,
        slots: int = 8,
        poll_seconds: float = 0.25,
        beat_seconds: float = 3.0,
        missed_beats: int = 5,
        keep_hours: float = 72.0,
        on_give_up: GiveUp | None = None,
    ) -> None:
        self.executor_id = executor_id
        self._slots = slots
        self._poll_seconds = poll_seconds
        self._keep_hours = keep_hours
        self._url = database.url.render_as_string(hide_password=False)
        self._database = tables.own_connections(database, connections=slots + 6)
        self._tables = tables.OwnTables(self._database)
        self._client = _client(self._database)
        self.stored = tables.StoredJobs(self._client)
        # On the caller's engine, so that DBOS keeps its statements compiled for the caller's connections.
        self._writer = _client(database)
        self._running: set[str] = set()
        self._bodies = Bodies(self._put_back, on_give_up)
        self._ticker = Ticker(self._tick)
        self._heartbeat = Heartbeat(
            self._database,
            self._tables.heartbeats,
            executor_id,
            seconds=beat_seconds,
            missed=missed_beats,
            held=self.stored.held,
            running=lambda: set(self._running),
            take_over=self.stored.put_back,
        )
        self.register(PRUNE, self.prune)
        self.every(PRUNE, PRUNE_SECONDS)

    def register(
        self, name: str, function: Body, *, attempts: int = 5, backoff: Backoff = default_backoff
    ) -> None:
        """Name a body, which takes JSON values by keyword. ``backoff(n)``: seconds to wait after the n-th failure."""
        self._bodies.register(name, function, attempts, backoff)

    def every(self, name: str, seconds: float) -> None:
        """Run a registered job without arguments once in each period, in one of all processes; the first time at once.

        A run that is unfinished when the next period begins makes that period pass without one.
        """
        self._ticker.add(name, seconds)

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
        """Write a job into the caller's transaction; it runs once that commits, ``delay`` seconds later.

        With a ``key`` the job runs once per name and key, for as long as finished jobs are kept. ``community``
        is whose partition it waits in; without one it is the service's own. Of those that wait in one partition, jobs
        with a lower ``priority`` run first. On SQLite the transaction must have begun as a writing one. Raises
        ``TypeError`` or ``ValueError`` when ``args`` are not JSON values.
        """
        job_id = f"{UNKEYED}{ids.new_id()}" if key is None else f"{name}:{key}"
        job = Payload(name=name, args=dict(args), root=job_id, attempt=1)
        if community is not None:
            job["community"] = community
        options = _options(job_id, delay, community)
        if priority:
            options["priority"] = priority
        self._writer.enqueue_in_transaction(session, options, as_text(job))

    def prepare(self) -> None:
        """Create or migrate every table the engine needs. Part of ``migrate``; safe to repeat."""
        dbos.run_dbos_database_migrations(self._url, schema=tables.SCHEMA)
        self._tables.create()

    def start(self) -> None:
        """Run jobs from now on, beginning with what this executor left unfinished.

        Raises ``RuntimeError`` when the tables are missing, a periodic job is not registered, or another
        engine runs in this process.
        """
        global _current
        unknown = [name for name in self._ticker.names if name not in self._bodies]
        if unknown:
            raise RuntimeError(f"periodic jobs that are not registered: {', '.join(unknown)}")
        with _one_per_process:
            if _current is not None:
                raise RuntimeError("a process runs one job engine")
            _current = self
            try:
                self._heartbeat.beat()
                self._launch()
            except BaseException as error:
                _current = None
                DBOS.destroy()
                if isinstance(error, (dbos.error.DBOSInitializationError, sa.exc.DatabaseError)):
                    raise RuntimeError(f"the job tables are not ready, run migrate: {error}") from error
                raise
        self._heartbeat.start()
        self._ticker.start()

    def _launch(self) -> None:
        DBOS(
            config={
                "name": APPLICATION,
                "system_database_engine": self._database,
                "dbos_system_schema": tables.SCHEMA,
                "application_version": APPLICATION_VERSION,
                "executor_id": self.executor_id,
                "run_migrations": False,
                # Only messages between workflows need it, at the price of a connection per process.
                "use_listen_notify": False,
                # How long that idle listener may delay the end of the process.
                "notification_listener_polling_interval_sec": 0.2,
                "log_level": "WARNING",
            }
        )
        self._client.register_queue(
            QUEUE, worker_concurrency=self._slots, polling_interval_sec=SERVICE_POLLS * self._poll_seconds
        )
        self._client.register_queue(
            COMMUNITIES,
            worker_concurrency=2 * self._slots,
            partition_worker_concurrency=self._slots,
            polling_interval_sec=self._poll_seconds,
        )
        DBOS.launch()

    def stop(self, drain: float = 10.0) -> bool:
        """Stop taking jobs, wait up to ``drain`` seconds for the running ones, and close the database connections.

        Returns False when jobs were still running. They stay claimed and run again, after a restart or a
        takeover; but the interpreter waits for their threads, so the process must be ended with ``os._exit``.
        """
        global _current
        if _current is self:
            self._ticker.stop()
            DBOS.destroy(workflow_completion_timeout_sec=math.ceil(drain))
            self._heartbeat.stop()
            with _one_per_process:
                _current = None
        self._writer.destroy()
        self._client.destroy()
        tables.close(self._database)
        return not self._running

    def perform(self, job: Payload) -> None:
        """Run one claimed job (called by the workflow)."""
        job_id = DBOS.workflow_id or job["root"]
        self._running.add(job_id)
        try:
            self._bodies.perform(job)
        finally:
            self._running.discard(job_id)

    def _put_back(self, job_id: str, job: Payload, delay: float) -> None:
        # In a transaction of its own, which DBOS repeats while the database is away: the job is not lost.
        self._client.enqueue(_options(job_id, delay, job.get("community")), as_text(job))

    def _tick(self, name: str, period: int) -> None:
        """Enqueue the periodic job, unless another process has done so in this period."""
        job_id = f"{UNKEYED}{ids.new_id()}"
        options = _options(job_id, 0.0, None)
        options["deduplication_id"] = f"every:{name}"
        job = Payload(name=name, args={}, root=job_id, attempt=1, once=True)
        try:
            with self._database.begin() as connection:
                if claim_period(connection, self._tables.periods, name, period):
                    self._client.enqueue_in_transaction(connection, options, as_text(job))
        except dbos.error.DBOSQueueDeduplicatedError:
            log.debug("The periodic job %s is still running; this period passes without it.", name)

    def prune(self, older_than_hours: float | None = None) -> None:
        """Delete jobs that finished more than this many hours ago, in batches, so no writer waits long."""
        age = timedelta(hours=self._keep_hours if older_than_hours is None else older_than_hours)
        self.stored.delete_finished(age)
        self.stored.delete_finished(min(age, timedelta(minutes=UNKEYED_KEPT_MINUTES)), prefix=UNKEYED)
        self._heartbeat.forget_old()

    def counts(self) -> dict[str, int]:
        """Count the jobs that are ``waiting``, ``delayed``, ``running`` and ``dead`` (see ``RESTARTS``)."""
        return self._tables.counts()


_current: Engine | None = None
_one_per_process = threading.Lock()


def _client(database: sa.Engine) -> DBOSClient:
    return DBOSClient(
        system_database_engine=database,
        dbos_system_schema=tables.SCHEMA,
        application_name=APPLICATION,
        lazy=True,
    )


def _options(job_id: str, delay: float, community: str | None) -> EnqueueOptions:
    options = EnqueueOptions(
        workflow_name=WORKFLOW,
        queue_name=QUEUE if community is None else COMMUNITIES,
        workflow_id=job_id,
        serialization_type=dbos.WorkflowSerializationFormat.PORTABLE,
    )
    if community is not None:
        options["queue_partition_key"] = community
    if delay > 0:
        options["delay_seconds"] = delay
    return options


@DBOS.workflow(name=WORKFLOW, max_recovery_attempts=RESTARTS)
def _perform(job: str) -> None:
    engine = _current
    if engine is None:  # an Exception would be taken for the job's own outcome; this leaves it claimed
        raise SystemExit("the job engine has stopped")
    engine.perform(json.loads(job))
