"""Refits in the background: the steps of one fit in their order, and the sweep that finds what is due.

The steps themselves are ``core.refits``; here are their transactions. None is open while the fit computes, and none is
long, so that whoever rates meanwhile hardly waits.
"""

import logging
import threading
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import sqlalchemy as sa

from app.core import scoring
from app.core.db import Database
from app.core.helpfulness import fit_results, refits
from app.core.helpfulness.note_scores import NOT_FITTED
from app.core.helpfulness.rating_snapshots import Snapshot
from app.core.helpfulness.refits import Claim, LeaseLost
from app.core.models import Note
from app.core.notes import verdicts
from app.core.scoring import Regime, Scores

log = logging.getLogger(__name__)

SWEEP_JOB = "rescoring_sweep"
SWEEP_SECONDS = 5.0
ROWS = 500
"""Rows written or deleted in one transaction."""
MOVED = 250
"""Scores changed in one transaction: its notes' raters wait for it."""
SETTLED = 2
"""Notes whose status is settled in one transaction: each may bring history, events and an action with it."""
CATCH_UPS = 3
"""How often a fit that is about to take over catches up with ratings; what is left then is caught up afterwards."""
YIELD = 0.002
"""Seconds, at least, for which the database is left to others between two transactions."""

Item = TypeVar("Item")


def refit(database: Database, community_id: uuid.UUID) -> bool:
    """Fit one community and settle its notes; False when it was not due or somebody else is at it.

    Killed anywhere, it has changed nothing that the next run does not make good.
    """
    with database.writing() as session:
        claimed = refits.claim(session, community_id)
    if claimed is None:
        return False
    try:
        with _kept_alive(database, claimed):
            _run(database, claimed)
    except LeaseLost:
        log.warning("Refit %d of community %s was overtaken by another.", claimed.version, community_id)
        return False
    except Exception:
        _give_back(database, claimed)
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
    _settle(database, waiting, cause="it stayed helpful")


def _run(database: Database, claimed: Claim) -> None:
    began = time.monotonic()
    with database.reading() as session:
        snapshot = refits.read(session, claimed)
    scores = scoring.score(snapshot.note_numbers, snapshot.rater_numbers, snapshot.values, snapshot.facts)
    milliseconds = round((time.monotonic() - began) * 1000)
    cause = f"refit {claimed.version}"
    if fit_results.takes_over(claimed, scores):
        changed = _take_over(database, claimed, snapshot, scores, milliseconds)
    elif scores.suspect:
        log.warning("Refit %d explains too little; the parameters before it stay.", claimed.version)
        _finish(database, claimed, snapshot, milliseconds)
        return
    else:
        changed = []
    settle, moved = fit_results.differences(snapshot, scores)
    for part in _parts(moved, MOVED):
        with database.writing() as session:
            fit_results.write_scores(session, claimed, part)
    _settle(database, list(dict.fromkeys([*settle, *changed])), cause=cause)
    _clear(database, claimed)
    _finish(database, claimed, snapshot, milliseconds)


def _take_over(
    database: Database, claimed: Claim, snapshot: Snapshot, scores: Scores, milliseconds: int
) -> list[uuid.UUID]:
    """Put the fit in force: the notes that were rated while it was made."""
    changed: list[uuid.UUID] = []
    version = NOT_FITTED
    if scores.regime is not Regime.COLD:
        version = claimed.version
        with database.writing() as session:
            fit = fit_results.write_model(session, claimed, snapshot, scores, milliseconds)
        for batch in _paced(fit_results.batches(claimed, snapshot, scores, ROWS)):
            with database.writing() as session:
                fit_results.write(session, claimed, batch)
        for _ in range(CATCH_UPS):
            behind = _stale(database, claimed.community_id, version)
            for part in _parts(behind, SETTLED):
                with database.writing() as session:
                    refits.catch_up(session, fit, part)
            changed += behind
            if len(behind) <= SETTLED:
                break
    with database.writing() as session:
        refits.swap(session, claimed, version, scores.camps)
    # Rated between the last look and the swap: their sums are made again when they are settled.
    return changed + _stale(database, claimed.community_id, version)


def _stale(database: Database, community_id: uuid.UUID, version: int) -> list[uuid.UUID]:
    with database.reading() as session:
        return list(refits.stale(session, community_id, version, limit=ROWS))


def _settle(database: Database, note_ids: Sequence[uuid.UUID], *, cause: str) -> None:
    for part in _parts(note_ids, SETTLED):
        with database.writing() as session:
            for note in session.scalars(sa.select(Note).where(Note.id.in_(part)).order_by(Note.id)).all():
                if note.deleted_at is None:
                    verdicts.settle(session, note, cause)


def _finish(database: Database, claimed: Claim, snapshot: Snapshot, milliseconds: int) -> None:
    with database.writing() as session:
        refits.finish(session, claimed, len(snapshot.values), milliseconds)


def _clear(database: Database, claimed: Claim) -> None:
    """Delete what earlier fits left, while the lease still keeps other fits from doing so too."""
    while True:
        with database.reading() as session:
            rows = refits.left_over(session, claimed, limit=ROWS)
        if not rows:
            return
        began = time.monotonic()
        with database.writing() as session:
            refits.clear(session, claimed, rows)
        time.sleep(max(YIELD, time.monotonic() - began))


def _give_back(database: Database, claimed: Claim) -> None:
    try:
        with database.writing() as session:
            refits.give_back(session, claimed)
    except Exception:
        log.exception("The lease of refit %d could not be given back; it runs out.", claimed.version)


def _parts(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    return _paced(items[first : first + size] for first in range(0, len(items), size))


def _paced(items: Iterable[Item]) -> Iterator[Item]:
    """The items one after the other, with as long a pause after each as it took: others want to write too.

    SQLite has one writer, and hands its lock to whoever asks first.
    """
    for item in items:
        began = time.monotonic()
        yield item
        time.sleep(max(YIELD, time.monotonic() - began))


@contextmanager
def _kept_alive(database: Database, claimed: Claim) -> Iterator[None]:
    """Renews the lease from a thread of its own for as long as the block runs: computing takes as long as it takes."""
    ended = threading.Event()

    def renew() -> None:
        while not ended.wait(refits.LEASE.total_seconds() / 3):
            try:
                with database.writing() as session:
                    refits.renew(session, claimed)
            except LeaseLost:
                return
            except Exception as error:
                log.warning("The lease of refit %d was not renewed: %s", claimed.version, error)

    thread = threading.Thread(target=renew, name="refit-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
