"""The batches of an import, and what deletes what it left. Each is one transaction, and is done only once.

A job that is killed starts again and goes on where the last batch ended: ``records`` counts the items that were read,
``stored_position`` is the last row that was stored.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk, clock, texts
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.errors import Refused
from app.core.factcheck import feeds, imports, items
from app.core.factcheck.formats import Reading
from app.core.factcheck.items import Item
from app.core.factcheck.published import Defaults, Fault, Found
from app.core.models import DatasetImport, DatasetImportPiece, DatasetImportRow, FactCheckItem
from app.core.people import accounts
from app.core.permissions import SYSTEM, Permission, require
from app.core.texts import Language, lazy_gettext
from app.core.texts import gettext as _
from app.core.vocabulary import AfterReading, ClaimRating, ImportState, RowOutcome

READ_BATCH = 1_000
STORE_BATCH = 250
RETIRE_BATCH = 500
ROWS_BATCH = 1_000
PIECES_BATCH = 16
CLEARED_FOR = timedelta(days=30)
UNKNOWN_MOST = 200
RETIRE_AT_MOST = 0.5
"""If a feed lacks more than this share of its items, it is probably broken, and none is retired."""
_FEW = 10
_NEEDS_FILE = (ImportState.COLUMNS, ImportState.READING)


def state(session: Session, import_id: uuid.UUID) -> tuple[ImportState | None, Language | None]:
    """The import's state, None when it is unknown; and its community's language, in which problems are stored."""
    found = session.get(DatasetImport, import_id)
    if found is None:
        return None, None
    return found.state, community_settings.language_of(session, found.community_id)


def reading_of(session: Session, import_id: uuid.UUID) -> tuple[Reading, int, int]:
    """How to read the import's file, the number of its pieces, and how many of its items were read already."""
    found = session.get_one(DatasetImport, import_id)
    pieces = session.scalar(
        sa.select(sa.func.count(DatasetImportPiece.number)).where(DatasetImportPiece.import_id == import_id)
    )
    defaults = Defaults(found.dataset_name, found.publisher)
    how = Reading(found.format, defaults, dict(found.columns), imports.ITEMS_MAX)
    return how, pieces or 0, found.records


def piece(session: Session, import_id: uuid.UUID, number: int) -> bytes:
    """One piece of the import's file."""
    return session.get_one(DatasetImportPiece, (import_id, number)).content


def add(
    session: Session, import_id: uuid.UUID, expected: int, batch: Sequence[Found | Fault], read_bytes: int
) -> bool:
    """Store what was read as rows of the import. ``expected``: how many items were read before.

    Returns False when the import does not wait for this batch: it was stopped, or another job is ahead.
    """
    found = _running(session, import_id, ImportState.READING)
    if found is None or found.records != expected:
        return False
    community_id = None if found.serves_all else found.community_id
    known = items.stored(session, [one.item.key for one in batch if isinstance(one, Found)])
    rows: list[dict[str, Any]] = []
    counts: Counter[RowOutcome] = Counter()
    unknown = Counter({term: int(count) for term, count in found.unknown.items()})
    nothing: dict[str, Any] = {"dataset_name": None, "item_id": None, "why": "", "values": {}}
    undated_room = _undated_room(session, import_id, batch)
    for position, one in enumerate(batch, start=expected + 1):
        if isinstance(one, Fault):
            counts[RowOutcome.REFUSE] += 1
            if found.refused + counts[RowOutcome.REFUSE] > imports.REFUSALS_KEPT:
                continue
            row = {
                "outcome": RowOutcome.REFUSE,
                "place": one.place[:60],
                "why": "; ".join(one.reasons)[:1000],
            }
        else:
            outcome = items.outcome(known.get(one.item.key), one.item, community_id)
            counts[outcome] += 1
            row = _row(one, outcome)
            if one.item.date_unread and undated_room > 0:
                undated_room -= 1
                row["why"] = _("its date cannot be read: %(date)s", date=one.item.date_unread)
            if one.item.rating is None and (one.item.rating_given in unknown or len(unknown) < UNKNOWN_MOST):
                unknown[one.item.rating_given] += 1
        rows.append(nothing | {"import_id": import_id, "position": position} | row)
    if rows:
        session.execute(sa.insert(DatasetImportRow), rows)
    found.records += len(batch)
    found.added += counts[RowOutcome.ADD]
    found.changed += counts[RowOutcome.CHANGE]
    found.unchanged += counts[RowOutcome.LEAVE]
    found.taken += counts[RowOutcome.TAKEN]
    found.refused += counts[RowOutcome.REFUSE]
    found.unknown = dict(unknown)
    found.read_bytes, found.moved_at = min(read_bytes, found.total_bytes), clock.now()
    session.flush()
    return True


