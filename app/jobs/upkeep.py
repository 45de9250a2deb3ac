"""Upkeep of the whole service: finds work that was left undone, removes what was kept long enough, exports heads.

Removals are listed in docs/run/operations.md. Each batch has a transaction of its own.
"""

import logging
import os
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial

from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import silences
from app.core.attachments import fetching
from app.core.db import Database
from app.core.factcheck import imports
from app.core.history import heads
from app.core.history.marks import Broken
from app.core.panels import tending
from app.core.people import own_data_files
from app.core.reports import outcomes
from app.core.requests import kept_facts, retention
from app.core.review import expiry, holds, overturns, post_search
from app.core.upkeep import pruning
from app.core.webhooks import deliveries, replays
from app.core.webhooks.signing import USER_AGENT
from app.jobs import attachments, fact_checks, mailing, parts
from app.jobs.bodies import part, repeat
from app.wiring import Wiring

log = logging.getLogger(__name__)
history_log = logging.getLogger("bridgenote.history")

SWEEP = "sweep"
SWEEP_SECONDS = 30.0
REMOVE_CONTENT = "remove_content"
REMOVE_CONTENT_SECONDS = 86_400.0
# It prunes all kinds of rows; the old name stays, because stored jobs carry it.
PRUNE = "prune_attempts"
PRUNE_SECONDS = 86_400.0
EXPORT_JOB = "export_history_heads"
EXPORT_SECONDS = 86_400.0
EXPORT_DEADLINE = 10.0


def sweep(wiring: Wiring) -> None:
    """Find work that a lost job left undone; reviews, claims, holds and silences whose time is over.

    What fails does not keep the rest.
    """
    limit = clock.now() - timedelta(days=wiring.settings.review_days)
    with wiring.database.reading() as session:
        late, over = holds.overdue(session), silences.due(session)
    for hold_id in late:
        with part(f"carrying out the held decision {hold_id}"), wiring.database.writing() as session:
            holds.carry_out(session, hold_id)
    for action_id in over:
        with part(f"ending the silence {action_id}"), wiring.database.writing() as session:
            silences.end(session, action_id)
    with part("ending reports without a decision"):
        repeat(wiring.database, partial(outcomes.end_forgotten, older_than=limit))
    steps: tuple[tuple[str, Callable[[Session], object]], ...] = (
        ("ending reviews without consensus", partial(expiry.expire, older_than=limit)),
        ("going on with overturns", overturns.enqueue_stalled),
        ("going on with imports", imports.enqueue_stalled),
        ("stopping imports that nobody finished", imports.stop_abandoned),
        ("fetching attachments whose jobs were lost", fetching.enqueue_lost),
        ("removing files of own data", own_data_files.remove_old),
    )
    for what, step in steps:
        with part(what), wiring.database.writing() as session:
            step(session)


def prune(wiring: Wiring) -> None:
    """Remove all that is older than its setting says. A run that ends early is made up for by the next.

    What fails for one kind of rows, or in one community, does not keep the others.
    """
    mailing.prune(wiring)
    settings = wiring.settings

    def since(days: int) -> datetime:
        return clock.now() - timedelta(days=days)

    with part("making the next parts of tables"):
        parts.make_ahead(wiring.database)
    with part("removing attempts of deliveries"):
        attempts_before = parts.drop_past(
            wiring.database, since(settings.keep_attempts_days), "delivery_attempts"
        )
        repeat(wiring.database, partial(deliveries.prune_attempts, older_than=attempts_before))
    with wiring.database.reading() as session:
        communities = pruning.communities(session)
    for what, days, tables, verb, batch in (
        (
            "deliveries",
            settings.keep_deliveries_days,
            ("deliveries",),
            pruning.prune_deliveries,
            pruning.BATCH,
        ),
        ("events", settings.keep_deliveries_days, ("events",), pruning.prune_events, pruning.BATCH),
        ("scores", settings.keep_scores_days, ("scores", "post_scores"), pruning.prune_scores, pruning.BATCH),
        ("the history", settings.keep_history_days, ("history",), _prune_history, pruning.HISTORY_BATCH),
    ):
        if days:
            with part(f"removing {what}"):
                before = parts.drop_past(wiring.database, since(days), *tables)
                for community_id in communities:
                    with part(f"removing {what} of community {community_id}"):
                        repeat(
                            wiring.database,
                            lambda session: verb(session, community_id, before) >= batch,  # noqa: B023 - called at once
                        )
    with part("removing marks that no post is counted by"):
        repeat(wiring.database, lambda session: kept_facts.prune_marks(session) >= kept_facts.PRUNED)
    with part("removing panels that ended"):
        repeat(wiring.database, tending.prune)
    with part("clearing away what imports left"):
        fact_checks.clear_left(wiring.database)
    with part("tidying the index of texts"):
        first = iter([True])
        repeat(wiring.database, lambda session: post_search.tidy_index(session, is_first=next(first, False)))
    with part("emptying the database's log"):
        wiring.database.empty_log()


def _prune_history(session: Session, community_id: uuid.UUID, before: datetime) -> int:
    removed = pruning.prune_history(session, community_id, before)
    if isinstance(removed, Broken):
        log.error(
            "The history of community %s is kept: entry %s was altered (%s). See verify-history.",
            community_id,
            removed.number,
            removed.why,
        )
        return 0
    return removed


def remove_content(wiring: Wiring) -> None:
    """Remove content that is older than its community keeps it, one batch in each transaction."""
    with wiring.database.reading() as session:
        limits, withdrawn_in = retention.retention_days(session), retention.with_withdrawn(session)
    for community_id in withdrawn_in:
        with part(f"removing withdrawn content of community {community_id}"):
            repeat(wiring.database, partial(retention.remove_withdrawn, community_id=community_id))
    for community_id, days in limits.items():
        with part(f"removing content of community {community_id}"):
            is_first = has_more = True
            while has_more:
                with wiring.database.writing() as session:
                    has_more = retention.remove(session, community_id, days, is_first=is_first) > 0
                is_first = False
    if limits or withdrawn_in:
        attachments.clean(wiring)


def resolve_reports(database: Database, request_id: uuid.UUID) -> None:
    """Resolve the open reports of a decided post, one batch in each transaction, until none is left."""
    repeat(database, partial(outcomes.resolve_post, request_id=request_id))


def replay(wiring: Wiring, replay_id: uuid.UUID) -> None:
    """Replay a range of deliveries, one batch in each transaction, until none is left."""
    repeat(wiring.database, lambda session: not replays.run_batch(session, replay_id))


class NotSent(Exception):
    """The webhook did not take the heads; the engine tries again. The text never contains the URL."""


def export_heads(wiring: Wiring) -> None:
    """Export today's heads. A repetition appends them once more, which changes nothing for a comparison.

    Raises:
        OSError: the file cannot be written.
        NotSent: the webhook did not answer with 2xx.
    """
    settings, day = wiring.settings, clock.now().date()
    with wiring.database.reading() as session:
        found = heads.on_day(session, day)
    for head in found:
        history_log.info(
            "History of community %s on %s: entry %d, hash %s", head.community_id, day, head.number, head.hash
        )
    line = heads.as_line(day, found)
    if settings.history_heads_file:
        descriptor = os.open(settings.history_heads_file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(line)
    url = settings.history_heads_url.get_secret_value()
    if url:
        headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT}
        outcome = wiring.sender.send(url, line, headers, EXPORT_DEADLINE)
        if not outcome.delivered:
            raise NotSent(f"the webhook for heads of the history failed: {outcome.error or outcome.status}")
