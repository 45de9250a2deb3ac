"""All encrypted values of the database: count unreadable ones, and encrypt them with a new key.

A new encrypted column must be added to ``SEALED``; a test compares that with the models.
"""

import uuid
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.models import Account, ConnectedService, FormerSecret, Identity, IdentityProvider, Webhook
from app.core.sealing import SealBroken, Sealer

SEALED: tuple[Any, ...] = (
    Webhook.secret,
    Webhook.previous_secret,
    FormerSecret.secret,
    ConnectedService.key,
    IdentityProvider.client_secret,
    Identity.refresh_token,
    Account.totp_secret,
)
"""The encrypted columns. Each value is sealed for the id of its row."""


def unreadable(session: Session, sealer: Sealer) -> int:
    """The number of encrypted values that no known key can decrypt."""
    bad = 0
    for _column, row_id, blob in _sealed_values(session):
        try:
            sealer.open(blob, str(row_id))
        except SealBroken:
            bad += 1
    return bad


def outdated(session: Session, sealer: Sealer) -> int:
    """The number of values encrypted with another key than the current one."""
    return sum(not sealer.is_current(blob) for _column, _row_id, blob in _sealed_values(session))


def reseal(session: Session, sealer: Sealer, *, limit: int = 100) -> tuple[int, list[uuid.UUID]]:
    """Encrypt up to ``limit`` values with the current key. Return their number and the ids of unreadable rows.

    Rows are locked meanwhile, so that a concurrent change of a secret is not overwritten. Callers repeat it until
    it returns 0; it may be interrupted at any time.
    """
    resealed = 0
    broken: list[uuid.UUID] = []
    for column, row_id, blob in _sealed_values(session):
        if sealer.is_current(blob):
            continue
        if resealed >= limit:
            break
        model = column.class_
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
        bulk.change(session, sa.update(model).where(model.id == row_id).values(values))
        resealed += 1
    return resealed, broken


def _sealed_values(session: Session) -> Iterator[tuple[Any, uuid.UUID, bytes]]:
    """All encrypted values, each with its column and the id of its row."""
    for column in SEALED:
        # A webhook that was removed has an empty secret.
        stored = sa.select(column.class_.id, column).where(column.is_not(None), column != b"")
        for row_id, blob in session.execute(stored.order_by(column.class_.id)).all():
            yield column, row_id, blob