def finish_reading(session: Session, import_id: uuid.UUID, expected: int) -> None:
    """The file is read: count what would be retired, and wait for a person or go on to items."""
    found = _running(session, import_id, ImportState.READING)
    if found is None or found.records != expected:
        return
    found.read_bytes = found.total_bytes
    if not found.records:
        imports.fail(session, found.id, lazy_gettext("The file holds no fact-checks."))
        return
    _count_retiring(session, found)
    goes_on = found.after_reading is AfterReading.STORE or (
        found.after_reading is AfterReading.STORE_IF_ALL_GOOD and not found.refused
    )
    found.moved_at = clock.now()
    found.state = ImportState.STORING if goes_on else ImportState.READ
    session.flush()
    # Where nothing is stored yet, the job deletes the file.
    imports.enqueue(session, found)


def store_batch(session: Session, import_id: uuid.UUID, most: int) -> bool:
    """Store the next items, ``most`` at most, or retire the next; after the last, end the import.

    Returns whether there is more to do.
    """
    found = _running(session, import_id, ImportState.STORING)
    if found is None:
        return False
    if found.account_id is None and feeds.rests(session, found):
        imports.fail(session, found.id, lazy_gettext("The community was archived."))
        return False
    actor = SYSTEM
    try:
        if found.account_id is not None:
            actor = accounts.deferred_actor(session, found.account_id, found.community_id)
        require(actor, Permission.REVISE_POLICY, found.community_id)
    except Refused:
        imports.fail(session, found.id, lazy_gettext("The person who began it may no longer import."))
        return False
    rows = session.scalars(
        sa.select(DatasetImportRow)
        .where(
            DatasetImportRow.import_id == import_id,
            DatasetImportRow.position > found.stored_position,
            DatasetImportRow.outcome.in_(imports.STORED),
        )
        .order_by(DatasetImportRow.position)
        .limit(most)
    ).all()
    found.moved_at = clock.now()
    if rows:
        community_id = None if found.serves_all else found.community_id
        items.keep(session, [_item(row) for row in rows], community_id, found.feed_id)
        found.stored += len(rows)
        found.stored_position = rows[-1].position
        session.flush()
        return True
    if found.feed_id is not None and found.retired < found.retiring:
        gone = session.scalars(sa.select(FactCheckItem.id).where(*_gone(found)).limit(RETIRE_BATCH)).all()
        if gone:
            items.hide(session, gone)
            found.retired += len(gone)
            session.flush()
            return True
    imports.record(session, found, actor)
    imports.end(session, found, ImportState.FINISHED)
    return False


def _undated_room(session: Session, import_id: uuid.UUID, batch: Sequence[Found | Fault]) -> int:
    """How many more items may be kept for the report whose dates we cannot read."""
    if not any(isinstance(one, Found) and one.item.date_unread for one in batch):
        return 0
    kept = session.scalar(
        sa.select(sa.func.count(DatasetImportRow.position)).where(
            DatasetImportRow.import_id == import_id,
            DatasetImportRow.outcome != RowOutcome.REFUSE,
            DatasetImportRow.why != "",
        )
    )
    return imports.REFUSALS_KEPT - (kept or 0)


def _count_retiring(session: Session, found: DatasetImport) -> None:
    if found.feed_id is None or not found.retires:
        return
    owned = (FactCheckItem.feed_id == found.feed_id, FactCheckItem.retired_at.is_(None))
    held = session.scalar(sa.select(sa.func.count(FactCheckItem.id)).where(*owned)) or 0
    gone = session.scalar(sa.select(sa.func.count(FactCheckItem.id)).where(*_gone(found))) or 0
    if gone > max(_FEW, RETIRE_AT_MOST * held):
        found.problem = _(
            "%(gone)s of %(held)s fact-checks are not in the feed any more. The feed may be broken, so none was "
            "retired.",
            gone=texts.number(gone),
            held=texts.number(held),
        )
        return
    found.retiring = gone


