"""Fact-check items: parsed from rows, known by (dataset_name, item_id), matched with requests."""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.classify.language import named
from app.core.errors import Invalid, Problem
from app.core.factcheck import ratings, search
from app.core.models import FactCheckItem, Request
from app.core.vocabulary import ClaimRating

CLAIM_MAX = 5_000
MATCH_AT = 0.6
"""The similarity, 0.0 to 1.0, from which an item that an integration references counts as a match."""
NAMES: Mapping[str, tuple[str, ...]] = {
    "claim": ("claim",),
    "rating": ("rating",),
    "url": ("url",),
    "publisher": ("publisher",),
    "dataset_name": ("dataset_name", "dataset"),
    "item_id": ("item_id", "dataset_item_id"),
}
"""The members of a row, each with the names it may have."""

_LIMITS = {
    "claim": CLAIM_MAX,
    "rating": 255,
    "url": limits.SOURCE_MAX,
    "publisher": 255,
    "dataset_name": limits.DATASET_NAME_MAX,
    "item_id": limits.DATASET_ITEM_MAX,
}
_SPACE = re.compile(r"\s")
_URL = re.compile(r"https?://[^\s/?#@\\<>\"]+([/?#][^\s<>\"]*)?", re.ASCII)


@dataclass(frozen=True)
class Item:
    """A fact-check as it was published. ``rating`` is None when we do not know the term ``rating_given``.

    ``meaning`` is the rating as it is stored; the term alone is read where there is none. ``title`` is that of the
    publisher's article.
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

    @property
    def rating(self) -> ClaimRating | None:
        return self.meaning or ratings.read_rating(self.rating_given)

    @property
    def key(self) -> tuple[str, str]:
        return (self.dataset_name, self.item_id)


@dataclass(frozen=True)
class Imported:
    """The number of new, changed and unchanged items; ``taken`` ones belong to somebody else and stay unchanged."""

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


def read(row: Any) -> Item:
    """Parse a row of a dataset; unknown members are ignored.

    Raises:
        Invalid: with one problem for each member that is missing or cannot be stored.
    """
    if not isinstance(row, Mapping):
        raise Invalid(Problem("dict_type", ("row",), "must be an object"))
    problems: list[Problem] = []
    values: dict[str, str] = {}
    for member, names in NAMES.items():
        try:
            values[member] = _member(row, member, names)
        except Invalid as refused:
            problems += refused.problems
    if problems:
        raise Invalid(*problems)
    return Item(
        dataset_name=values["dataset_name"],
        item_id=values["item_id"],
        claim=values["claim"],
        rating_given=values["rating"],
        url=values["url"],
        publisher=values["publisher"],
    )


def address(given: str) -> str:
    """An address without the white space around it, its scheme in small letters."""
    bare = given.strip()
    scheme, separator, rest = bare.partition("://")
    return f"{scheme.lower()}{separator}{rest}" if separator and scheme.isalpha() else bare


def _member(row: Mapping[Any, Any], member: str, names: Sequence[str]) -> str:
    values = {name: row[name] for name in names if row.get(name) is not None}
    if not values:
        raise Invalid.field(member, "is missing")
    if len(set(map(repr, values.values()))) > 1:
        raise Invalid.field(member, f"differs between {' and '.join(values)}")
    value = next(iter(values.values()))
    if not isinstance(value, str):
        raise Invalid.field(member, "must be text", value)
    limits.text(value, member, _LIMITS[member])
    if member == "url":
        value = address(value)
        if _SPACE.search(value):
            raise Invalid.field(
                member, "must not contain a space or a line break; write a space as %20", value[:50]
            )
    if member == "url" and not _URL.fullmatch(value):
        raise Invalid.field(member, "must be an address that begins with https:// or http://", value[:50])
    return value


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
    return None if row is None or row.retired_at is not None else _item(row)


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
    return None if row is None else _item(row)


def _item(row: FactCheckItem) -> Item:
    return Item(
        row.dataset_name,
        row.item_id,
        row.claim,
        row.rating_given,
        row.url,
        row.publisher,
        row_id=row.id,
        meaning=row.rating,
    )
