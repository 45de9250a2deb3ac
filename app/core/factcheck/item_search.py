"""Fact-checks found by words, for operators."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.factcheck import items
from app.core.models import FactCheckItem
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import ClaimRating

PAGE = 25
_DEEPEST = 200


@dataclass(frozen=True)
class Search:
    """What to look for; empty values match everything. ``text`` is a part of claim, title, publisher or id."""

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


def search(session: Session, actor: Actor, community_id: uuid.UUID, wanted: Search) -> Results:
    """Find items that the community uses, the last changed first."""
    require(actor, Permission.REVISE_POLICY, community_id)
    which = [items.serving(community_id), FactCheckItem.retired_at.is_not(None)]
    if not wanted.is_retired:
        which[1] = FactCheckItem.retired_at.is_(None)
    for word in wanted.text.split()[:8]:
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
    if wanted.dataset:
        which.append(FactCheckItem.dataset_name == wanted.dataset)
    if wanted.rating is not None:
        which.append(FactCheckItem.rating == wanted.rating)
    if wanted.is_unknown:
        which.append(FactCheckItem.rating.is_(None))
    count = session.scalar(sa.select(sa.func.count(FactCheckItem.id)).where(*which)) or 0
    page = max(1, min(wanted.page, _DEEPEST, -(-count // PAGE)))
    rows = session.scalars(
        sa.select(FactCheckItem)
        .where(*which)
        .order_by(FactCheckItem.updated_at.desc(), FactCheckItem.id.desc())
        .limit(PAGE)
        .offset((page - 1) * PAGE)
    ).all()
    return Results(rows, count, page)
