"""Deletes what imports need no longer, batch by batch: other writers get in between, and a killed job goes on."""

import uuid
from collections.abc import Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.factcheck import imports
from app.core.models import DatasetImport, DatasetImportPiece, DatasetImportRow
from app.core.vocabulary import ImportState

ROWS_BATCH = 1_000
PIECES_BATCH = 16
LOOKS_BACK = timedelta(days=30)
_NEEDS_FILE = (ImportState.COLUMNS, ImportState.READING)


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
            session.execute(
                sa.delete(table)
                .where(table.import_id == import_id, column.in_(keys))
                .execution_options(synchronize_session=False)
            )
    return len(numbers) == PIECES_BATCH or len(positions) == most


def uncleared(session: Session) -> Sequence[uuid.UUID]:
    """Imports of the last days that have more than they need, because the job that clears them was lost."""
    pieces = sa.exists().where(DatasetImportPiece.import_id == DatasetImport.id)
    rows = sa.exists().where(DatasetImportRow.import_id == DatasetImport.id, DatasetImportRow.why == "")
    return session.scalars(
        sa.select(DatasetImport.id).where(
            DatasetImport.moved_at > clock.now() - LOOKS_BACK,
            sa.or_(
                DatasetImport.state.not_in(_NEEDS_FILE) & pieces,
                DatasetImport.state.in_(imports.ENDED) & rows,
            ),
        )
    ).all()
