"""The bodies of the jobs by name: calling them, retrying them, giving up on them.

A retry of DBOS would sleep in the slot of its job. Here it is a job of its own with a delay, as
``test_a_failing_job_is_retried_after_its_delay_and_then_given_up`` demands, and a name that only newer code knows waits
for that code (``test_a_job_that_this_code_does_not_know_waits_for_code_that_does``).
"""

import json
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from sqlalchemy.orm import Session

from app.core.db import Database

log = logging.getLogger(__name__)

UNKNOWN_DELAY = 60.0
"""Seconds until a job with an unknown name is tried again: another version of the code may know the name."""
UNKNOWN_WAITS = 1440
"""How often such a job is tried before it is given up: for one day."""

Body = Callable[..., None]
Backoff = Callable[[int], float]
GiveUp = Callable[[str, dict[str, Any], Exception], None]


def default_backoff(attempt: int) -> float:
    """Seconds to wait after the ``attempt``-th failure: 2, 8, 32, 128, 512, then every 10 minutes."""
    return float(min(600, 2 * 4 ** min(attempt - 1, 8)))


class Payload(TypedDict):
    """A job as it is stored. ``root`` is the id of the first attempt; the ids of later attempts are made from it."""

    name: str
    args: dict[str, Any]
    root: str
    attempt: int
    once: NotRequired[bool]  # a periodic job is not retried: its next period is the retry
    waits: NotRequired[int]  # how often no worker knew the name
    community: NotRequired[str]  # whose turn it takes; without one it is the service's own


def as_text(job: Payload) -> str:
    """The job as JSON. Raises ``TypeError`` or ``ValueError`` that names it when its arguments are not JSON values."""
    # Not by DBOS, whose JSON leaves lone surrogates as they are: no database takes those.
    try:
        return json.dumps(job, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise type(error)(f"the arguments of job {job['name']!r} are not JSON values: {error}") from None


PutBack = Callable[[str, Payload, float], None]
"""Store a job again: its id, what it is, its delay in seconds. Storing an id twice does nothing."""


@dataclass(frozen=True)
class _Registered:
    body: Body
    attempts: int
    backoff: Backoff


class Bodies:
    """The functions that run jobs, by the name of the job."""

    def __init__(self, put_back: PutBack, on_give_up: GiveUp | None) -> None:
        self._put_back = put_back
        self._on_give_up = on_give_up
        self._registered: dict[str, _Registered] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._registered

    def register(self, name: str, body: Body, attempts: int, backoff: Backoff) -> None:
        if attempts < 1:
            raise ValueError(f"register({name!r}): attempts must be at least 1")
        self._registered[name] = _Registered(body, attempts, backoff)

    def perform(self, job: Payload) -> None:
        """Call the body of one job; when it raises, store the next attempt, or give up after the last."""
        registered = self._registered.get(job["name"])
        if registered is None:
            self._wait_for_newer_code(job)
            return
        try:
            registered.body(**job["args"])
        except Exception as error:  # whatever a body raises, the slot goes on with the next job
            self._failed(job, registered, error)

    def _failed(self, job: Payload, registered: _Registered, error: Exception) -> None:
        name, attempt = job["name"], job["attempt"]
        attempts = 1 if job.get("once") else registered.attempts
        if attempt >= attempts:
            log.error("Job %s failed %d times, giving up.", name, attempt, exc_info=error)
            self._give_up(job, error)
            return
        delay = registered.backoff(attempt)
        log.warning(
            "Job %s failed (%d of %d), again in %.1f s.", name, attempt, attempts, delay, exc_info=error
        )
        again = job.copy()
        again["attempt"] = attempt + 1
        # The id is derived: an attempt that a crash makes fail twice still has one successor.
        self._put_back(f"{job['root']}~{attempt + 1}", again, delay)

    def _give_up(self, job: Payload, error: Exception) -> None:
        if self._on_give_up is None:
            return
        try:
            self._on_give_up(job["name"], job["args"], error)
        except Exception:
            log.exception("Reporting that job %s was given up failed.", job["name"])

    def _wait_for_newer_code(self, job: Payload) -> None:
        """Store a job with an unknown name again: during an upgrade, newer processes write jobs with new names."""
        waits = job.get("waits", 0) + 1
        if waits > UNKNOWN_WAITS:
            log.error("No worker knows job %s, giving up.", job["name"])
            self._give_up(job, LookupError(job["name"]))
            return
        log.warning("This process does not know job %s, which is offered again in a minute.", job["name"])
        again = job.copy()
        again["waits"] = waits
        self._put_back(f"{job['root']}~{job['attempt']}w{waits}", again, UNKNOWN_DELAY)


def repeat(database: Database, step: Callable[[Session], int | bool]) -> None:
    """Call ``step``, each time in a transaction of its own, until it returns 0 or False: nothing more to do."""
    has_more: int | bool = True
    while has_more:
        with database.writing() as session:
            has_more = step(session)


@contextmanager
def part(what: str) -> Iterator[None]:
    """Run one part of a job. An error in it is logged as that of a failed job is, and the next run tries it again.

    ``what`` is the part's name in the log, such as "training the model of community …".
    """
    try:
        yield
    except Exception:
        log.exception("A part of a job failed, and the next run tries it again: %s.", what)
