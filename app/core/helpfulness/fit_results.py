"""Writes the result of a fit: parameters and sums in batches, and the changes for the notes.

Nothing written here is in force until ``refits.swap``.
"""

import uuid
from array import array
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, cast

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock
from app.core.db import serialise
from app.core.helpfulness import note_scores
from app.core.helpfulness.note_scores import NOT_FITTED, Fit
from app.core.helpfulness.rating_snapshots import ReadNote, Snapshot
from app.core.helpfulness.refits import Lease, check
from app.core.models import Note, NoteSums, RaterParameters, ScoringModel
from app.core.scoring import BoolArray, FloatArray, Regime, Scores, Sums, shown
from app.core.vocabulary import NoteStatus

VISIBLE = 0.005
"""A score that changed by less than this, and is displayed the same, is not updated."""


def write_model(session: Session, lease: Lease, snapshot: Snapshot, scores: Scores, ms: int) -> Fit:
    """Store the fit's model of the community."""
    check(session, lease)
    stored = ScoringModel(
        community_id=lease.community_id,
        version=lease.version,
        regime=scores.regime.value,
        parameters=scores.model.to_json(),
        ratings=len(snapshot.values),
        notes=len(scores.note_ids),
        raters=len(scores.rater_ids),
        milliseconds=ms,
    )
    session.add(stored)
    session.flush()
    return note_scores.of_version(stored, snapshot.settings)


Batch = tuple[type[RaterParameters] | type[NoteSums], list[dict[str, Any]]]


def batches(lease: Lease, snapshot: Snapshot, scores: Scores, size: int) -> Iterator[Batch]:
    """The fit's rows for each rater and note, ``size`` rows at a time, in the order of their keys."""
    fit_key = {"community_id": lease.community_id, "version": lease.version}
    columns = {
        "intercept": scores.rater_intercepts.tolist(),
        "factor": scores.rater_factors.tolist(),
        "helpfulness": _where(scores.rater_valid > 0, scores.rater_helpfulness),
        "kept": scores.raters_kept.tolist(),
        "volume": scores.raters_volume.tolist(),
        "correlated": scores.raters_correlated.tolist(),
        "acting_intercept": _where(scores.raters_acting, scores.acting_intercepts),
        "acting_factor": _where(scores.raters_acting, scores.acting_factors),
    }
    # Snapshots number raters in the order of their ids.
    raters = [snapshot.raters[number] for number in scores.rater_ids.tolist()]
    for first in range(0, len(raters), size):
        yield (
            RaterParameters,
            [
                fit_key
                | {"profile_id": raters[place]}
                | {name: column[place] for name, column in columns.items()}
                for place in range(first, min(first + size, len(raters)))
            ],
        )
    # Notes without a rating that counts have no sums in the fit.
    places = np.full(len(snapshot.notes), -1)
    places[scores.note_ids] = np.arange(len(scores.note_ids))
    zero = Sums.zero().to_list()
    for first in range(0, len(snapshot.notes), size):
        yield (
            NoteSums,
            [
                fit_key
                | {
                    "note_id": note.id,
                    "note_version": note.version,
                    "rating_changes": note.rating_changes,
                    "sums": zero if places[number] < 0 else scores.sums[places[number]].tolist(),
                }
                for number in range(first, min(first + size, len(snapshot.notes)))
                for note in [snapshot.notes[number]]
            ],
        )


def _where(known: BoolArray, column: FloatArray) -> list[float | None]:
    """The column with None where it is not known."""
    return [value if is_known else None for value, is_known in zip(column.tolist(), known, strict=True)]


def write(session: Session, lease: Lease, batch: Batch) -> None:
    """Write one batch."""
    check(session, lease)
    model, rows = batch
    bulk.insert(session.connection(), model.metadata.tables[model.__tablename__], rows)


def differences(snapshot: Snapshot, scores: Scores) -> tuple[list[uuid.UUID], "array[int]"]:
    """The changes by the fit: notes whose status must be updated, and the places in ``scores`` of other new scores.

    Final statuses are left out: those fixed by a moderator or by age (``verdicts.settle`` checks each again).
    """
    oldest = clock.now() - timedelta(days=snapshot.settings.lock_days)
    columns = (scores.note_ids, scores.statuses, scores.intercepts, scores.rules)
    settle: list[uuid.UUID] = []
    changed = array("i")
    for place, (number, status, intercept, rule) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        note = snapshot.notes[number]
        decided = note.status is not NoteStatus.NEEDS_MORE_RATINGS
        if number in snapshot.panels:
            # A panel's ratings alone decide, so only the verdict can say what changes (docs/moderate/panels.md).
            if number in snapshot.under_review:
                settle.append(note.id)
            continue
        old = decided and (note.is_final or note.created_at <= oldest)
        if note.locked:
            # A second look lifts the moderator's lock: only the ratings decide whether it ends.
            if number in snapshot.under_review:
                settle.append(note.id)
            continue
        if old and number not in snapshot.under_review:
            continue
        if status != note.status:
            settle.append(note.id)
        elif rule != note.status_rule or _is_other(note, intercept):
            changed.append(place)
    return settle, changed


def _is_other(note: ReadNote, intercept: float) -> bool:
    return (
        shown(intercept) != note.helpfulness_score
        or note.intercept is None
        or abs(intercept - note.intercept) > VISIBLE
    )


def _change(snapshot: Snapshot, scores: Scores, place: int) -> dict[str, Any]:
    note, intercept = snapshot.notes[int(scores.note_ids[place])], float(scores.intercepts[place])
    return {
        "note": note.id,
        "at_version": note.version,
        "at_changes": note.rating_changes,
        "new_intercept": round(intercept, 6),
        "new_factor": round(float(scores.factors[place]), 6),
        "new_score": shown(intercept),
        "new_rule": str(scores.rules[place]),
    }


def write_scores(
    session: Session, lease: Lease, snapshot: Snapshot, scores: Scores, places: Iterable[int]
) -> None:
    """Write scores that changed without a status. Notes rated meanwhile are skipped: their score is newer."""
    serialise(session, lease.community_id)
    check(session, lease)
    statement = sa.update(cast(sa.Table, Note.__table__)).where(
        Note.id == sa.bindparam("note"),
        Note.version == sa.bindparam("at_version"),
        Note.rating_changes == sa.bindparam("at_changes"),
        Note.locked.is_(False),
        Note.helpful_pending_since.is_(None),
    )
    # A change that is not visible from outside does not update the note's timestamp.
    is_visible = Note.helpfulness_score != sa.bindparam("new_score")
    values = {
        "intercept": sa.bindparam("new_intercept"),
        "factor": sa.bindparam("new_factor"),
        "helpfulness_score": sa.bindparam("new_score"),
        "status_rule": sa.bindparam("new_rule"),
        "updated_at": sa.case((is_visible, clock.now()), else_=Note.updated_at),
    }
    session.connection().execute(
        statement.values(values), [_change(snapshot, scores, place) for place in places]
    )


def takes_over(lease: Lease, scores: Scores) -> bool:
    """Whether to put this fit in force: not a first cold fit, which changes nothing, and never a suspect one."""
    if lease.version_before == NOT_FITTED:
        return scores.regime is not Regime.COLD and not scores.suspect
    return not scores.suspect
