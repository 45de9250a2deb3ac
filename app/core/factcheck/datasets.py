"""Datasets of fact-checks, as operators see and fill them: the community's own, and those that serve everybody."""

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


@dataclass(frozen=True)
class Dataset:
    """A dataset with its items and publishers counted; of ``unknown`` items the rating is in words we do not know.

    ``own`` items serve this community alone.
    """

    name: str
    items: int
    publishers: int
    unknown: int
    changed_at: datetime
    own: int


def every(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[Dataset]:
    """All datasets that serve the community, by name."""
    require(actor, Permission.REVISE_POLICY, community_id)
    rows = session.execute(
        sa.select(
            FactCheckItem.dataset_name,
            sa.func.count(),
            sa.func.count(FactCheckItem.publisher.distinct()),
            sa.func.sum(sa.case((FactCheckItem.rating.is_(None), 1), else_=0)),
            sa.func.max(FactCheckItem.updated_at),
            sa.func.count(FactCheckItem.community_id),
        )
        .where(items.serving(community_id))
        .group_by(FactCheckItem.dataset_name)
        .order_by(FactCheckItem.dataset_name)
    )
    return [Dataset(*row) for row in rows]


def keep(session: Session, actor: Actor, community_id: uuid.UUID, found: Sequence[Item]) -> Imported:
    """Insert or update items, some hundreds at a time: the community's own, or everybody's by a service admin."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return items.keep(session, found, None if serves_all(actor) else community_id)


def serves_all(actor: Actor) -> bool:
    """Whether what the actor imports serves every community: what others rely on is not an operator's to change."""
    return actor.kind == "system" or actor.service_admin


def record(
    session: Session, actor: Actor, community_id: uuid.UUID, names: Sequence[str], done: Imported
) -> None:
    """Say in the community's history that an import was made."""
    require(actor, Permission.REVISE_POLICY, community_id)
    history.record(
        session,
        actor,
        community_id,
        "dataset.imported",
        "community",
        community_id,
        after={
            "datasets": sorted(names),
            "new": done.new,
            "changed": done.changed,
            "unchanged": done.unchanged,
            "serves_all": serves_all(actor),
        },
    )
