"""Every job of the service, by name. Registered with the engine of a process, or with its double in tests."""

import uuid
from datetime import timedelta
from typing import Any

from app.core import actions, clock, deliveries, holds, refits, requests, review_queue
from app.jobs import rescoring
from app.wiring import JobEngine, Wiring

SWEEP = "sweep"
SWEEP_SECONDS = 30.0
PRUNE = "prune_attempts"
PRUNE_SECONDS = 86_400.0
ATTEMPTS_KEPT = timedelta(days=30)


def register_all(jobs: JobEngine, wiring: Wiring) -> None:
    """Tell ``jobs`` every body. Periodic ones are started by whoever starts the engine."""

    def score_request(request_id: str) -> None:
        score(wiring, uuid.UUID(request_id))

    def carry_out_hold(hold_id: str) -> None:
        with wiring.database.writing() as session:
            holds.carry_out(session, uuid.UUID(hold_id))

    def sweep_once() -> None:
        sweep(wiring)

    def prune_once() -> None:
        prune(wiring)

    def refit_notes(community_id: str) -> None:
        rescoring.refit(wiring.database, uuid.UUID(community_id))

    def sweep_scoring() -> None:
        rescoring.sweep(wiring.database)

    def look_again(action_id: str) -> None:
        with wiring.database.writing() as session:
            actions.look_again(session, uuid.UUID(action_id))

    jobs.register(requests.SCORE_JOB, score_request)
    jobs.register(actions.LOOK_AGAIN_JOB, look_again)
    jobs.register(holds.CARRY_OUT_JOB, carry_out_hold)
    # A refit that fails is due again a minute later, and the sweep finds it.
    jobs.register(refits.REFIT_JOB, refit_notes, attempts=1)
    jobs.register(rescoring.SWEEP_JOB, sweep_scoring, attempts=1)
    jobs.every(rescoring.SWEEP_JOB, rescoring.SWEEP_SECONDS)
    jobs.register(SWEEP, sweep_once, attempts=1)
    jobs.every(SWEEP, SWEEP_SECONDS)
    jobs.register(PRUNE, prune_once, attempts=1)
    jobs.every(PRUNE, PRUNE_SECONDS)


def score(wiring: Wiring, request_id: uuid.UUID) -> None:
    """Score one request: start, classify outside of any transaction, record and route."""
    with wiring.database.writing() as session:
        request = requests.start(session, request_id)
    if request is None:
        return
    scorings = requests.classify(wiring.classifiers, request)
    with wiring.database.writing() as session:
        requests.record_scores(session, request_id, scorings)


def give_up(wiring: Wiring, name: str, args: dict[str, Any], error: BaseException) -> None:
    """A job has used up its attempts: a request whose scoring failed says so."""
    if name == requests.SCORE_JOB:
        with wiring.database.writing() as session:
            requests.fail(session, uuid.UUID(args["request_id"]), f"{type(error).__name__}: {error}")


def sweep(wiring: Wiring) -> None:
    """Make up for what a lost job or the passing of time left behind."""
    with wiring.database.reading() as session:
        late = holds.overdue(session)
    for hold_id in late:
        with wiring.database.writing() as session:
            holds.carry_out(session, hold_id)
    limit = clock.now() - timedelta(days=wiring.settings.review_days)
    with wiring.database.writing() as session:
        review_queue.expire(session, limit)


def prune(wiring: Wiring) -> None:
    """Forget delivery attempts after 30 days (Contract: section 7, Isolation), a batch a transaction."""
    limit = clock.now() - ATTEMPTS_KEPT
    while True:
        with wiring.database.writing() as session:
            if deliveries.prune_attempts(session, limit) == 0:
                return
