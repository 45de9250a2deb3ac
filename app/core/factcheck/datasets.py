"""Datasets of fact-checks for the dashboard: the community's own, and those shared by every community."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.factcheck import items, storing
from app.core.factcheck.items import Imported, Item
from app.core.history import chain as history
from app.core.models import FactCheckItem
from app.core.permissions import Actor, Permission, require


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
    """Insert or update some hundred items: for this community, or, if a service admin does it, for every community."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return storing.keep(session, new_items, None if serves_all(actor) else community_id)


def serves_all(actor: Actor) -> bool:
    """Whether the actor's imports are shared by every community.

    Operators may not change what other communities use, so only service admins' imports are shared.
    """
    return actor.kind == "system" or actor.service_admin


def record(
    session: Session, actor: Actor, community_id: uuid.UUID, names: Sequence[str], imported: Imported
) -> None:
    """Record an import in the community's history."""
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
            "new": imported.new,
            "changed": imported.changed,
            "unchanged": imported.unchanged,
            "serves_all": serves_all(actor),
        },
    )
