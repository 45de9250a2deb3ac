"""Fact-check items: stored by (dataset_name, item_id), found for requests, retired and brought back.

A retired item matches no post any more, but it stays in its table: decisions that referred to it stay readable.
"""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify.language import named
from app.core.db import serialise
from app.core.errors import Conflict, Forbidden
from app.core.factcheck import ratings, search
from app.core.history import chain as history
from app.core.ids import new_id
from app.core.models import FactCheckItem, Request
from app.core.permissions import Actor, Permission, require
from app.core.texts import gettext as _
from app.core.vocabulary import ClaimRating, RowOutcome

MATCH_AT = 0.6
"""The similarity, 0.0 to 1.0, from which an item that an integration references counts as a match."""


@dataclass(frozen=True)
class Item:
    """A fact-check as it was published. ``rating`` is None when we do not know the term ``rating_given``.

    ``meaning`` is the rating as it is stored; the term alone is read where there is none. ``title`` is that of the
    publisher's article. ``date_unread`` is the beginning of a date that we cannot read; the item has none then.
    """

    dataset_name: str
    item_id: str
    claim: str
    rating_given: str
    url: str
    publisher: str
    row_id: uuid.UUID | None = None
    meaning: ClaimRating | None = None
    title: str = ""
    language: str = ""
    reviewed_on: date | None = None
    date_unread: str = ""

    @property
    def rating(self) -> ClaimRating | None:
        return self.meaning or ratings.read_rating(self.rating_given)

    @property
    def key(self) -> tuple[str, str]:
        return (self.dataset_name, self.item_id)


@dataclass(frozen=True)
class Imported:
    """The number of new, changed and unchanged items; ``taken`` ones belong to another community and stay unchanged."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    taken: int = 0

    def __add__(self, other: "Imported") -> "Imported":
        return Imported(
            self.new + other.new,
            self.changed + other.changed,
            self.unchanged + other.unchanged,
            self.taken + other.taken,
        )


def from_row(row: FactCheckItem) -> Item:
    """A stored item as it was imported."""
    return Item(
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


def for_request(session: Session, request: Request) -> Item | None:
    """The fact-check for a request: the item that it references, otherwise the item whose claim its content makes.

    If an integration references an item with a similarity below ``MATCH_AT``, that item is not a match.
    """
    item = referenced(session, request)
    return item or find(session, request.content, request.community_id, named(request.language))


def serving(community_id: uuid.UUID | None) -> sa.ColumnElement[bool]:
    """SQL condition: the items that a community uses, its own and the service's; for None only the service's."""
    shared = FactCheckItem.community_id.is_(None)
    return shared if community_id is None else sa.or_(shared, FactCheckItem.community_id == community_id)


def find(
    session: Session, content: str, community_id: uuid.UUID | None = None, language: str | None = None
) -> Item | None:
    """The item whose claim a text makes, among the community's, or None (docs/moderate/fact-checks.md)."""
    found = search.find(session, content, community_id, language)
    return None if found is None else by_id(session, found.item_id)


def by_id(session: Session, item_id: uuid.UUID) -> Item | None:
    """An item that posts can match."""
    row = session.get(FactCheckItem, item_id)
    return None if row is None or row.retired_at is not None else from_row(row)


def referenced(session: Session, request: Request) -> Item | None:
    """The item that a request references, if the community uses it and it is a likely match."""
    is_likely = request.similarity_score is None or request.similarity_score >= MATCH_AT
    if request.dataset_name is None or request.dataset_item_id is None or not is_likely:
        return None
    row = session.scalars(
        sa.select(FactCheckItem).where(
            FactCheckItem.dataset_name == request.dataset_name,
            FactCheckItem.item_id == request.dataset_item_id,
            serving(request.community_id),
        )
    ).first()
    return None if row is None else from_row(row)


def stored(session: Session, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], FactCheckItem]:
    """The stored items with these keys (dataset name, item id)."""
    rows: dict[tuple[str, str], FactCheckItem] = {}
    for dataset in {name for name, _item_id in keys}:
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
    is_same = all(getattr(row, name) == value for name, value in _columns(item, community_id).items())
    return RowOutcome.LEAVE if is_same else RowOutcome.CHANGE


def _columns(item: Item, community_id: uuid.UUID | None) -> dict[str, Any]:
    return {
        "community_id": community_id,
        "retired_at": None,
        "claim": item.claim,
        "rating": item.rating,
        "rating_given": item.rating_given,
        "url": item.url,
        "publisher": item.publisher,
        "title": item.title or None,
        "language": item.language or None,
        "reviewed_on": item.reviewed_on,
    }


def keep(
    session: Session,
    new_items: Sequence[Item],
    community_id: uuid.UUID | None = None,
    feed_id: uuid.UUID | None = None,
) -> Imported:
    """Insert new items and update changed ones, some hundreds at most; retired ones among them match posts again.

    ``community_id``: the items' only user; None: they serve every community. Items of another community stay
    unchanged, but the service may replace any item with the same key.
    """
    serialise(session, search.INDEX_LOCK)
    rows = stored(session, [item.key for item in new_items])
    counts: Counter[RowOutcome] = Counter()
    changed: list[FactCheckItem] = []
    for item in new_items:
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
            for name, value in _columns(item, community_id).items():
                setattr(row, name, value)
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
        sa.select(FactCheckItem).where(FactCheckItem.id == item_id, serving(community_id))
    ).first()


def may_change(actor: Actor, row: FactCheckItem) -> bool:
    """Whether the actor may retire this item: one that serves every community belongs to service admins."""
    return row.community_id is not None or actor.kind == "system" or actor.service_admin


def retire(session: Session, actor: Actor, community_id: uuid.UUID, row: FactCheckItem) -> None:
    """Retire one item. Raises Conflict when it is retired already, Forbidden when it serves every community."""
    _check(actor, community_id, row)
    if row.retired_at is not None:
        raise Conflict(_("This fact-check is retired already"))
    hide(session, [row.id])
    _record(session, actor, community_id, "dataset.item_retired", row)


def bring_back(session: Session, actor: Actor, community_id: uuid.UUID, row: FactCheckItem) -> None:
    """Let a retired item match posts again. Raises Conflict when it is not retired."""
    _check(actor, community_id, row)
    if row.retired_at is None:
        raise Conflict(_("This fact-check is not retired"))
    keep(session, [from_row(row)], row.community_id)
    _record(session, actor, community_id, "dataset.item_restored", row)


def _check(actor: Actor, community_id: uuid.UUID, row: FactCheckItem) -> None:
    require(actor, Permission.REVISE_POLICY, community_id)
    if not may_change(actor, row):
        raise Forbidden(_("This fact-check serves every community: only a service admin may change it"))


def _record(session: Session, actor: Actor, community_id: uuid.UUID, what: str, row: FactCheckItem) -> None:
    after = {"dataset": row.dataset_name, "item_id": row.item_id}
    history.record(session, actor, community_id, what, "community", community_id, after=after)
