"""Finds out which executors are alive, and takes over the jobs of dead ones.

Each executor counts up its row of ``job_heartbeats``. Clocks are not compared: an executor counts as dead when
its counter has stood still during several of *our own* successful beats. So a clock that jumps, or a database
that is blocked or away for a minute (no beat gets through then), ends no executor.

At its launch DBOS resumes what its own executor left unfinished. It does not find out which other executors died, and
its documented way to put their jobs back is to resume each by its id. Demanded by tests/faults/test_engine.py:
``test_the_job_of_a_killed_process_is_taken_over_by_another``,
``test_the_job_of_a_living_process_is_not_taken_over`` and, for what was claimed and never begun,
``test_a_job_claimed_by_this_executor_that_never_began_is_put_back``.
"""

import logging
import threading
import time
from collections.abc import Callable, Collection, Mapping

import sqlalchemy as sa

from app.core import clock, ids

log = logging.getLogger(__name__)

KEEP_ROWS = 24 * 3600.0
"""Seconds for which the row of a dead executor is kept, and the executor is reported as dead."""


class Stillness:
    """Counts how often in a row a value was seen unchanged."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int]] = {}

    def look(self, values: Mapping[str, int]) -> dict[str, int]:
        """Return how often each name was seen again with the same value. Names that are not given are forgotten."""
        seen: dict[str, tuple[int, int]] = {}
        for name, value in values.items():
            before, count = self._seen.get(name, (value, -1))
            seen[name] = (value, count + 1 if before == value else 0)
        self._seen = seen
        return {name: count for name, (_, count) in seen.items()}


def heartbeats_table(schema: str | None) -> sa.Table:
    """``beats`` counts up, ``process`` wrote last; ``beat_at``, epoch seconds, is for people."""
    return sa.Table(
        "job_heartbeats",
        sa.MetaData(schema=schema),
        sa.Column("executor_id", sa.Text, primary_key=True),
        sa.Column("process", sa.Text, nullable=False),
        sa.Column("beats", sa.BigInteger, nullable=False),
        sa.Column("beat_at", sa.Float, nullable=False),
    )


class Heartbeat:
    """Beats for one executor and takes over the jobs of executors that have stopped.

    ``held`` gives the unfinished jobs that executors have claimed, as ``{executor_id: job ids}``; ``running``
    the ids of those that really run in this process; ``take_over(executor_id, job_ids)`` puts jobs back into
    the queue, and must do nothing for a job that executor no longer holds.
    """

    def __init__(
        self,
        database: sa.Engine,
        table: sa.Table,
        executor_id: str,
        *,
        seconds: float,
        missed: int,
        held: Callable[[], Mapping[str, Collection[str]]],
        running: Callable[[], Collection[str]],
        take_over: Callable[[str, Collection[str]], None],
    ) -> None:
        self._database = database
        self._table = table
        self._executor_id = executor_id
        self._process = str(ids.new_id())
        self._seconds = seconds
        self._missed = missed
        self._held = held
        self._running = running
        self._take_over = take_over
        self._executors = Stillness()
        self._strays = Stillness()
        self._begun = False
        self._warned = False
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def beat(self) -> None:
        """Write one beat in its own transaction."""
        table = self._table
        mine = table.c.executor_id == self._executor_id
        with self._database.begin() as connection:
            writer = connection.execute(sa.select(table.c.process).where(mine)).scalar()
            values = {"process": self._process, "beat_at": clock.now().timestamp()}
            if writer is None:
                connection.execute(table.insert().values(executor_id=self._executor_id, beats=1, **values))
            else:
                connection.execute(table.update().where(mine).values(beats=table.c.beats + 1, **values))
        if self._begun and writer not in (None, self._process) and not self._warned:
            self._warned = True
            log.error("Another process also runs as executor %s: give each its own id.", self._executor_id)
        self._begun = True

    def sweep(self) -> None:
        """Take over the jobs of executors whose counter did not change during ``missed`` of our beats."""
        table = self._table
        with self._database.connect() as connection:
            rows = connection.execute(sa.select(table.c.executor_id, table.c.beats)).all()
        beats: dict[str, int] = {row.executor_id: row.beats for row in rows}
        held = {name: set(jobs) for name, jobs in self._held().items()}
        ours = held.pop(self._executor_id, set())

        still = self._executors.look({name: beats.get(name, 0) for name in held})
        for name, count in still.items():
            if count >= self._missed:
                log.warning("Executor %s has stopped: taking over %d of its jobs.", name, len(held[name]))
                self._take_over(name, held[name])

        # A claim whose answer was lost with the connection leaves a job that we hold and that never runs.
        strays = self._strays.look(dict.fromkeys(ours - set(self._running()), 0))
        lost = [job for job, count in strays.items() if count >= self._missed]
        if lost:
            log.warning("%d claimed jobs never began here: putting them back.", len(lost))
            self._take_over(self._executor_id, lost)

    def forget_old(self) -> None:
        """Delete the rows of executors that have been gone for days."""
        before = clock.now().timestamp() - KEEP_ROWS
        with self._database.begin() as connection:
            connection.execute(self._table.delete().where(self._table.c.beat_at < before))

    def start(self) -> None:
        self._thread = threading.Thread(target=self._loop, name="job-heartbeat", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and delete the row: who ends in order is not reported as dead.

        Jobs that it still holds are taken over all the same: a missing row stands still, too.
        """
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        table = self._table
        try:
            with self._database.begin() as connection:
                connection.execute(
                    table.delete().where(
                        table.c.executor_id == self._executor_id, table.c.process == self._process
                    )
                )
        except sa.exc.SQLAlchemyError as error:
            log.warning("This process ends, and will be reported as dead: %s", error)

    def _loop(self) -> None:
        failing = False
        while not self._stop.wait(self._seconds):
            began = time.monotonic()
            try:
                self.beat()
                self.sweep()
                failing = False
            except Exception as error:
                # Once per outage: the loop itself is the retry.
                if not failing:
                    log.warning("The job heartbeat failed after %.1f s: %s", time.monotonic() - began, error)
                failing = True
