"""Reads the full-text index of fact-checks: which items of an owner have a word (``search`` writes it).

Numbers are only ever added to the index, each above all numbers that were given before. So what a process has read of
a word stays right: only the block that was not full yet is read again, and that only when the owner has new numbers.
The common words, which are most of what a search reads, are soon all in memory.
"""

import threading
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from app.core.listed import is_one_of
from app.core.models import FactCheckPosting

BLOCK = 1 << 14
"""How many numbers a row of the index covers."""
EVERY_ITEM = ""
"""In place of a word: the row that names every item."""
BYTES_MAX = 24 * 1024 * 1024
"""Memory that a process gives to the numbers of words: 200,000 items have 18 MB of them."""
COUNTS_MAX = 50_000
"""Words of which a process keeps how many items have them; 12 MB."""
_OVERHEAD = 300
"""Bytes that a kept word takes beside its numbers."""

Numbers = NDArray[np.int32]
_Key = tuple[uuid.UUID, str]
_Found = TypeVar("_Found")


@dataclass(frozen=True)
class Owner:
    """The owner of some items, as it was read before: ``size`` is how many numbers its items have been given.

    ``first``: the id of the item with the lowest number. What is kept is kept for it, so nothing of another database
    is taken for the same. None: there is none, and nothing is kept.
    """

    id: uuid.UUID
    size: int
    first: uuid.UUID | None


@dataclass(frozen=True)
class _Numbers:
    """The numbers of the items with a word, when the owner had given ``size`` numbers."""

    size: int
    numbers: Numbers

    @property
    def bytes_used(self) -> int:
        return self.numbers.nbytes + _OVERHEAD


class _Count(NamedTuple):
    """How many items have a word, and how many of them are in full blocks, when there were ``size`` numbers."""

    size: int
    in_full_blocks: int
    in_all: int


@dataclass
class _Kept:
    """What a process keeps of one database, the most recently used words. Shared by its threads."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: OrderedDict[_Key, _Numbers] = field(default_factory=OrderedDict)
    counts: OrderedDict[_Key, _Count] = field(default_factory=OrderedDict)
    bytes_used: int = 0

    def known_numbers(self, owner: uuid.UUID, words: Collection[str]) -> dict[str, _Numbers]:
        with self.lock:
            return _known(self.numbers, owner, words)

    def known_counts(self, owner: uuid.UUID, words: Collection[str]) -> dict[str, _Count]:
        with self.lock:
            return _known(self.counts, owner, words)

    def keep_numbers(self, owner: uuid.UUID, read: Mapping[str, _Numbers]) -> None:
        with self.lock:
            for word, found in read.items():
                before = self.numbers.pop((owner, word), None)
                self.bytes_used += found.bytes_used - (before.bytes_used if before is not None else 0)
                self.numbers[owner, word] = found
            while self.bytes_used > BYTES_MAX:
                self.bytes_used -= self.numbers.popitem(last=False)[1].bytes_used

    def keep_counts(self, owner: uuid.UUID, read: Mapping[str, _Count]) -> None:
        with self.lock:
            for word, found in read.items():
                self.counts[owner, word] = found
                self.counts.move_to_end((owner, word))
            while len(self.counts) > COUNTS_MAX:
                self.counts.popitem(last=False)


def _known(kept: OrderedDict[_Key, _Found], owner: uuid.UUID, words: Collection[str]) -> dict[str, _Found]:
    known = {word: found for word in words if (found := kept.get((owner, word))) is not None}
    for word in known:
        kept.move_to_end((owner, word))
    return known


_of_databases: weakref.WeakKeyDictionary[sa.Pool, _Kept] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def _kept_of(session: Session, owner: Owner) -> _Kept:
    engine = session.get_bind().engine
    if owner.first is None or engine.get_execution_options().get("writing"):
        # What a writing transaction reads may be rolled back.
        return _Kept()
    with _lock:
        return _of_databases.setdefault(engine.pool, _Kept())


def numbers(session: Session, owner: Owner, words: Collection[str]) -> Mapping[str, Numbers]:
    """For each of these words that occurs, the numbers below its size of the owner's items that have it, ascending."""
    kept = _kept_of(session, owner)
    known = kept.known_numbers(owner.first or owner.id, words)
    size, full = owner.size, owner.size // BLOCK
    parts: dict[str, list[Numbers]] = {}
    longer = [
        word for word, found in known.items() if size > found.size and full and found.size // BLOCK == full
    ]
    for word in longer:
        parts[word] = [known[word].numbers[: np.searchsorted(known[word].numbers, full * BLOCK)]]
    right = {word: found.numbers for word, found in known.items() if found.size == size}
    for asked, first in (
        ([word for word in words if word not in right and word not in parts], 0),
        (longer, full),
    ):
        if asked:
            for word, block, packed in _rows(session, owner.id, asked, first):
                if block <= full:
                    part = np.frombuffer(packed, dtype="<u2").astype(np.int32) + np.int32(block * BLOCK)
                    parts.setdefault(word, []).append(part)
    read = {}
    for word in (word for word in words if word not in right):
        joined = np.concatenate(parts[word]) if word in parts else np.zeros(0, np.int32)
        # Another process may have added some since ``size`` was read.
        read[word] = _Numbers(size, joined[: np.searchsorted(joined, size)])
    kept.keep_numbers(owner.first or owner.id, read)
    found = right | {word: one.numbers for word, one in read.items()}
    return {word: some for word, some in found.items() if len(some)}


