"""Checks on background work: are workers alive, is anything overdue or failed?"""

from collections.abc import Iterator
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.commands.doctor.findings import Result, fail, ok, warn
from app.core import clock
from app.core.attachments import files
from app.core.communities import sign_in_rules
from app.core.factcheck import spaces
from app.core.models import (
    Attachment,
    Attention,
    Community,
    ConnectedService,
    Delivery,
    Request,
    Webhook,
)
from app.core.people import providers, ways_in
from app.core.review.conditions import BACKUP_LATE_AFTER, JOB_LATE_AFTER, fails_mostly
from app.core.services import calls
from app.core.upkeep.attention import TITLES
from app.core.vocabulary import AttachmentState, AttentionReason, DeliveryState, RequestStatus, ServiceMode
from app.jobs import tables
from app.jobs.sign_in import DISCOVER_AFTER
from app.process import runtime
from app.wiring import Wiring


def engine(wiring: Wiring) -> Iterator[Result]:
    with wiring.database.engine.connect() as connection:
        live, dead = tables.executors(connection)
    if dead:
        yield warn(
            f"died or hangs: {', '.join(dead)}",
            "start it again, unless it was removed on purpose; other processes take over its jobs. Reported for a day",
            "BridgenoteWorkerDied",
        )
    if not live:
        yield warn(
            "no server or worker is running jobs", "start one: `serve` or `worker`", "BridgenoteNoWorker"
        )
        return
    yield ok(f"{len(live)} at work: {', '.join(live)}")


def jobs(wiring: Wiring) -> Iterator[Result]:
    # Imported here, because importing the job engine's library takes a second.
    from app.jobs.engine import Engine

    if not sa.inspect(wiring.database.engine).has_table("job_heartbeats", schema=_schema(wiring)):
        return
    job_engine = Engine(wiring.database.engine, executor_id="doctor")
    try:
        counts = job_engine.counts()
    finally:
        job_engine.stop()
    if counts["dead"]:
        yield warn(
            f"{counts['dead']} ended a process again and again and were set aside",
            "look into the log for what ended it; what they were to do was not done",
        )
    yield ok(", ".join(f"{number} {state}" for state, number in counts.items()))


def backup(wiring: Wiring) -> Iterator[Result]:
    """The last one made on this machine. Of several machines one makes them, so none here is no fault there."""
    age = runtime.backup_age(wiring.settings)
    if age is None:
        is_alone = wiring.database.engine.dialect.name == "sqlite"
        if is_alone and wiring.settings.environment == "production":
            yield warn(
                "none was made", "run `backup` every day (docs/run/operations.md)", "BridgenoteBackupLate"
            )
        else:
            yield ok("none was made on this machine")
    elif age > BACKUP_LATE_AFTER.total_seconds():
        yield warn(
            f"the last one is {age / 3600:.0f} hours old",
            "look into the log of what makes it",
            "BridgenoteBackupLate",
        )
    else:
        yield ok(f"the last one is {age / 3600:.0f} hours old")


def scoring(wiring: Wiring) -> Iterator[Result]:
    limit = clock.now() - JOB_LATE_AFTER
    with wiring.database.reading() as session:
        present = Request.withdrawn_at.is_(None)
        late = _count(session, present, Request.status == RequestStatus.PENDING, Request.created_at < limit)
        failed = _count(session, present, Request.status == RequestStatus.FAILED)
    if late:
        yield warn(
            f"{late} requests have waited for more than 5 minutes",
            "start more workers",
            "BridgenotePostsWait",
        )
    if failed:
        yield warn(
            f"{failed} requests could not be scored",
            "try them again in the dashboard",
            "BridgenotePostsFailed",
        )
    if not late and not failed:
        yield ok("nothing waits for long")


