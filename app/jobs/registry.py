"""All jobs of the service by name. They are registered with the engine, in tests with one that runs in-process."""

import uuid
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import timedelta
from typing import Any

from app.core import clock, mail
from app.core.actions import acknowledgements
from app.core.actions.panels_due import TEND_JOB
from app.core.attachments import adding, fetching
from app.core.classify import Classifier
from app.core.classify.language import detect
from app.core.classify.together import waits
from app.core.factcheck import feed_looks, feeds, imports, search
from app.core.helpfulness import refits
from app.core.insights.rollups import ROLLUP_JOB, ROLLUP_SECONDS
from app.core.learning import schedule
from app.core.models import Request
from app.core.panels import tending
from app.core.raters import digests
from app.core.requests import image_scoring, observing, retention, scoring, submitting, waiting
from app.core.requests.scorings import Scoring
from app.core.requests.waiting import Waiting
from app.core.review import conditions, holds, overturns
from app.core.upkeep import community_revisions
from app.core.upkeep.attention import ATTENTION_JOB, ATTENTION_SECONDS
from app.core.vocabulary import ServiceMode
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
)
from app.jobs.batches import Batches
from app.jobs.parts import part
from app.jobs.turns import Turns
from app.wiring import JobEngine, Wiring

SWEEP = "sweep"
SWEEP_SECONDS = 30.0
REMOVE_CONTENT = "remove_content"
REMOVE_CONTENT_SECONDS = 86_400.0
# It prunes all kinds of rows; the old name stays, because stored jobs carry it.
PRUNE = "prune_attempts"
PRUNE_SECONDS = 86_400.0


def register_all(jobs: JobEngine, wiring: Wiring) -> None:
    """Register every job with ``jobs``. The code that starts the engine also starts the periodic jobs."""

    turns, batches = Turns(), Batches(wiring, jobs)

    def score_request(request_id: str) -> None:
        score(wiring, uuid.UUID(request_id), turns, batches)

    def score_slowly(request_id: str) -> None:
        score(wiring, uuid.UUID(request_id), turns)

    def observe_services(request_id: str) -> None:
        observe(wiring, uuid.UUID(request_id))

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
    jobs.register(submitting.SCORE_SLOWLY_JOB, score_slowly)
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


def score(
    wiring: Wiring, request_id: uuid.UUID, turns: Turns | None = None, batches: Batches | None = None
) -> None:
    """Score one request: read, classify outside of any transaction, record and route.

    Only a request that waits for a connected service, or is scored again, is stored as being in progress first; the
    others are scored within milliseconds, and go all the way in one transaction (docs/decisions/0040). They take
    ``turns``, so that no community's posts hold up those of others, and in ``batches`` they take others along. With
    ``batches``, of which few run at once, a post that waits for a service is left to a job of its own.
    """
    found = _begun(wiring, request_id, is_left_if_slow=batches is not None)
    if found is None:
        return
    post, classifiers = found
    if any(waits(classifier) for classifier in classifiers):
        _score_alone(wiring, post, classifiers)
        return
    with (
        batches.in_hand(post.community_id) if batches is not None else nullcontext(),
        turns.taken(post.community_id) if turns is not None else nullcontext(),
    ):
        if batches is None or isinstance(post, Request) or not batches.score(post):
            _score_alone(wiring, post, classifiers)


def _score_alone(wiring: Wiring, post: Waiting | Request, classifiers: Sequence[Classifier]) -> None:
    language = detect(post.content)
    scorings = scoring.classify(classifiers, post, language)
    try:
        _record(wiring, post, scorings, language)
    except scoring.Overtaken:
        _record(wiring, post, scorings, language, is_locked_first=True)


def _begun(
    wiring: Wiring, request_id: uuid.UUID, *, is_left_if_slow: bool
) -> tuple[Waiting | Request, Sequence[Classifier]] | None:
    """The post to score and what scores it, or None. A post that waits for a service is in progress from here on.

    ``is_left_if_slow``: such a post gets a job of its own, and None is returned.
    """
    with wiring.database.reading() as session:
        post = waiting.read(session, request_id)
        if post is not None and not post.own.has_services:
            return post, wiring.classifiers_for(session, post.community_id, post.own)
    with wiring.database.writing() as session:
        request = scoring.start(session, request_id)
        if request is None:
            return None
        classifiers = wiring.classifiers_for(session, request.community_id)
        if is_left_if_slow and any(waits(classifier) for classifier in classifiers):
            submitting.score_slowly(session, request)
            return None
        return request, classifiers


def _record(
    wiring: Wiring,
    post: Waiting | Request,
    scorings: Sequence[Scoring],
    language: str | None,
    *,
    is_locked_first: bool = False,
) -> None:
    with wiring.database.writing() as session:
        scoring.record_scores(session, post.id, scorings, language, is_locked_first=is_locked_first)
        if isinstance(post, Request):
            observing.enqueue(session, post.community_id, post.id)


def observe(wiring: Wiring, request_id: uuid.UUID) -> None:
    """Ask the services that are only observed about a scored request, and store their scores."""
    with wiring.database.reading() as session:
        request = observing.request_to_observe(session, request_id)
        if request is None:
            return
        observed = wiring.services.classifiers(session, request.community_id, ServiceMode.OBSERVE)
    scorings = scoring.classify(observed, request, request.language)
    with wiring.database.writing() as session:
        observing.record(session, request_id, scorings)


def give_up(wiring: Wiring, name: str, args: dict[str, Any], error: BaseException) -> None:
    """Mark the request, replay or other object whose job failed in its last attempt."""
    if name in (submitting.SCORE_JOB, submitting.SCORE_SLOWLY_JOB):
        with wiring.database.writing() as session:
            scoring.fail(session, uuid.UUID(args["request_id"]), f"{type(error).__name__}: {error}")
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
