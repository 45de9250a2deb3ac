"""Wakes the engine's claiming threads when a job waits, so that they need not try ten times a second.

A commit that enqueues a job and the end of a job wake the threads of their own process. For jobs of other processes and
for delays that have passed, one thread looks.

A claiming thread of DBOS sleeps for its queue's polling interval and then tries to claim, which takes several
transactions even when there is nothing to claim. Here one thread asks the database, with one statement on one
connection, which queues hold a job that waits, and wakes the claiming threads of these queues. The same statement tells
when the next delay is over; then this thread releases the job, which DBOS would look for once a second.
Figures and what else was considered: docs/decisions/0059-idle-processes.md.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence

import sqlalchemy as sa

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.25
"""Seconds between two looks."""

SAFETY_SECONDS = 20.0
"""Seconds between two polls of a claiming thread that nobody woke."""


class Alarm(threading.Event):
    """The stop event of a claiming thread, whose ``wait`` also ends, returning False, when somebody calls ``wake``.

    ``wait`` lasts at least ``pause`` seconds, so that one claim takes many jobs when they come quickly. It takes no
    notice of the polling interval that DBOS gives it: the database keeps that one for processes without a lookout.
    """

    def __init__(self, pause: float) -> None:
        super().__init__()
        self._pause = pause
        self._woken = threading.Event()

    def wait(self, timeout: float | None = None) -> bool:
        if super().wait(self._pause):
            return True
        self._woken.wait(SAFETY_SECONDS)
        self._woken.clear()
        return self.is_set()

    def wake(self) -> None:
        self._woken.set()

    def set(self) -> None:
        super().set()
        self._woken.set()


class Lookout:
    """The claiming threads of some queues, and the thread that looks which of these queues hold a job that waits.

    ``schema`` is that of DBOS's tables. ``claim(queue, alarm)`` runs in the queue's thread until the alarm is set, and
    waits with it between two claims, at least ``pause`` seconds. ``release()`` lets jobs wait for a claim once their
    delay is over.
    """

    def __init__(
        self,
        database: sa.Engine,
        schema: str | None,
        queues: Sequence[str],
        claim: Callable[[str, Alarm], None],
        release: Callable[[], None],
        *,
        pause: float,
    ) -> None:
        # SQLite reads outside of transactions as it is (``tables.own_connections``).
        self._database = (
            database
            if database.dialect.name == "sqlite"
            else database.execution_options(isolation_level="AUTOCOMMIT")
        )
        self._alarms = {name: Alarm(pause) for name in queues}
        self._claim = claim
        self._release = release
        names = ("queue_name", "status", "delay_until_epoch_ms")
        status = sa.table("workflow_status", *[sa.column(name) for name in names], schema=schema)
        # DBOS's index is of the jobs in these two states. That "ENQUEUED" is one of them SQLite does not see by itself.
        unfinished = status.c.status.in_(["ENQUEUED", "PENDING"])
        waits = (
            sa.exists().where(status.c.queue_name == name, status.c.status == "ENQUEUED", unfinished)
            for name in queues
        )
        delay_over = sa.select(sa.func.min(status.c.delay_until_epoch_ms)).where(status.c.status == "DELAYED")
        # As text: to find the compiled statement of an expression would take most of the time of a look.
        compiled = sa.select(*waits, delay_over.scalar_subquery()).compile(
            database, compile_kwargs={"literal_binds": True}
        )
        self.statement = str(compiled)
        self._stop = threading.Event()
        self._looking: threading.Thread | None = None

    def start(self) -> None:
        for name, alarm in self._alarms.items():
            # Named as DBOS names its own, which the engine counts when it stops.
            threading.Thread(
                target=self._claim, args=(name, alarm), name=f"queue-worker-{name}", daemon=True
            ).start()
        self._looking = threading.Thread(target=self._loop, name="job-lookout", daemon=True)
        self._looking.start()

    def wake(self) -> None:
        """Let every thread claim now, or as soon as its pause is over."""
        for alarm in self._alarms.values():
            alarm.wake()

    def stop(self) -> None:
        """Let the claiming threads end after the claim that they are at."""
        self._stop.set()
        for alarm in self._alarms.values():
            alarm.set()
        if self._looking is not None:
            self._looking.join(timeout=5)

    def _loop(self) -> None:
        failing = False
        while not self._stop.is_set():
            try:
                # One connection while the database answers: to take one from the pool costs more than a look.
                with self._database.connect() as connection:
                    while not self._stop.wait(LOOK_SECONDS):
                        self._look(connection)
                        failing = False
            except Exception as error:
                # Once per outage. The threads claim every few seconds meanwhile, and this loop is the retry.
                if not failing:
                    log.warning("The look for waiting jobs failed: %s: %s", type(error).__name__, error)
                failing = True
                self._stop.wait(LOOK_SECONDS)

    def _look(self, connection: sa.Connection) -> None:
        *waits, delay_over = connection.exec_driver_sql(self.statement).one()
        if delay_over is not None and delay_over <= 1000 * time.time():
            self._release()
            waits = [True] * len(waits)
        for alarm, is_waiting in zip(self._alarms.values(), waits, strict=True):
            if is_waiting:
                alarm.wake()
