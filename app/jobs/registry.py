"""All jobs of the service by name. They are registered with the engine, in tests with one that runs in-process."""

import uuid
from datetime import timedelta
from typing import Any

from app.core import clock, mail
from app.core.actions import acknowledgements
from app.core.actions.panels_due import TEND_JOB
from app.core.attachments import adding, fetching
from app.core.factcheck import feed_looks, feeds, imports, search
from app.core.helpfulness import refits
from app.core.insights.rollups import ROLLUP_JOB, ROLLUP_SECONDS
from app.core.learning import schedule
from app.core.panels import tending
from app.core.raters import digests
from app.core.requests import image_scoring, observing, retention, submitting
from app.core.requests import scoring as request_scoring
from app.core.review import conditions, holds, overturns
from app.core.upkeep import community_revisions
from app.core.upkeep.attention import ATTENTION_JOB, ATTENTION_SECONDS
from app.core.webhooks import replays
from app.jobs import (
    attachments,
    attention,
    embedding,
    heads,
    importing,
    learning,
    mailing,
    panels,
    pruning,
    rescoring,
    rollups,
    scoring,
)
from app.jobs.parts import part
from app.wiring import JobEngine, Wiring

SWEEP = "sweep"
SWEEP_SECONDS = 30.0
REMOVE_CONTENT = "remove_content"
REMOVE_CONTENT_SECONDS = 86_400.0
# It prunes all kinds of rows; the old name stays, because stored jobs carry it.
PRUNE = "prune_attempts"
PRUNE_SECONDS = 86_400.0
FORMER_SCORE_JOB = "score_request_slowly"
"""Stored by code from before migration 0064."""


