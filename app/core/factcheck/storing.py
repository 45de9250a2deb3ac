"""Stores imported items with what their publishers say of them, retires items and brings them back.

A retired item matches no post any more, but it stays in its table: decisions that referred to it stay readable.
"""

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.errors import Conflict, Forbidden
from app.core.factcheck import items, search
from app.core.factcheck.items import Imported
from app.core.factcheck.published import Published
from app.core.history import chain as history
from app.core.models import FactCheckItem
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import RowOutcome


def stored(session: Session, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], FactCheckItem]:
    """The stored items with these keys (dataset name, item id)."""
    rows: dict[tuple[str, str], FactCheckItem] = {}
    for dataset in {name for name, _ in keys}:
        ids = [item_id for name, item_id in keys if name == dataset]
        found = session.scalars(
            sa.select(FactCheckItem).where(
                FactCheckItem.dataset_name == dataset, FactCheckItem.item_id.in_(ids)
            )
        )
        rows |= {(row.dataset_name, row.item_id): row for row in found}
    return rows


def outcome(row: FactCheckItem | None, item: Published, community_id: uuid.UUID | None) -> RowOutcome:
    """What storing ``item`` does to ``row``; ``community_id`` as in ``items.keep``."""
    if row is None:
        return RowOutcome.ADD
    if community_id is not None and row.community_id != community_id:
        return RowOutcome.TAKEN
    is_same = row.community_id == community_id and row.retired_at is None and _of_row(row) == _of_item(item)
    return RowOutcome.LEAVE if is_same else RowOutcome.CHANGE


def keep(
    session: Session,
    published: Sequence[Published],
    community_id: uuid.UUID | None,
    feed_id: uuid.UUID | None = None,
) -> Imported:
    """As ``items.keep``, with title, language and day; retired items among them match posts again."""
    keys = [item.key for item in published]
    for row in stored(session, keys).values():
        if row.retired_at is not None and community_id in (None, row.community_id):
            _unretire(row)
    session.flush()
    counts = items.keep(session, published, community_id)
    rows = stored(session, keys)
    for item in published:
        row = rows[item.key]
        if row.community_id == community_id:
            row.title, row.language = item.title or None, item.language or None
            row.reviewed_on = item.reviewed_on
            row.feed_id = feed_id or row.feed_id
    session.flush()
    return counts


def hide(session: Session, ids: Sequence[uuid.UUID]) -> None:
    """Retire these items: without rows in the word index, no post matches them."""
    search.remove(session, ids)
    session.execute(
        sa.update(FactCheckItem)
        .where(FactCheckItem.id.in_(ids), FactCheckItem.retired_at.is_(None))
        .values(retired_at=clock.now())
        .execution_options(synchronize_session="fetch")
    )


def get(session: Session, actor: Actor, community_id: uuid.UUID, item_id: uuid.UUID) -> FactCheckItem | None:
    """An item that the community uses, retired or not; None when it is unknown or another community's."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(
        sa.select(FactCheckItem).where(FactCheckItem.id == item_id, items.serving(community_id))
    ).first()


def may_change(actor: Actor, row: FactCheckItem) -> bool:
    """Whether the actor may retire this item: one that serves every community belongs to service admins."""
    return row.community_id is not None or actor.kind == "system" or actor.service_admin


def retire(session: Session, actor: Actor, community_id: uuid.UUID, row: FactCheckItem) -> None:
    """Retire one item. Raises Conflict when it is retired already, Forbidden when it serves every community."""
    _check(actor, community_id, row)
    if row.retired_at is not None:
        raise Conflict("This fact-check is retired already")
    hide(session, [row.id])
    _record(session, actor, community_id, "dataset.item_retired", row)


def bring_back(session: Session, actor: Actor, community_id: uuid.UUID, row: FactCheckItem) -> None:
    """Let a retired item match posts again. Raises Conflict when it is not retired."""
    _check(actor, community_id, row)
    if row.retired_at is None:
        raise Conflict("This fact-check is not retired")
    item = as_published(row)
    keep(session, [item], row.community_id)
    _record(session, actor, community_id, "dataset.item_restored", row)


def as_published(row: FactCheckItem) -> Published:
    """A stored item as it was imported."""
    return Published(
        row.dataset_name,
        row.item_id,
        row.claim,
        row.rating_given,
        row.url,
        row.publisher,
        row_id=row.id,
        meaning=row.rating,
        title=row.title or "",
        language=row.language or "",
        reviewed_on=row.reviewed_on,
    )


def _unretire(row: FactCheckItem) -> None:
    # An empty claim differs from every claim, so that storing the item indexes its words again.
    row.retired_at, row.claim = None, ""


def _check(actor: Actor, community_id: uuid.UUID, row: FactCheckItem) -> None:
    require(actor, Permission.REVISE_POLICY, community_id)
    if not may_change(actor, row):
        raise Forbidden("This fact-check serves every community: only a service admin may change it")


def _record(session: Session, actor: Actor, community_id: uuid.UUID, what: str, row: FactCheckItem) -> None:
    after = {"dataset": row.dataset_name, "item_id": row.item_id}
    history.record(session, actor, community_id, what, "community", community_id, after=after)


def _of_row(row: FactCheckItem) -> tuple[Any, ...]:
    said = (row.title or "", row.language or "", row.reviewed_on)
    return (row.claim, row.rating_given, row.rating, row.url, row.publisher, *said)


def _of_item(item: Published) -> tuple[Any, ...]:
    said = (item.title, item.language, item.reviewed_on)
    return (item.claim, item.rating_given, item.rating, item.url, item.publisher, *said)
