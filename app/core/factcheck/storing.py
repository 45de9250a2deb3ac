"""Stores items by (dataset_name, item_id), retires them and brings them back.

A retired item matches no post any more, but it stays in its table: decisions that referred to it stay readable.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden
from app.core.factcheck import items, search
from app.core.factcheck.items import Imported, Item
from app.core.factcheck.published import Published
from app.core.history import chain as history
from app.core.ids import new_id
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


def outcome(row: FactCheckItem | None, item: Item, community_id: uuid.UUID | None) -> RowOutcome:
    """What storing ``item`` does to ``row``; ``community_id`` as in ``keep``."""
    if row is None:
        return RowOutcome.ADD
    if community_id is not None and row.community_id != community_id:
        return RowOutcome.TAKEN
    is_same = row.community_id == community_id and row.retired_at is None and _of_row(row) == _of_item(item)
    return RowOutcome.LEAVE if is_same else RowOutcome.CHANGE


def keep(
    session: Session,
    given: Sequence[Item],
    community_id: uuid.UUID | None = None,
    feed_id: uuid.UUID | None = None,
) -> Imported:
    """Insert new items and update changed ones, some hundreds at most; retired ones among them match posts again.

    ``community_id``: the items' only user; None: they serve every community. Items that belong to somebody else stay
    unchanged, but the service may replace any item with the same key.
    """
    serialise(session, search.INDEX_LOCK)
    rows = stored(session, [item.key for item in given])
    counts: Counter[RowOutcome] = Counter()
    changed: list[FactCheckItem] = []
    for item in given:
        row = rows.get(item.key)
        what = outcome(row, item, community_id)
        counts[what] += 1
        if what is RowOutcome.TAKEN:
            continue
        if row is None:
            row = rows[item.key] = FactCheckItem(
                id=new_id(), dataset_name=item.dataset_name, item_id=item.item_id
            )
            session.add(row)
        row.feed_id = feed_id or row.feed_id
        if what is not RowOutcome.LEAVE:
            _write(row, item, community_id)
            changed.append(row)
    session.flush()
    if changed:
        search.add(session, changed)
    return Imported(
        counts[RowOutcome.ADD],
        counts[RowOutcome.CHANGE],
        counts[RowOutcome.LEAVE],
        counts[RowOutcome.TAKEN],
    )


def _write(row: FactCheckItem, item: Item, community_id: uuid.UUID | None) -> None:
    row.community_id, row.retired_at = community_id, None
    row.claim, row.url, row.publisher = item.claim, item.url, item.publisher
    row.rating, row.rating_given = item.rating, item.rating_given
    row.title, row.language, row.reviewed_on = item.title or None, item.language or None, item.reviewed_on


def hide(session: Session, ids: Sequence[uuid.UUID]) -> None:
    """Retire these items: no post matches them any more."""
    rows = session.scalars(
        sa.select(FactCheckItem).where(FactCheckItem.id.in_(ids), FactCheckItem.retired_at.is_(None))
    ).all()
    search.remove(session, rows)
    for row in rows:
        row.retired_at = clock.now()
    session.flush()


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
    keep(session, [as_published(row)], row.community_id)
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


def _of_item(item: Item) -> tuple[Any, ...]:
    said = (item.title, item.language, item.reviewed_on)
    return (item.claim, item.rating_given, item.rating, item.url, item.publisher, *said)