def register_all(jobs: JobEngine, wiring: Wiring) -> None:
    """Register every job with ``jobs``. The code that starts the engine also starts the periodic jobs."""

    scorer = scoring.Scorer(wiring)

    def score_request(request_id: str) -> None:
        scorer.score(uuid.UUID(request_id))

    def observe_services(request_id: str) -> None:
        scoring.observe(wiring, uuid.UUID(request_id))

    def fetch_attachment(attachment_id: str) -> None:
        attachments.fetch(wiring, uuid.UUID(attachment_id))

    def score_images(request_id: str, turn: int) -> None:
        attachments.score_images(wiring, uuid.UUID(request_id), turn)

    def clean_media() -> None:
        attachments.clean(wiring)

    def carry_out_hold(hold_id: str) -> None:
        with wiring.database.writing() as session:
            holds.carry_out(session, uuid.UUID(hold_id))

    def sweep_once() -> None:
        sweep(wiring)

    def export_heads() -> None:
        heads.export(wiring)

    def prune_once() -> None:
        pruning.prune(wiring)

    def remove_once() -> None:
        remove_content(wiring)

    def refit_notes(community_id: str) -> None:
        rescoring.refit(wiring.database, uuid.UUID(community_id))

    def sweep_scoring() -> None:
        rescoring.sweep(wiring.database)

    def tend_panels(community_id: str) -> None:
        panels.tend(wiring.database, uuid.UUID(community_id))

    def sweep_panels() -> None:
        panels.sweep(wiring.database)

    def learn() -> None:
        learning.sweep(wiring.database)

    def roll_up() -> None:
        rollups.roll_up(wiring.database)

    def look_again(action_id: str) -> None:
        with wiring.database.writing() as session:
            acknowledgements.look_again(session, uuid.UUID(action_id))

    def send_mail(
        kind: str, account_id: str | None = None, link_id: str | None = None, entry_id: str | None = None
    ) -> None:
        mailing.send(wiring, kind, account_id, link_id, entry_id)

    def send_digests() -> None:
        mailing.send_digests(wiring)

    def find_attention() -> None:
        attention.sweep(wiring.database)

    def replay_range(replay_id: str) -> None:
        replay(wiring, uuid.UUID(replay_id))

    def end_reviews(community_id: str) -> None:
        with wiring.database.writing() as session:
            community_revisions.end_reviews(session, uuid.UUID(community_id))

    def overturn_batch(overturn_id: str, settled: int) -> None:
        with wiring.database.writing() as session:
            overturns.carry_on(session, uuid.UUID(overturn_id), settled)

    def import_dataset(import_id: str) -> None:
        importing.run(wiring.database, uuid.UUID(import_id))

    def look_at_feed(feed_id: str) -> None:
        importing.look(wiring.database, wiring.feeds, uuid.UUID(feed_id))

    def embed_fact_checks() -> None:
        embedding.sweep(wiring.database, wiring.services)

    def look_at_feeds() -> None:
        with wiring.database.writing() as session:
            feed_looks.enqueue_due(session)

    jobs.register(imports.IMPORT_JOB, import_dataset, attempts=3)
    # A look that fails is recorded, and its next turn is the retry.
    jobs.register(feeds.LOOK_JOB, look_at_feed, attempts=2)
    jobs.register(feed_looks.SWEEP_JOB, look_at_feeds, attempts=1)
    jobs.every(feed_looks.SWEEP_JOB, feed_looks.SWEEP_SECONDS)
    jobs.register(embedding.EMBED_JOB, embed_fact_checks, attempts=1)
    jobs.every(embedding.EMBED_JOB, embedding.EMBED_SECONDS)
    jobs.register(mail.MAIL_JOB, send_mail, attempts=mailing.MAIL_ATTEMPTS)
    jobs.register(community_revisions.END_REVIEWS_JOB, end_reviews)
    jobs.register(overturns.OVERTURN_JOB, overturn_batch)
    jobs.register(submitting.SCORE_JOB, score_request)
    jobs.register(FORMER_SCORE_JOB, score_request)
    # Failed fetches are tried again by jobs of their own; this is for a database that cannot be reached.
    jobs.register(adding.FETCH_JOB, fetch_attachment)
    jobs.register(image_scoring.SCORE_IMAGES_JOB, score_images, attempts=3)
    jobs.register(attachments.CLEAN_JOB, clean_media, attempts=1)
    jobs.every(attachments.CLEAN_JOB, attachments.CLEAN_SECONDS)
    jobs.register(observing.OBSERVE_JOB, observe_services, attempts=2)
    jobs.register(replays.REPLAY_JOB, replay_range)
    jobs.register(acknowledgements.LOOK_AGAIN_JOB, look_again)
    jobs.register(holds.CARRY_OUT_JOB, carry_out_hold)
    jobs.register(digests.DIGEST_JOB, send_digests, attempts=1)
    jobs.every(digests.DIGEST_JOB, digests.DIGEST_SECONDS)
    jobs.register(ATTENTION_JOB, find_attention, attempts=1)
    jobs.every(ATTENTION_JOB, ATTENTION_SECONDS)
    # A refit that fails is due again a minute later, and the sweep finds it.
    jobs.register(refits.REFIT_JOB, refit_notes, attempts=1)
    jobs.register(rescoring.SWEEP_JOB, sweep_scoring, attempts=1)
    jobs.every(rescoring.SWEEP_JOB, rescoring.SWEEP_SECONDS)
    # What a lost or failed job left is found by the sweep.
    jobs.register(TEND_JOB, tend_panels, attempts=1)
    jobs.register(panels.SWEEP_JOB, sweep_panels, attempts=1)
    jobs.every(panels.SWEEP_JOB, tending.TEND_SECONDS)
    jobs.register(schedule.LEARN_JOB, learn, attempts=1)
    jobs.every(schedule.LEARN_JOB, schedule.LEARN_SECONDS)
    jobs.register(ROLLUP_JOB, roll_up, attempts=1)
    jobs.every(ROLLUP_JOB, ROLLUP_SECONDS)
    jobs.register(SWEEP, sweep_once, attempts=1)
    jobs.every(SWEEP, SWEEP_SECONDS)
    jobs.register(REMOVE_CONTENT, remove_once, attempts=1)
    jobs.every(REMOVE_CONTENT, REMOVE_CONTENT_SECONDS)
    jobs.register(heads.EXPORT_JOB, export_heads)
    jobs.every(heads.EXPORT_JOB, heads.EXPORT_SECONDS)
    jobs.register(PRUNE, prune_once, attempts=1)
    jobs.every(PRUNE, PRUNE_SECONDS)


