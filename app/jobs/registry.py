"""All jobs of the service by name. They are registered with the engine, in tests with one that runs in-process."""

import uuid
from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from app.core import mail
from app.core.actions import acknowledgements
from app.core.actions.moves import FOLLOW_JOB, RESOLVE_REPORTS_JOB, TEND_JOB
from app.core.attachments import adding
from app.core.factcheck import feed_fetches, feeds, imports
from app.core.helpfulness import refits
from app.core.insights.rollups import ROLLUP_JOB, ROLLUP_SECONDS
from app.core.learning import schedule
from app.core.panels import tending
from app.core.people import group_roles, own_data_files
from app.core.raters import digests
from app.core.reports import asking
from app.core.requests import image_scoring, score_rows, submitting
from app.core.requests import scoring as request_scoring
from app.core.review import holds, overturns
from app.core.texts import lazy_gettext
from app.core.upkeep import community_revisions
from app.core.upkeep.attention import ATTENTION_JOB, ATTENTION_SECONDS
from app.core.webhooks import replays
from app.jobs import (
    attachments,
    communities,
    fact_checks,
    mailing,
    own_data,
    rescoring,
    scoring,
    sign_in,
    upkeep,
)
from app.wiring import JobEngine, Wiring


def register_all(jobs: JobEngine, wiring: Wiring) -> None:
    """Register every job with ``jobs``. The code that starts the engine also starts the periodic jobs."""
    database, scorer = wiring.database, scoring.Scorer(wiring)

    def by_id(name: str, verb: Callable[[uuid.UUID], Any], *, attempts: int = 5) -> None:
        """Register a job whose only argument is an id, under whatever name."""

        def body(**args: str) -> None:
            (value,) = args.values()
            verb(uuid.UUID(value))

        jobs.register(name, body, attempts=attempts)

    def in_one_transaction(verb: Callable[[Session, uuid.UUID], Any]) -> Callable[[uuid.UUID], None]:
        def run(subject_id: uuid.UUID) -> None:
            with database.writing() as session:
                verb(session, subject_id)

        return run

    def periodic(name: str, seconds: float, run: Callable[[], Any]) -> None:
        def body() -> None:
            run()

        jobs.register(name, body, attempts=1)
        jobs.every(name, seconds)

    def score_images(request_id: str, turn: int) -> None:
        attachments.score_images(wiring, uuid.UUID(request_id), turn)

    def overturn_batch(overturn_id: str, settled: int) -> None:
        with database.writing() as session:
            overturns.carry_on(session, uuid.UUID(overturn_id), settled)

    def weigh_reports(request_id: str, turn: int) -> None:
        with database.writing() as session:
            asking.weigh_scored(session, uuid.UUID(request_id), turn)

    by_id(submitting.SCORE_JOB, scorer.score)
    by_id(FOLLOW_JOB, lambda request_id: scoring.follow(wiring, request_id))
    by_id(score_rows.OBSERVE_JOB, lambda request_id: scoring.observe(wiring, request_id), attempts=2)
    jobs.register(image_scoring.SCORE_IMAGES_JOB, score_images, attempts=3)
    # Failed fetches are tried again by jobs of their own; this is for a database that cannot be reached.
    by_id(adding.FETCH_JOB, lambda attachment_id: attachments.fetch(wiring, attachment_id))
    by_id(holds.CARRY_OUT_JOB, in_one_transaction(holds.carry_out))
    by_id(acknowledgements.LOOK_AGAIN_JOB, in_one_transaction(acknowledgements.look_again))
    by_id(community_revisions.END_REVIEWS_JOB, in_one_transaction(community_revisions.end_reviews))
    by_id(RESOLVE_REPORTS_JOB, lambda request_id: upkeep.resolve_reports(database, request_id))
    jobs.register(asking.WEIGH_JOB, weigh_reports)
    jobs.register(overturns.OVERTURN_JOB, overturn_batch)
    by_id(replays.REPLAY_JOB, lambda replay_id: upkeep.replay(wiring, replay_id))
    jobs.register(mail.MAIL_JOB, partial(mailing.send, wiring), attempts=mailing.MAIL_ATTEMPTS)
    by_id(own_data_files.MAKE_JOB, lambda file_id: own_data.make(database, file_id), attempts=3)
    by_id(group_roles.APPLY_JOB, lambda provider_id: communities.apply_group_roles(database, provider_id))
    by_id(imports.IMPORT_JOB, lambda import_id: fact_checks.run_import(database, import_id), attempts=3)
    # A fetch that fails is recorded, and the next one is the retry.
    by_id(
        feeds.FETCH_FEED_JOB,
        lambda feed_id: fact_checks.fetch_feed(database, wiring.feeds, feed_id),
        attempts=2,
    )
    # A refit that fails is due again a minute later, and the sweep finds it; so is what a lost panel job left.
    by_id(refits.REFIT_JOB, lambda community_id: rescoring.refit(database, community_id), attempts=1)
    by_id(TEND_JOB, lambda community_id: communities.tend_panels(database, community_id), attempts=1)

    periodic(upkeep.SWEEP, upkeep.SWEEP_SECONDS, lambda: upkeep.sweep(wiring))
    periodic(upkeep.PRUNE, upkeep.PRUNE_SECONDS, lambda: upkeep.prune(wiring))
    periodic(upkeep.REMOVE_CONTENT, upkeep.REMOVE_CONTENT_SECONDS, lambda: upkeep.remove_content(wiring))
    periodic(upkeep.EXPORT_JOB, upkeep.EXPORT_SECONDS, lambda: upkeep.export_heads(wiring))
    periodic(sign_in.REFRESH_JOB, sign_in.REFRESH_SECONDS, lambda: sign_in.refresh(wiring))
    periodic(sign_in.DISCOVER_JOB, sign_in.DISCOVER_SECONDS, lambda: sign_in.discover(wiring))
    periodic(attachments.CLEAN_JOB, attachments.CLEAN_SECONDS, lambda: attachments.clean(wiring))
    periodic(digests.DIGEST_JOB, digests.DIGEST_SECONDS, lambda: mailing.send_digests(wiring))
    periodic(rescoring.SWEEP_JOB, rescoring.SWEEP_SECONDS, lambda: rescoring.sweep(database))
    periodic(communities.PANELS_JOB, tending.TEND_SECONDS, lambda: communities.sweep_panels(database))
    periodic(schedule.LEARN_JOB, schedule.LEARN_SECONDS, lambda: communities.learn_all(database))
    periodic(ROLLUP_JOB, ROLLUP_SECONDS, lambda: communities.roll_up(database))
    periodic(ATTENTION_JOB, ATTENTION_SECONDS, lambda: communities.find_attention(database))
    periodic(
        feed_fetches.FETCH_DUE_JOB,
        feed_fetches.FETCH_DUE_SECONDS,
        lambda: fact_checks.fetch_due_feeds(database),
    )
    periodic(
        fact_checks.EMBED_JOB, fact_checks.EMBED_SECONDS, lambda: fact_checks.embed(database, wiring.services)
    )


def give_up(wiring: Wiring, name: str, args: dict[str, Any], error: BaseException) -> None:
    """Mark the request, replay or other object whose job failed in its last attempt."""
    if name == submitting.SCORE_JOB:
        with wiring.database.writing() as session:
            request_scoring.fail(session, uuid.UUID(args["request_id"]), f"{type(error).__name__}: {error}")
    elif name == replays.REPLAY_JOB:
        with wiring.database.writing() as session:
            replays.give_up(session, uuid.UUID(args["replay_id"]), lazy_gettext("It failed again and again"))
    elif name == imports.IMPORT_JOB:
        with wiring.database.writing() as session:
            imports.fail(session, uuid.UUID(args["import_id"]), lazy_gettext("It failed again and again."))
    elif name == own_data_files.MAKE_JOB:
        with wiring.database.writing() as session:
            own_data_files.fail(session, uuid.UUID(args["file_id"]))
    elif name == mail.MAIL_JOB:
        mailing.give_up(wiring, args)
