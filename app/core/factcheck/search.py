"""The full-text index of fact-checks in the database, and matching posts with it (docs/moderate/fact-checks.md).

A row holds a word and the numbers of up to 16,384 items whose claim or title contains it, two bytes each. A post of
fifteen words reads some dozens of rows, whatever the database, and both databases rank alike. An item gets a new
number whenever its text changes; rows that still name the old number lead nowhere.
"""

import threading
import uuid
from collections import Counter, OrderedDict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

import numpy as np
import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.classify.language import UNKNOWN, detect, named
from app.core.db import serialise
from app.core.factcheck import postings
from app.core.factcheck.matching import terms
from app.core.factcheck.matching.features import Candidate
from app.core.factcheck.matching.index import Found, Numbers
from app.core.factcheck.matching.matcher import match
from app.core.factcheck.matching.meaning import Background
from app.core.factcheck.matching.weights import shipped
from app.core.factcheck.nearest import Nearest
from app.core.factcheck.postings import EVERY_ITEM
from app.core.listed import is_one_of
from app.core.models import FactCheckItem, FactCheckPosting

SHARED = uuid.UUID(int=0)
"""The owner of the items that every community uses."""
REMOVED = -1
"""The number of an item that no post matches any more."""
INDEX_LOCK = uuid.UUID(int=0x6661_6374_6368_6563)
"""Used as the lock's id, in place of a community's: imports wait only for each other."""
KEPT = 1_500
"""Items whose words a process keeps, the most recently used ones."""
WAITING = 100
_WORDS_AT_ONCE = 500

_kept: OrderedDict[tuple[uuid.UUID, uuid.UUID, int], Candidate] = OrderedDict()
_lock = threading.Lock()


@dataclass(frozen=True)
class Match:
    """The fact-check that a post makes the claim of. ``probability`` is that of the pair, 0.0 to 1.0."""

    item_id: uuid.UUID
    probability: float


def find(
    session: Session,
    content: str,
    community_id: uuid.UUID | None,
    language: str | None = None,
    near: Nearest | None = None,
) -> Match | None:
    """The fact-check whose claim a post makes, among those that the community uses; None if none is sure enough.

    ``language`` is the post's, None where it is unknown: fact-checks in another language are left out. ``near``: how
    near the items are to the post by their meaning, if that is known; the nearest are candidates too.
    """
    index = DatabaseIndex(session, community_id)
    if index.size == 0:
        return None
    numbered = None if near is None else _Near(index, near, index.numbers_of(near.ids))
    shown = match(content, index, shipped(), language, near=numbered).shown
    return None if shown is None else Match(index.ids[shown.number], shown.score)


class DatabaseIndex:
    """The items that a community uses, as one index: the shared ones first, then its own."""

    def __init__(self, session: Session, community_id: uuid.UUID | None) -> None:
        self._session = session
        self.ids: dict[int, uuid.UUID] = {}
        sizes = _sizes(session, _owners(community_id))
        self._sizes = {owner: size for owner, size in sizes.items() if size}
        self._parts = [
            postings.Owner(owner, size, _first(session, owner)) for owner, size in self._sizes.items()
        ]
        self._starts: dict[uuid.UUID, int] = {}
        self.size = 0
        for owner, size in self._sizes.items():
            self._starts[owner] = self.size
            self.size += size

    def postings(self, words: Collection[str]) -> Mapping[str, Sequence[Numbers]]:
        found: dict[str, list[Numbers]] = {}
        for part in self._parts:
            start = self._starts[part.id]
            for word, numbers in postings.numbers(self._session, part, words).items():
                # NumPy adds at places of eight bytes twice as fast as at places of four.
                found.setdefault(word, []).append(numbers.astype(np.int64) + start)
        return found

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        found: Counter[str] = Counter()
        for part in self._parts:
            found.update(postings.counts(self._session, part, words))
        return found

    def numbers_of(self, ids: Sequence[uuid.UUID]) -> list[int]:
        """The numbers of these items, in their order; items that are gone are left out."""
        if not ids:
            return []
        rows = self._session.execute(
            sa.select(FactCheckItem.id, FactCheckItem.community_id, FactCheckItem.number).where(
                is_one_of(self._session, FactCheckItem.id, ids), FactCheckItem.number >= 0
            )
        )
        starts = {
            item_id: self._starts[community_id or SHARED] + number
            for item_id, community_id, number in rows
            if number is not None and (community_id or SHARED) in self._starts
        }
        return [starts[item_id] for item_id in ids if item_id in starts]

    def items(self, numbers: Sequence[int]) -> Sequence[Found]:
        found = []
        for owner, start in self._starts.items():
            own = [number - start for number in numbers if 0 <= number - start < self._sizes[owner]]
            if not own:
                continue
            rows = self._session.execute(
                sa.select(
                    FactCheckItem.id,
                    FactCheckItem.number,
                    FactCheckItem.claim,
                    FactCheckItem.title,
                    FactCheckItem.search_language,
                ).where(_owned_by(owner), is_one_of(self._session, FactCheckItem.number, own))
            )
            for item_id, number, claim, title, language in rows:
                assert number is not None  # noqa: S101 - one of ``own``; narrows the type
                self.ids[start + number] = item_id
                read = partial(_candidate, (owner, item_id, number), claim, title)
                found.append(Found(start + number, read, named(language)))
        return found


@dataclass(frozen=True)
class _Near:
    """What is known of the items' vectors, by the numbers that the items have in an index."""

    index: DatabaseIndex
    nearest: Nearest
    numbers: Sequence[int]

    @property
    def background(self) -> Background | None:
        return self.nearest.background

    def cosines(self, numbers: Collection[int]) -> Mapping[int, float]:
        number_of = {self.index.ids[number]: number for number in numbers}
        found = self.nearest.cosines(number_of)
        return {number_of[item_id]: cosine for item_id, cosine in found.items()}