def give_up(wiring: Wiring, name: str, args: dict[str, Any], error: BaseException) -> None:
    """Mark the request, replay or other object whose job failed in its last attempt."""
    if name in (submitting.SCORE_JOB, FORMER_SCORE_JOB):
        with wiring.database.writing() as session:
            request_scoring.fail(session, uuid.UUID(args["request_id"]), f"{type(error).__name__}: {error}")
    elif name == replays.REPLAY_JOB:
        with wiring.database.writing() as session:
            replays.give_up(session, uuid.UUID(args["replay_id"]), "It failed again and again")
    elif name == imports.IMPORT_JOB:
        with wiring.database.writing() as session:
            imports.fail(session, uuid.UUID(args["import_id"]), "It failed again and again.")
    elif name == mail.MAIL_JOB:
        mailing.give_up(wiring, args)


def replay(wiring: Wiring, replay_id: uuid.UUID) -> None:
    """Replay a range of deliveries, one batch in each transaction, until none is left."""
    finished = False
    while not finished:
        with wiring.database.writing() as session:
            finished = replays.run_batch(session, replay_id)


def sweep(wiring: Wiring) -> None:
    """Find work that a lost job left undone, reviews, claims and holds whose time is over, fact-checks to index.

    What fails does not keep the rest.
    """
    limit = clock.now() - timedelta(days=wiring.settings.review_days)
    # Looked up without a lock: mostly there is nothing to do, and writers need not wait to hear that.
    with wiring.database.reading() as session:
        late = holds.overdue(session)
        has_expired, has_stalled = conditions.has_expired(session, limit), overturns.has_stalled(session)
    for hold_id in late:
        with part(f"carrying out the held decision {hold_id}"), wiring.database.writing() as session:
            holds.carry_out(session, hold_id)
    if has_expired:
        with part("ending reviews without consensus"), wiring.database.writing() as session:
            conditions.expire(session, limit)
    if has_stalled:
        with part("going on with overturns"), wiring.database.writing() as session:
            overturns.enqueue_stalled(session)
    with wiring.database.reading() as session:
        has_waiting, has_left_behind = search.has_waiting(session), imports.has_left_behind(session)
        has_lost = fetching.has_lost(session)
    if has_left_behind:
        with part("going on with imports"), wiring.database.writing() as session:
            imports.enqueue_stalled(session)
            imports.stop_abandoned(session)
    if has_lost:
        with part("fetching attachments whose jobs were lost"), wiring.database.writing() as session:
            fetching.enqueue_lost(session)
    with part("indexing fact-checks"):
        while has_waiting:
            with wiring.database.writing() as session:
                has_waiting = search.add_waiting(session) == search.WAITING


def remove_content(wiring: Wiring) -> None:
    """Remove content that is older than its community keeps it, one batch in each transaction."""
    with wiring.database.reading() as session:
        limits, withdrawn_in = retention.retention_days(session), retention.with_withdrawn(session)
    for community_id in withdrawn_in:
        with part(f"removing withdrawn content of community {community_id}"):
            has_more = True
            while has_more:
                with wiring.database.writing() as session:
                    has_more = retention.remove_withdrawn(session, community_id) > 0
    for community_id, days in limits.items():
        with part(f"removing content of community {community_id}"):
            is_first = has_more = True
            while has_more:
                with wiring.database.writing() as session:
                    has_more = retention.remove(session, community_id, days, is_first=is_first) > 0
                is_first = False
    if limits or withdrawn_in:
        attachments.clean(wiring)
