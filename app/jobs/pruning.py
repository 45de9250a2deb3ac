"""The daily upkeep: removes what was kept long enough (docs/run/operations.md), one batch in each transaction."""

import logging
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from app.core import clock
from app.core.history import pruning as history
from app.core.history.marks import Broken
from app.core.panels import tending
from app.core.review import text_index
from app.core.upkeep import pruning
from app.core.webhooks import deliveries
from app.jobs import importing, mailing
from app.jobs.parts import part
from app.wiring import Wiring

log = logging.getLogger(__name__)


def prune(wiring: Wiring) -> None:
    """Remove all that is older than its setting says. A run that ends early is made up for by the next.

    What fails for one kind of rows, or in one community, does not keep the others.
    """
    mailing.prune(wiring)
    settings = wiring.settings

    def since(days: int) -> datetime:
        return clock.now() - timedelta(days=days)

    attempts_before = since(settings.keep_attempts_days)
    with part("removing attempts of deliveries"):
        _repeat(wiring, lambda session: deliveries.prune_attempts(session, attempts_before) > 0)
    with wiring.database.reading() as session:
        communities = pruning.communities(session)
    for community_id in communities:
        for what, days, verb, batch in (
            ("deliveries", settings.keep_deliveries_days, pruning.prune_deliveries, pruning.BATCH),
            ("events", settings.keep_deliveries_days, pruning.prune_events, pruning.BATCH),
            ("scores", settings.keep_scores_days, pruning.prune_scores, pruning.BATCH),
            ("the history", settings.keep_history_days, _prune_history, history.BATCH),
        ):
            if days:
                before = since(days)
                with part(f"removing {what} of community {community_id}"):
                    _repeat(wiring, lambda session: verb(session, community_id, before) >= batch)  # noqa: B023 - called at once
    with part("removing panels that ended"):
        _repeat(wiring, tending.prune)
    with part("clearing away what imports left"):
        importing.clear_left(wiring.database)
    with part("tidying the index of texts"):
        _tidy_text_index(wiring)
    with part("emptying the database's log"):
        wiring.database.empty_log()


def _tidy_text_index(wiring: Wiring) -> None:
    is_first = has_more = True
    while has_more:
        with wiring.database.writing() as session:
            has_more = text_index.tidy(session, is_first=is_first)
        is_first = False


def _repeat(wiring: Wiring, step: Callable[[Session], bool]) -> None:
    """Take steps, each in a transaction of its own, until one says that it was the last."""
    is_unfinished = True
    while is_unfinished:
        with wiring.database.writing() as session:
            is_unfinished = step(session)


def _prune_history(session: Session, community_id: uuid.UUID, before: datetime) -> int:
    removed = history.prune(session, community_id, before)
    if isinstance(removed, Broken):
        log.error(
            "The history of community %s is kept: entry %s was altered (%s). See verify-history.",
            community_id,
            removed.number,
            removed.why,
        )
        return 0
    return removed