def _gone(found: DatasetImport) -> list[sa.ColumnElement[bool]]:
    """The feed's items that its newest file does not have."""
    is_there = sa.exists().where(
        DatasetImportRow.import_id == found.id,
        DatasetImportRow.dataset_name == FactCheckItem.dataset_name,
        DatasetImportRow.item_id == FactCheckItem.item_id,
    )
    return [FactCheckItem.feed_id == found.feed_id, FactCheckItem.retired_at.is_(None), ~is_there]


def _running(session: Session, import_id: uuid.UUID, expected: ImportState) -> DatasetImport | None:
    found = session.get(DatasetImport, import_id)
    if found is None:
        return None
    serialise(session, found.community_id)
    session.refresh(found)
    return found if found.state is expected else None


def _row(one: Found, outcome: RowOutcome) -> dict[str, Any]:
    item = one.item
    values = {
        "claim": item.claim,
        "rating": item.rating_given,
        "meaning": item.rating.value if item.rating is not None else None,
        "url": item.url,
        "publisher": item.publisher,
        "title": item.title,
        "language": item.language,
        "reviewed_on": item.reviewed_on.isoformat() if item.reviewed_on else None,
    }
    return {
        "outcome": outcome,
        "place": one.place[:60],
        "dataset_name": item.dataset_name,
        "item_id": item.item_id,
        # Items that are not stored are only counted, and compared with what a feed held before.
        "values": values if outcome in imports.STORED else {},
    }


def _item(row: DatasetImportRow) -> Item:
    values = dict(row.values)
    meaning, day = values.pop("meaning"), values.pop("reviewed_on")
    return Item(
        row.dataset_name or "",
        row.item_id or "",
        rating_given=values.pop("rating"),
        meaning=ClaimRating(meaning) if meaning else None,
        reviewed_on=date.fromisoformat(day) if day else None,
        **values,
    )


# Deleting what an import needs no longer


def clear(session: Session, import_id: uuid.UUID, most: int) -> bool:
    """Delete a part of what the import needs no longer: its file once it is read, and when it has ended its rows.

    The rows of the report stay. ``most``: how many rows. Returns whether there may be more to delete.
    """
    found = session.get(DatasetImport, import_id)
    if found is None or found.state in _NEEDS_FILE:
        return False
    numbers = session.scalars(
        sa.select(DatasetImportPiece.number)
        .where(DatasetImportPiece.import_id == import_id)
        .limit(PIECES_BATCH)
    ).all()
    positions = session.scalars(
        sa.select(DatasetImportRow.position)
        .where(DatasetImportRow.import_id == import_id, DatasetImportRow.why == "")
        .order_by(DatasetImportRow.position)
        .limit(most if found.state in imports.ENDED else 0)
    ).all()
    for table, column, keys in (
        (DatasetImportPiece, DatasetImportPiece.number, numbers),
        (DatasetImportRow, DatasetImportRow.position, positions),
    ):
        if keys:
            bulk.change(session, sa.delete(table).where(table.import_id == import_id, column.in_(keys)))
    return len(numbers) == PIECES_BATCH or len(positions) == most


def uncleared(session: Session) -> Sequence[uuid.UUID]:
    """Imports of the last days that have more than they need, because the job that clears them was lost."""
    pieces = sa.exists().where(DatasetImportPiece.import_id == DatasetImport.id)
    rows = sa.exists().where(DatasetImportRow.import_id == DatasetImport.id, DatasetImportRow.why == "")
    return session.scalars(
        sa.select(DatasetImport.id).where(
            DatasetImport.moved_at > clock.now() - CLEARED_FOR,
            sa.or_(
                DatasetImport.state.not_in(_NEEDS_FILE) & pieces,
                DatasetImport.state.in_(imports.ENDED) & rows,
            ),
        )
    ).all()
