"""Periodic jobs: one thread that notices when a new period has begun.

The schedules of DBOS begin with the next period, so what is due once a day would never run on a machine that is
switched off at night; and after a pause of 8 periods they ran 9 times at once. Demanded by tests/faults/test_engine.py:
``test_a_periodic_job_runs_once_per_period_however_often_the_service_restarts`` (decision 0004).
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from app.core import clock

log = logging.getLogger(__name__)

LOOK_SECONDS = 1.0
"""Seconds between two looks at the clock. Of a period that is as short, a run is left out now and then."""


def periods_table(schema: str | None) -> sa.Table:
    """``job_periods``: the last period of each periodic job that any process began.

    The ids of jobs would hold all of them: then a clock that was set back would stop what is periodic until it is as
    late again (``test_a_periodic_job_runs_again_after_the_clock_was_set_back``).
    """
    return sa.Table(
        "job_periods",
        sa.MetaData(schema=schema),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("period", sa.BigInteger, nullable=False),
    )


def claim_period(connection: sa.Connection, periods: sa.Table, name: str, period: int) -> bool:
    """Whether this transaction is the first to see this period of the periodic job ``name``."""
    # "Another" rather than "a later" period: after a clock was set back, periods go on at once.
    other = periods.c.period != period
    insert: Any = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(periods).values(name=name, period=period)
    changed = statement.on_conflict_do_update(index_elements=["name"], set_={"period": period}, where=other)
    return connection.execute(changed.returning(periods.c.name)).first() is not None


class Ticker:
    """Calls ``fire(name, period number)`` once per name and period, in this process.

    The period number is epoch seconds ÷ period, so all processes agree on it; that only one of them enqueues
    the job is decided in the database, by ``fire``.
    """

    def __init__(self, fire: Callable[[str, int], None]) -> None:
        self._fire = fire
        self._periods: dict[str, float] = {}
        self._last: dict[str, int] = {}
        self._failing: set[str] = set()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def names(self) -> list[str]:
        return list(self._periods)

    def add(self, name: str, seconds: float) -> None:
        if seconds < 1:
            raise ValueError(f"every({name!r}): a period is at least 1 second")
        self._periods[name] = seconds

    def look(self) -> None:
        """Fire every name whose period differs from that of the last look; clocks are also set back."""
        moment = clock.now().timestamp()
        for name, seconds in self._periods.items():
            period = int(moment // seconds)
            if self._last.get(name) == period:
                continue
            try:
                self._fire(name, period)
            except Exception as error:
                # Once per outage: the loop itself is the retry.
                if name not in self._failing:
                    log.warning("The periodic job %s could not be enqueued: %s", name, error)
                self._failing.add(name)
                continue
            self._failing.discard(name)
            self._last[name] = period

    def start(self) -> None:
        self._thread = threading.Thread(target=self._loop, name="job-ticker", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=5)

    def _loop(self) -> None:
        while not self._stop.is_set():
            self.look()
            self._stop.wait(LOOK_SECONDS)
