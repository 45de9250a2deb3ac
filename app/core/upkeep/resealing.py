"""Every sealed value of the database: which do not open, and sealing them anew with another key.

Whoever adds a sealed column names it in ``SEALED``; a test compares that with the models.
"""

import uuid
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Webhook
from app.core.sealing import SealBroken, Sealer

SEALED: tuple[Any, ...] = (Webhook.secret, Webhook.previous_secret)
"""The sealed columns. Each is sealed for the id of its row."""


def unreadable(session: Session, sealer: Sealer) -> int:
    """How many sealed values this key does not open."""
    bad = 0
    for column in SEALED:
        for row_id, blob in session.execute(_held(column)):
            try:
                sealer.open(blob, str(row_id))
            except SealBroken:
                bad += 1
    return bad


def outdated(session: Session, sealer: Sealer) -> int:
    """How many sealed values were sealed with another key than the one that seals now."""
    return sum(not sealer.is_current(blob) for column in SEALED for _, blob in session.execute(_held(column)))


def reseal(session: Session, sealer: Sealer, *, limit: int = 100) -> tuple[int, list[uuid.UUID]]:
    """Seal up to ``limit`` values anew that another key sealed: how many, and the rows of those that no key opens.

    The rows are locked meanwhile, so a secret that is changed at the same moment is not overwritten. Repeated until it
    does nothing, it has done everything, wherever it was interrupted.
    """
    done = 0
    broken: list[uuid.UUID] = []
    for column in SEALED:
        model = column.class_
        for row_id, blob in session.execute(_held(column)).all():
            if sealer.is_current(blob):
                continue
            if done >= limit:
                return done, broken
            locked = session.execute(
                sa.select(column).where(model.id == row_id).with_for_update(key_share=True)
            ).scalar()
            if locked is None or sealer.is_current(locked):
                continue
            try:
                text = sealer.open(locked, str(row_id))
            except SealBroken:
                broken.append(row_id)
                continue
            values: dict[str, Any] = {column.key: sealer.seal(text, str(row_id))}
            if hasattr(model, "updated_at"):
                values["updated_at"] = model.updated_at
            session.execute(
                sa.update(model)
                .where(model.id == row_id)
                .values(values)
                .execution_options(synchronize_session=False)
            )
            done += 1
    return done, broken


def _held(column: Any) -> sa.Select[Any]:
    return sa.select(column.class_.id, column).where(column.is_not(None)).order_by(column.class_.id)