def deliveries(wiring: Wiring) -> Iterator[Result]:
    limit = clock.now() - JOB_LATE_AFTER
    # To a webhook that was removed nothing can be sent again.
    present = Delivery.webhook_id.in_(sa.select(Webhook.id).where(Webhook.deleted_at.is_(None)))
    with wiring.database.reading() as session:
        dead = _count(session, present, Delivery.state == DeliveryState.DEAD)
        parked = _count(session, present, Delivery.state == DeliveryState.PARKED)
        late = _count(session, Delivery.state == DeliveryState.DUE, Delivery.due_at < limit)
    if dead:
        yield warn(f"{dead} failed", "look at Deliveries, and replay them", "BridgenoteDeliveriesFailed")
    if parked:
        yield warn(
            f"{parked} were parked by a restore",
            "look at Deliveries, and replay what never arrived",
            "BridgenoteDeliveriesParked",
        )
    if late:
        yield fail(
            f"{late} have been due for more than 5 minutes",
            "is a server or worker running?",
            "BridgenoteDeliveriesLate",
        )
    if not (dead or parked or late):
        yield ok("none is late or failed")


def attachments(wiring: Wiring) -> Iterator[Result]:
    """How much is stored, and whether it can be read back."""
    limit = clock.now() - JOB_LATE_AFTER
    with wiring.database.reading() as session:
        totals = files.totals(session)
        late = _count(session, Attachment.state == AttachmentState.WAITING, Attachment.due_at < limit)
        newest = session.scalars(
            sa.select(Attachment).where(Attachment.sha256.is_not(None)).order_by(Attachment.fetched_at.desc())
        ).first()
    is_missing = False
    if newest is not None:
        try:
            b"".join(wiring.media.read(newest.sha256 or "", 0, 1))
        except files.MissingFile:
            is_missing = True
            yield warn(
                f"the newest file is not in {wiring.media.where()}",
                "restore the files with the database, or name the store that has them",
            )
    if late:
        yield warn(
            f"{late} have waited for more than 5 minutes", "start more workers", "BridgenoteAttachmentsWait"
        )
    if not is_missing and not late:
        size = f"{totals.files} files, {totals.size / 1024**2:.1f} MB, in {wiring.media.where()}"
        yield ok(f"{size}; {totals.waiting} waiting")


def endpoints(wiring: Wiring) -> Iterator[Result]:
    present = Webhook.deleted_at.is_(None)
    with wiring.database.reading() as session:
        disabled = session.scalars(
            sa.select(Webhook.url).where(present, sa.not_(Webhook.is_active)).limit(5)
        ).all()
        in_all = _count(session, present)
    if disabled:
        hosts = ", ".join(sorted({url.split("/")[2] for url in disabled}))
        yield warn(f"disabled: {hosts}", "mend the receiver, then enable it on the Webhooks page")
    yield ok(f"{in_all} registered")


_ALERTS: dict[AttentionReason, tuple[str, str]] = {
    AttentionReason.BACKLOG: ("BridgenoteBacklog", "find more reviewers, or raise Tier 2"),
    AttentionReason.OVERDUE: (
        "BridgenoteReviewsOverdue",
        "find more reviewers, or lengthen the target times",
    ),
    AttentionReason.WEBHOOK_FAILING: (
        "BridgenoteWebhookFails",
        "mend the receiver; its page says what it answers",
    ),
    AttentionReason.PAUSED: ("BridgenoteActionsPaused", "look why under Community, Danger, and resume them"),
}


def communities(wiring: Wiring) -> Iterator[Result]:
    """What operators have a notice about, by reason."""
    with wiring.database.reading() as session:
        lasting = session.execute(
            sa.select(Attention.reason, sa.func.count(), sa.func.min(Community.name))
            .join(Community)
            .group_by(Attention.reason)
            .order_by(Attention.reason)
        ).all()
    for reason, count, name in lasting:
        alert, advice = _ALERTS[reason]
        more = f" and {count - 1} more" if count > 1 else ""
        yield warn(f"{TITLES[reason][0].lower()}{TITLES[reason][1:]}: {name}{more}", advice, alert)
    if not lasting:
        yield ok("none needs its operators")