def _rows(
    session: Session, owner: uuid.UUID, words: Collection[str], first: int
) -> sa.Result[str, int, bytes]:
    return session.execute(
        sa.select(FactCheckPosting.word, FactCheckPosting.block, FactCheckPosting.numbers)
        .where(
            FactCheckPosting.owner == owner,
            is_one_of(session, FactCheckPosting.word, words),
            FactCheckPosting.block >= first,
        )
        .order_by(FactCheckPosting.word, FactCheckPosting.block)
    )


def counts(session: Session, owner: Owner, words: Collection[str]) -> Mapping[str, int]:
    """For each of these words that occurs, how many of the owner's items have it."""
    kept = _kept_of(session, owner)
    known = kept.known_counts(owner.first or owner.id, words)
    size, full = owner.size, owner.size // BLOCK
    right = {word: found.in_all for word, found in known.items() if found.size == size}
    longer = [
        word for word, found in known.items() if size > found.size and full and found.size // BLOCK == full
    ]
    in_full = dict.fromkeys(words, 0) | {word: known[word].in_full_blocks for word in longer}
    in_last = dict.fromkeys(words, 0)
    of_longer = frozenset(longer)
    for asked, first in (
        ([word for word in words if word not in right and word not in of_longer], 0),
        (longer, full),
    ):
        if asked:
            for word, is_full, used in _sizes(session, owner.id, asked, first, full):
                (in_full if is_full else in_last)[word] += used // 2
    read = {
        word: _Count(size, in_full[word], in_full[word] + in_last[word])
        for word in words
        if word not in right
    }
    kept.keep_counts(owner.first or owner.id, read)
    found = right | {word: one.in_all for word, one in read.items()}
    return {word: count for word, count in found.items() if count}


def _sizes(
    session: Session, owner: uuid.UUID, words: Collection[str], first: int, full: int
) -> sa.Result[str, bool, int]:
    is_full = (FactCheckPosting.block < full).label("is_full")
    return session.execute(
        # Neither database reads the bytes to know how many they are.
        sa.select(
            FactCheckPosting.word,
            is_full,
            sa.cast(sa.func.sum(sa.func.length(FactCheckPosting.numbers)), sa.Integer),
        )
        .where(
            FactCheckPosting.owner == owner,
            is_one_of(session, FactCheckPosting.word, words),
            FactCheckPosting.block >= first,
        )
        .group_by(FactCheckPosting.word, is_full)
    )
