"""Datasets of fact-checks and their items for operators: the community's own, and those that every community uses."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.factcheck import items
from app.core.factcheck.items import Imported, Item
from app.core.history import chain as history
from app.core.models import FactCheckItem
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ClaimRating

PAGE = 25
_DEEPEST = 200


@dataclass(frozen=True)
class Dataset:
    """A dataset with its number of items and publishers; ``unknown`` items have a rating term that we do not know.

    ``own`` items are used only by this community; ``retired`` ones match no post any more.
    """

    name: str
    items: int
    publishers: int
    unknown: int
    changed_at: datetime
    own: int
    retired: int


def list_datasets(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[Dataset]:
    """All datasets that the community uses, by name."""
    require(actor, Permission.REVISE_POLICY, community_id)
    rows = session.execute(
        sa.select(
            FactCheckItem.dataset_name,
            sa.func.count(),
            sa.func.count(FactCheckItem.publisher.distinct()),
            sa.func.sum(sa.case((FactCheckItem.rating.is_(None), 1), else_=0)),
            sa.func.max(FactCheckItem.updated_at),
            sa.func.count(FactCheckItem.community_id),
            sa.func.count(FactCheckItem.retired_at),
        )
        .where(items.serving(community_id))
        .group_by(FactCheckItem.dataset_name)
        .order_by(FactCheckItem.dataset_name)
    )
    return [Dataset(*row) for row in rows]


def keep(session: Session, actor: Actor, community_id: uuid.UUID, new_items: Sequence[Item]) -> Imported:
    """Import some hundred items: for this community, or, if a service admin does it, for every community."""
    require(actor, Permission.REVISE_POLICY, community_id)
    imported = items.keep(session, new_items, None if serves_all(actor) else community_id)
    after = {
        "datasets": sorted({item.dataset_name for item in new_items}),
        "new": imported.new,
        "changed": imported.changed,
        "unchanged": imported.unchanged,
        "serves_all": serves_all(actor),
    }
    history.record(session, actor, community_id, "dataset.imported", "community", community_id, after=after)
    return imported


def serves_all(actor: Actor) -> bool:
    """Whether the actor's imports are shared by every community.

    Operators may not change what other communities use, so only service admins' imports are shared.
    """
    return actor.kind == "system" or actor.service_admin


@dataclass(frozen=True)
class Search:
    """What to search for; empty values match everything. ``text`` is a part of claim, title, publisher or id."""

    text: str = ""
    dataset: str = ""
    rating: ClaimRating | None = None
    is_unknown: bool = False
    is_retired: bool = False
    page: int = 1


@dataclass(frozen=True)
class Results:
    """One page of items; ``count`` is the number of all that match."""

    rows: Sequence[FactCheckItem]
    count: int
    page: int

    @property
    def pages(self) -> int:
        return max(1, min(_DEEPEST, -(-self.count // PAGE)))


def search(session: Session, actor: Actor, community_id: uuid.UUID, filters: Search) -> Results:
    """Find items that the community uses, the last changed first."""
    require(actor, Permission.REVISE_POLICY, community_id)
    which = [items.serving(community_id), FactCheckItem.retired_at.is_not(None)]
    if not filters.is_retired:
        which[1] = FactCheckItem.retired_at.is_(None)
    for word in filters.text.split()[:8]:
        which.append(
            sa.or_(
                *(
                    column.icontains(word, autoescape=True)
                    for column in (
                        FactCheckItem.claim,
                        FactCheckItem.title,
                        FactCheckItem.publisher,
                        FactCheckItem.item_id,
                    )
                )
            )
        )
    if filters.dataset:
        which.append(FactCheckItem.dataset_name == filters.dataset)
    if filters.rating is not None:
        which.append(FactCheckItem.rating == filters.rating)
    if filters.is_unknown:
        which.append(FactCheckItem.rating.is_(None))
    count = session.scalar(sa.select(sa.func.count(FactCheckItem.id)).where(*which)) or 0
    page = max(1, min(filters.page, _DEEPEST, -(-count // PAGE)))
    rows = session.scalars(
        sa.select(FactCheckItem)
        .where(*which)
        .order_by(FactCheckItem.updated_at.desc(), FactCheckItem.id.desc())
        .limit(PAGE)
        .offset((page - 1) * PAGE)
    ).all()
    return Results(rows, count, page)
