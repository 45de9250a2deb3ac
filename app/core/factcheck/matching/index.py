"""The full-text index that gives candidates: its protocol, and one in memory.

An index knows for each word the items that contain it, in claim or title. Items have numbers from 0.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from app.core.factcheck.matching import terms
from app.core.factcheck.matching.features import Candidate
from app.core.factcheck.matching.meaning import Background

Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Found:
    """An item of an index. ``language`` is a primary language subtag, None where it is unknown.

    ``read`` gives its words: of the items that are found, some are left out before anybody needs them.
    """

    number: int
    read: Callable[[], Candidate]
    language: str | None = None

    @cached_property
    def candidate(self) -> Candidate:
        return self.read()


class Index(Protocol):
    """``size`` is above the number of every item."""

    @property
    def size(self) -> int: ...

    def postings(self, words: Collection[str]) -> Mapping[str, Sequence[Numbers]]:
        """For each of these words that occurs, the numbers of the items that contain it, in one or more parts."""
        ...

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        """For each of these words that occurs, the number of items that contain it."""
        ...

    def items(self, numbers: Sequence[int]) -> Sequence[Found]:
        """The items with these numbers, in any order; numbers of items that are gone are left out."""
        ...


class Near(Protocol):
    """What is known of how near the items are to a post by their meaning (``meaning``)."""

    @property
    def numbers(self) -> Sequence[int]:
        """The items that are nearest to it, nearest first."""
        ...

    @property
    def background(self) -> Background | None:
        """How near all items are to it; None where they are too few to say what near means."""
        ...

    def cosines(self, numbers: Collection[int]) -> Mapping[int, float]:
        """How near each of these items is; items without a vector are left out. Ask only for what ``items`` gave."""
        ...


class MemoryIndex:
    """An index of (claim, title) pairs in memory; an item's number is its place.

    ``language_of`` names an item's language from its text; it is asked only about candidates.
    """

    def __init__(
        self, texts: Sequence[tuple[str, str]], language_of: Callable[[str], str | None] | None = None
    ) -> None:
        self._texts, self._language_of = texts, language_of
        self._languages: dict[int, str | None] = {}
        self._items = [Candidate(terms.read(claim), terms.read(title)) for claim, title in texts]
        numbers: dict[str, list[int]] = {}
        for number, item in enumerate(self._items):
            for word in item.both:
                numbers.setdefault(word, []).append(number)
        self._postings = {word: np.array(found, dtype=np.int64) for word, found in numbers.items()}

    @property
    def size(self) -> int:
        return len(self._items)

    def postings(self, words: Collection[str]) -> Mapping[str, Sequence[Numbers]]:
        return {word: [self._postings[word]] for word in words if word in self._postings}

    def counts(self, words: Collection[str]) -> Mapping[str, int]:
        return {word: len(self._postings[word]) for word in words if word in self._postings}

    def items(self, numbers: Sequence[int]) -> Sequence[Found]:
        return [
            Found(number, partial(self._items.__getitem__, number), self._language(number))
            for number in numbers
        ]

    def _language(self, number: int) -> str | None:
        if self._language_of is None:
            return None
        if number not in self._languages:
            self._languages[number] = self._language_of("\n".join(self._texts[number]))
        return self._languages[number]