def _owned_by(owner: uuid.UUID) -> sa.ColumnElement[bool]:
    if owner == SHARED:
        return FactCheckItem.community_id.is_(None)
    return FactCheckItem.community_id == owner


def _candidate(key: tuple[uuid.UUID, uuid.UUID, int], claim: str, title: str | None) -> Candidate:
    """The words of an item. They never change for one number, so they are kept."""
    with _lock:
        kept = _kept.get(key)
        if kept is not None:
            _kept.move_to_end(key)
            return kept
    candidate = Candidate(terms.read(claim), terms.read(title or ""))
    with _lock:
        _kept[key] = candidate
        while len(_kept) > KEPT:
            _kept.popitem(last=False)
    return candidate


def add(session: Session, rows: Sequence[FactCheckItem]) -> None:
    """Index these items again, some hundreds at most. Call it after every change of a claim, title or owner."""
    serialise(session, INDEX_LOCK)
    by_owner = sorted(rows, key=lambda row: (row.community_id or SHARED).hex)
    for owner, owned in groupby(by_owner, key=lambda row: row.community_id or SHARED):
        first = _size(session, owner)
        words: dict[tuple[str, int], list[int]] = {}
        for number, row in enumerate(owned, first):
            candidate = Candidate(terms.read(row.claim), terms.read(row.title or ""))
            row.number = number
            row.search_language = _language(row)
            for word in (EVERY_ITEM, *candidate.both):
                words.setdefault((word, number // postings.BLOCK), []).append(number % postings.BLOCK)
        _append(session, owner, words)
    session.flush()


def remove(session: Session, ids: Collection[uuid.UUID]) -> None:
    """Let no post match these items any more. ``add`` brings them back."""
    session.execute(
        sa.update(FactCheckItem)
        .where(FactCheckItem.id.in_(ids))
        .values(number=REMOVED)
        .execution_options(synchronize_session="fetch")
    )


def has_waiting(session: Session) -> bool:
    """Whether an item was stored without being indexed."""
    return (
        session.scalar(sa.select(FactCheckItem.id).where(FactCheckItem.number.is_(None)).limit(1)) is not None
    )


def add_waiting(session: Session) -> int:
    """Index up to ``WAITING`` items that were stored without; return how many. For items of before an upgrade."""
    serialise(session, INDEX_LOCK)
    rows = session.scalars(
        sa.select(FactCheckItem).where(FactCheckItem.number.is_(None)).limit(WAITING)
    ).all()
    if rows:
        add(session, rows)
    return len(rows)


def sizes(session: Session, community_id: uuid.UUID | None) -> tuple[int, ...]:
    """How many numbers the shared and the community's own items have been given; they grow with every change."""
    return tuple(_sizes(session, _owners(community_id)).values())


def _owners(community_id: uuid.UUID | None) -> tuple[uuid.UUID, ...]:
    return (SHARED,) if community_id is None else (SHARED, community_id)


def _size(session: Session, owner: uuid.UUID) -> int:
    """How many numbers the owner's items have been given so far: the lowest one that is free."""
    return _sizes(session, (owner,))[owner]


def _sizes(session: Session, owners: Sequence[uuid.UUID]) -> dict[uuid.UUID, int]:
    rows = session.execute(
        sa.select(
            FactCheckPosting.owner, FactCheckPosting.block, sa.func.length(FactCheckPosting.numbers)
        ).where(FactCheckPosting.owner.in_(owners), FactCheckPosting.word == EVERY_ITEM)
    )
    sizes = dict.fromkeys(owners, 0)
    for owner, block, used in rows:
        sizes[owner] = max(sizes[owner], block * postings.BLOCK + used // 2)
    return sizes


def _first(session: Session, owner: uuid.UUID) -> uuid.UUID | None:
    """The item with the owner's lowest number."""
    return session.scalar(
        sa.select(FactCheckItem.id)
        .where(_owned_by(owner), FactCheckItem.number >= 0)
        .order_by(FactCheckItem.number)
        .limit(1)
    )


def _language(row: FactCheckItem) -> str:
    if row.language:
        return row.language.lower().replace("_", "-").split("-")[0][:8]
    return detect(f"{row.claim}\n{row.title or ''}") or UNKNOWN


def _append(session: Session, owner: uuid.UUID, words: Mapping[tuple[str, int], list[int]]) -> None:
    """Add numbers to the rows of these (word, block) pairs."""
    known: dict[tuple[str, int], bytes] = {}
    keys = sorted(words)
    for start in range(0, len(keys), _WORDS_AT_ONCE):
        chunk = keys[start : start + _WORDS_AT_ONCE]
        rows = session.execute(
            sa.select(FactCheckPosting.word, FactCheckPosting.block, FactCheckPosting.numbers).where(
                FactCheckPosting.owner == owner,
                is_one_of(session, FactCheckPosting.word, {word for word, _ in chunk}),
                FactCheckPosting.block.in_({block for _, block in chunk}),
            )
        )
        known |= {(word, block): numbers for word, block, numbers in rows}
    new: list[dict[str, object]] = []
    longer: list[dict[str, object]] = []
    for word, block in keys:
        added = np.array(words[word, block], dtype="<u2").tobytes()
        before = known.get((word, block))
        (new if before is None else longer).append(
            {"owner": owner, "word": word, "block": block, "numbers": (before or b"") + added}
        )
    if new:
        session.execute(sa.insert(FactCheckPosting), new)
    if longer:
        session.execute(sa.update(FactCheckPosting), longer)
