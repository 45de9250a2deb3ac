"""Refits in the background: the steps of one fit, and the periodic job that finds communities whose fit is due.

``core.helpfulness.refits`` has the steps; this module runs them in transactions. No transaction is open while the fit
computes, and all are short, so that people who rate meanwhile hardly wait.
"""

import itertools
import logging
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from app.core import scoring
from app.core.alongside import alongside
from app.core.db import Database
from app.core.helpfulness import fit_results, note_scores, refits
from app.core.helpfulness.note_scores import NOT_FITTED, Fit
from app.core.helpfulness.rating_snapshots import Snapshot
from app.core.helpfulness.refits import Lease, LeaseLost
from app.core.models import Note
from app.core.notes import verdicts
from app.core.scoring import Regime, Scores
from app.core.texts import lazy_gettext

log = logging.getLogger(__name__)

SWEEP_JOB = "rescoring_sweep"
SWEEP_SECONDS = 5.0
ROWS = 500
"""The most rows that one transaction writes or deletes: on SQLite all other writers wait for it."""
MOVED = 250
"""The most scores that one transaction changes: raters of these notes wait for it."""
CAUGHT_UP = 250
"""The most notes whose sums are made again at once, because they were rated meanwhile. Nobody waits for that."""
CATCH_UPS = 5
"""How often a new fit includes ratings given meanwhile before it is put in force; the rest is included afterwards."""
FEW = 3
"""It is put in force at once when no more notes than these were rated since it last included ratings."""
YIELD = 0.002
"""The shortest pause between two transactions, in seconds, in which others can write."""

Item = TypeVar("Item")


def refit(database: Database, community_id: uuid.UUID) -> bool:
    """Fit one community and update its notes. Return False when no fit was due, or another process is fitting it.

    Killed anywhere, it has changed nothing that the next run does not make good.
    """
    with database.writing() as session:
        lease = refits.take(session, community_id)
    if lease is None:
        return False
    try:
        with _kept_alive(database, lease):
            _run(database, lease)
    except LeaseLost:
        log.warning("Refit %d of community %s was overtaken by another.", lease.version, community_id)
        return False
    except Exception:
        _give_back(database, lease)
        raise
    return True


def sweep(database: Database) -> None:
    """Find refits that are due, and notes that have been helpful long enough to be published."""
    with database.reading() as session:
        due = refits.due(session)
        waiting = verdicts.waited_enough(session)
    if due:
        with database.writing() as session:
            refits.enqueue_due(session, due)
    _settle(database, waiting, cause=lazy_gettext("it stayed helpful"))


def _run(database: Database, lease: Lease) -> None:
    began = time.monotonic()
    with database.reading() as session:
        snapshot = refits.read(session, lease)
    scores = scoring.score(snapshot.note_numbers, snapshot.rater_numbers, snapshot.values, snapshot.facts)
    milliseconds = round((time.monotonic() - began) * 1000)
    cause = f"refit {lease.version}"
    if fit_results.takes_over(lease, scores):
        changed = set(_take_over(database, lease, snapshot, scores, milliseconds))
    elif scores.suspect:
        log.warning("Refit %d explains too little; the parameters before it stay.", lease.version)
        _finish(database, lease, snapshot, milliseconds)
        return
    else:
        changed = set()
    settle, moved = fit_results.differences(snapshot, scores)
    _move(database, lease, snapshot, scores, moved)
    _settle(database, sorted(changed.union(settle)), cause=cause)
    _clear(database, lease)
    _finish(database, lease, snapshot, milliseconds)


def _take_over(
    database: Database, lease: Lease, snapshot: Snapshot, scores: Scores, milliseconds: int
) -> list[uuid.UUID]:
    """Put the fit in force, and update the notes that were rated while it was computed."""
    changed: list[uuid.UUID] = []
    version = NOT_FITTED
    if scores.regime is not Regime.COLD:
        version = lease.version
        with database.writing() as session:
            fit = fit_results.write_model(session, lease, snapshot, scores, milliseconds)
        for batch in _paced(fit_results.batches(lease, snapshot, scores, ROWS)):
            with database.writing() as session:
                fit_results.write(session, lease, batch)
        for _ in range(CATCH_UPS):
            behind = _stale(database, lease.community_id, version)
            _catch_up(database, lease, fit, behind)
            changed += behind
            if len(behind) <= FEW:
                break
    with database.writing() as session:
        refits.swap(session, lease, version, scores.camps)
    # Rated between the last look and the swap: their sums are made again when they are settled.
    return changed + _stale(database, lease.community_id, version)


def _stale(database: Database, community_id: uuid.UUID, version: int) -> list[uuid.UUID]:
    with database.reading() as session:
        return list(refits.stale(session, community_id, version, limit=ROWS))


def _catch_up(database: Database, lease: Lease, fit: Fit, note_ids: Sequence[uuid.UUID]) -> None:
    for part in _paced(_parts(note_ids, CAUGHT_UP)):
        with database.reading() as session:
            rows = note_scores.rows_from_ratings(session, fit, part)
        with database.writing() as session:
            refits.catch_up(session, lease, rows)


def _move(
    database: Database, lease: Lease, snapshot: Snapshot, scores: Scores, places: Sequence[int]
) -> None:
    for part in _paced(_parts(places, MOVED)):
        with database.writing() as session:
            fit_results.write_scores(session, lease, snapshot, scores, part)


def _settle(database: Database, note_ids: Sequence[uuid.UUID], *, cause: str) -> None:
    for note_id in _paced(note_ids):  # each by itself: raters of the community wait for it
        with database.writing() as session:
            note = session.get(Note, note_id)
            if note is not None and note.deleted_at is None:
                verdicts.settle(session, note, cause)


def _finish(database: Database, lease: Lease, snapshot: Snapshot, milliseconds: int) -> None:
    with database.writing() as session:
        refits.finish(session, lease, len(snapshot.values), milliseconds)


def _clear(database: Database, lease: Lease) -> None:
    """Delete the rows of earlier fits, while the lease still keeps other fits out."""
    for _ in _paced(itertools.count()):
        with database.writing() as session:
            if not refits.clear(session, lease, limit=ROWS):
                return


def _give_back(database: Database, lease: Lease) -> None:
    try:
        with database.writing() as session:
            refits.give_back(session, lease)
    except Exception:
        log.exception("The lease of refit %d could not be given back; it runs out.", lease.version)


def _parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return (items[first : first + size] for first in range(0, len(items), size))


def _paced(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items one by one, with a pause after each as long as its work took, so that others can write.

    SQLite has one writer at a time, and gives its lock to the first that asks.
    """
    for item in items:
        began = time.monotonic()
        yield item
        time.sleep(max(YIELD, time.monotonic() - began))


def _kept_alive(database: Database, lease: Lease) -> AbstractContextManager[None]:
    """Renews the lease from its own thread while the block runs, because computing may take longer than a lease."""

    def renew(ended: threading.Event) -> None:
        while not ended.wait(refits.LEASE.total_seconds() / 3):
            try:
                with database.writing() as session:
                    refits.renew(session, lease)
            except LeaseLost:
                return
            except Exception as error:
                log.warning("The lease of refit %d was not renewed: %s", lease.version, error)

    return alongside("refit-lease", renew)
