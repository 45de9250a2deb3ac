"""Every job of the service, by name. Registered with the engine of a process, or with its double in tests."""

import uuid
from datetime import timedelta
from typing import Any

from app.core import clock, mail
from app.core.actions import acknowledgements
from app.core.helpfulness import refits
from app.core.raters import digests
from app.core.requests import retention, scoring, submitting
from app.core.review import holds, overturns, queue
from app.core.upkeep import community_states
from app.core.webhooks import deliveries, replays
from app.jobs import mailing, rescoring
from app.wiring import JobEngine, Wiring

SWEEP = "sweep"
SWEEP_SECONDS = 30.0
REMOVE_CONTENT = "remove_content"
REMOVE_CONTENT_SECONDS = 86_400.0
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

    def remove_once() -> None:
        remove_content(wiring)

    def refit_notes(community_id: str) -> None:
        rescoring.refit(wiring.database, uuid.UUID(community_id))

    def sweep_scoring() -> None:
        rescoring.sweep(wiring.database)

    def look_again(action_id: str) -> None:
        with wiring.database.writing() as session:
            acknowledgements.look_again(session, uuid.UUID(action_id))

    def send_mail(kind: str, account_id: str | None = None, link_id: str | None = None) -> None:
        mailing.send(wiring, kind, account_id, link_id)

    def send_digests() -> None:
        mailing.send_digests(wiring)

    def replay_range(replay_id: str) -> None:
        replay(wiring, uuid.UUID(replay_id))

    def end_reviews(community_id: str) -> None:
        with wiring.database.writing() as session:
            community_states.end_reviews(session, uuid.UUID(community_id))

    def overturn_batch(overturn_id: str, settled: int) -> None:
        with wiring.database.writing() as session:
            overturns.carry_on(session, uuid.UUID(overturn_id), settled)

    jobs.register(mail.MAIL_JOB, send_mail, attempts=mailing.MAIL_ATTEMPTS)
    jobs.register(community_states.END_REVIEWS_JOB, end_reviews)
    jobs.register(overturns.OVERTURN_JOB, overturn_batch)
    jobs.register(submitting.SCORE_JOB, score_request)
    jobs.register(replays.REPLAY_JOB, replay_range)
    jobs.register(acknowledgements.LOOK_AGAIN_JOB, look_again)
    jobs.register(holds.CARRY_OUT_JOB, carry_out_hold)
    jobs.register(digests.DIGEST_JOB, send_digests, attempts=1)
    jobs.every(digests.DIGEST_JOB, digests.DIGEST_SECONDS)
    # A refit that fails is due again a minute later, and the sweep finds it.
    jobs.register(refits.REFIT_JOB, refit_notes, attempts=1)
    jobs.register(rescoring.SWEEP_JOB, sweep_scoring, attempts=1)
    jobs.every(rescoring.SWEEP_JOB, rescoring.SWEEP_SECONDS)
    jobs.register(SWEEP, sweep_once, attempts=1)
    jobs.every(SWEEP, SWEEP_SECONDS)
    jobs.register(REMOVE_CONTENT, remove_once, attempts=1)
    jobs.every(REMOVE_CONTENT, REMOVE_CONTENT_SECONDS)
    jobs.register(PRUNE, prune_once, attempts=1)
    jobs.every(PRUNE, PRUNE_SECONDS)


def score(wiring: Wiring, request_id: uuid.UUID) -> None:
    """Score one request: start, classify outside of any transaction, record and route."""
    with wiring.database.writing() as session:
        request = scoring.start(session, request_id)
        if request is None:
            return
        classifiers = wiring.rules.classifiers(session, request.community_id, wiring.classifiers)
    scorings = scoring.classify(classifiers, request)
    with wiring.database.writing() as session:
        scoring.record_scores(session, request_id, scorings)


def give_up(wiring: Wiring, name: str, args: dict[str, Any], error: BaseException) -> None:
    """A job has used up its attempts: what it was to finish says so."""
    if name == submitting.SCORE_JOB:
        with wiring.database.writing() as session:
            scoring.fail(session, uuid.UUID(args["request_id"]), f"{type(error).__name__}: {error}")
    elif name == replays.REPLAY_JOB:
        with wiring.database.writing() as session:
            replays.give_up(session, uuid.UUID(args["replay_id"]), "It failed again and again")
    elif name == mail.MAIL_JOB:
        mailing.give_up(wiring, args)


def replay(wiring: Wiring, replay_id: uuid.UUID) -> None:
    """Send a range again, a batch a transaction, until nothing of it is left."""
    finished = False
    while not finished:
        with wiring.database.writing() as session:
            finished = replays.run_batch(session, replay_id)


def sweep(wiring: Wiring) -> None:
    """Make up for what a lost job or the passing of time left behind."""
    with wiring.database.reading() as session:
        late = holds.overdue(session)
    for hold_id in late:
        with wiring.database.writing() as session:
            holds.carry_out(session, hold_id)
    limit = clock.now() - timedelta(days=wiring.settings.review_days)
    with wiring.database.writing() as session:
        queue.expire(session, limit)
    with wiring.database.writing() as session:
        overturns.enqueue_stalled(session)


def prune(wiring: Wiring) -> None:
    """Forget delivery attempts after 30 days (docs/integration.md), a batch a transaction."""
    mailing.prune(wiring)
    limit = clock.now() - ATTEMPTS_KEPT
    while True:
        with wiring.database.writing() as session:
            if deliveries.prune_attempts(session, limit) == 0:
                return


def remove_content(wiring: Wiring) -> None:
    """Blank what communities no longer keep, a batch a transaction."""
    with wiring.database.reading() as session:
        limits = retention.retention_days(session)
    for community_id, days in limits.items():
        is_first = True
        while True:
            with wiring.database.writing() as session:
                if retention.remove(session, community_id, days, is_first=is_first) == 0:
                    break
            is_first = False