def _schema(wiring: Wiring) -> str | None:
    return None if wiring.database.engine.dialect.name == "sqlite" else tables.SCHEMA


def services(wiring: Wiring) -> Iterator[Result]:
    """Connected services that fail. Nothing is sent to them: a call may cost money."""
    kinds = wiring.services.kinds
    with wiring.database.reading() as session:
        connected = session.scalars(
            sa.select(ConnectedService)
            .where(ConnectedService.removed_at.is_(None), ConnectedService.mode != ServiceMode.OFF)
            .order_by(ConnectedService.name, ConnectedService.id)
        ).all()
        today = calls.period(session, [service.id for service in connected], 1)
    for service in connected:
        period = today[service.id]
        if service.kind not in kinds:
            yield warn(
                f"{service.name} is of the kind {service.kind}, which is not installed", "install its package"
            )
        elif fails_mostly(period):
            failed = f"{period.errors} of {period.requests} calls of {service.name} failed today"
            yield warn(
                f"{failed}: {period.last_error}",
                "look at its page under Classifiers",
                "BridgenoteServiceFails",
            )
    yield ok(f"{len(connected)} connected" if connected else "none is connected")


def vectors(wiring: Wiring) -> Iterator[Result]:
    """Whether fact-checks are found by meaning where operators connected a service for it."""
    with wiring.database.reading() as session:
        found = spaces.progress(session, wiring.services)
        today = calls.period(session, [progress.service.id for progress in found], 1)
    for progress in found:
        name, period = progress.service.name, today[progress.service.id]
        is_failing = fails_mostly(period)
        count = f"{progress.done} of {progress.items} of {name}"
        if not is_failing and not progress.problem:
            yield ok(count)
            continue
        why = progress.problem or period.last_error
        yield warn(
            f"{count}; it fails: {why}. Meanwhile posts are matched by their words alone",
            "look at its page under Classifiers",
        )


def _count(session: Session, *which: sa.ColumnElement[bool]) -> int:
    return session.scalar(sa.select(sa.func.count()).where(*which)) or 0


def second_factors(wiring: Wiring) -> Iterator[Result]:
    """People of whom a rule asks a second factor and who have none. Pages ask them too, so nothing is broken."""
    with wiring.database.reading() as session:
        is_asked, lacking = sign_in_rules.count_lacking(session)
    if not is_asked:
        yield ok("asked of no one")
    elif lacking:
        who = "1 person has" if lacking == 1 else f"{lacking} people have"
        yield warn(
            f"{who} none, though a rule asks it of their role",
            "remind them; People lists them under “No second factor”",
        )
    else:
        yield ok("everyone of whom a rule asks one has one")


def sign_in(wiring: Wiring) -> Iterator[Result]:
    """Whether the sign-in providers answer, and whether service admins have a way in without a password."""
    with wiring.database.reading() as session:
        enabled = providers.enabled(session)
        passwords_are_on = ways_in.passwords_are_on(session)
        has_way_in = passwords_are_on or ways_in.admin_has_a_provider(session)
    for provider in enabled:
        read_at = provider.discovered_at
        # A day, and the hour in which it is read again.
        if read_at is None or clock.now() - read_at > DISCOVER_AFTER + timedelta(hours=2):
            since = "was never read" if read_at is None else f"was last read on {read_at:%Y-%m-%d %H:%M} UTC"
            yield warn(
                f"the discovery document of {provider.label} {since}",
                "see under Administer, Sign-in whether the provider can be reached; people may be unable to sign in",
            )
    if not has_way_in:
        yield warn(
            "passwords are off, and no service admin can sign in with a provider",
            "make a link with `sign-in-link`, then connect the account or switch passwords on",
        )
    yield ok(f"{len(enabled)} providers, passwords {'on' if passwords_are_on else 'off'}")
