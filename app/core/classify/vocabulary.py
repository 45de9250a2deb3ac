"""The words that a rule pack or the shipped model looks for, used to tell a disguised word from an unusual one."""

import functools
import io
import zlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from itertools import groupby
from math import gcd

import numpy as np

KNOWN_BITS = 1 << 19


KNOWN_LONGEST = 16
"""Letters; longer words are joined ones more often than words, and one in a hundred has its bits set by chance."""


def known_places(word: str) -> tuple[int, int]:
    """The two bits of a word."""
    number = zlib.crc32(word.encode())
    return number % KNOWN_BITS, (number * 2_654_435_761 >> 11) % KNOWN_BITS


@dataclass(frozen=True, eq=False)
class ShippedWords:
    """The words that come with the service.

    ``listed``: words of this project's own sentences, the weightiest first. ``known``: two bits for each word that
    people use, also for those that are in no list here (a Bloom filter): such a word is no disguise of another.
    """

    listed: tuple[str, ...]
    known: bytes

    @functools.lru_cache(maxsize=16_384)  # noqa: B019  There is one for the whole process.
    def knows(self, word: str) -> bool:
        if len(word) > KNOWN_LONGEST:
            return False
        return all(self.known[place >> 3] & (128 >> (place & 7)) for place in known_places(word))


@functools.cache
def shipped_words() -> ShippedWords:
    """Read once for the whole process; ``tools.training`` writes the file."""
    file = resources.files("app.core.classify").joinpath("weights", "words.npz")
    with np.load(io.BytesIO(file.read_bytes()), allow_pickle=False) as arrays:
        return ShippedWords(tuple(bytes(arrays["listed"]).decode().split("\n")), bytes(arrays["known"]))


class Vocabulary:
    """The words that are looked for; they decide between the possible readings of a disguised word.

    ``shipped`` adds the words that come with the service: those listed may be meant, those known are left alone.
    """

    _ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "y", "ly")
    # These are joined only beside a longer known word: "k i l l  y o u", "b u y  m y".
    _SMALL = frozenset(
        {"i", "u", "a", "r", "to", "me", "my", "is", "it", "am", "an", "you", "your", "the", "all"}
    )

    def __init__(self, words: Iterable[str] = (), shipped: ShippedWords | None = None) -> None:
        self.written = frozenset(word for word in words if len(word) >= 3)
        bent = (
            word + ending
            for word in self.written
            if len(word) >= 4
            for ending in self._ENDINGS
            if word[-1] != ending[0] and not (word[-1] == "e" and ending == "y")
        )
        self.words = self.written.union(bent)
        self.shipped = shipped
        listed = shipped.listed if shipped is not None else ()
        # Of several words that one may be a misspelling of, the first counts: rules name what they look for.
        self._ranks: Mapping[str, int] = {
            word: n for n, word in enumerate(dict.fromkeys((*sorted(self.written), *listed)))
        }
        self._joinable = self.words.union(self._SMALL, listed)
        self.longest = max(map(len, self.words), default=0)
        self._reach = min(24, max(map(len, self._joinable)))

    def __contains__(self, word: object) -> bool:
        return word in self.words or word in self._ranks

    def knows(self, word: str) -> bool:
        """Whether a word is one that people use."""
        return (
            word in self.words
            or word in self._ranks
            or (self.shipped is not None and self.shipped.knows(word))
        )

    def is_usual(self, word: str) -> bool:
        """Whether a word stands for itself: it is known, or a known one with an ending."""
        if self.shipped is None or self.knows(word):
            return True
        stems = (word.removesuffix(ending) for ending in self._ENDINGS if word.endswith(ending))
        return any(len(stem) >= 4 and stem[-1] != word[-1] and self.shipped.knows(stem) for stem in stems)

    @functools.cached_property
    def _single(self) -> Mapping[str, str]:
        """By a word with no letter twice in a row, the word."""
        return {single(word): word for word in reversed(list(self._ranks)) if len(word) >= 3}

    @functools.cached_property
    def _shortened(self) -> Mapping[str, tuple[str, ...]]:
        """By a word without one of its letters, those words, the weightiest first."""
        found: dict[str, list[str]] = {}
        for word in self._ranks:
            if 3 <= len(word) <= 16:
                for shorter in {word, *_without_one(word)}:
                    found.setdefault(shorter, []).append(word)
        return {shorter: tuple(words[:8]) for shorter, words in found.items()}

    def with_letters_once(self, token: str) -> str | None:
        """The word that a token with letters doubled or tripled is ("kkiillll"); None if there is none."""
        runs = [(letter, sum(1 for _ in same)) for letter, same in groupby(token)]
        factor = gcd(*(count for _, count in runs))
        evenly = "".join(letter * (count // factor) for letter, count in runs)
        if factor > 1 and self.knows(evenly):
            return evenly
        once = "".join(letter for letter, _ in runs)
        if once == token:
            return None
        return self._single.get(once) or (once if self.knows(once) else None)

    def misspelt(self, token: str) -> str | None:
        """The weightiest word that a token of three letters and more is one edit from; None if there is none.

        An edit is a letter swapped with its neighbour, left out, put in or replaced, but not the first one replaced.
        """
        best: str | None = None
        for shorter in (token, *_without_one(token)):
            for word in self._shortened.get(shorter, ()):
                if (best is None or self._ranks[word] < self._ranks[best]) and _is_one_edit(token, word):
                    best = word
        return best

    def split(self, letters: str) -> list[str] | None:
        """Split ``letters`` into the fewest words; None if no word is known. Linear for a given vocabulary."""
        words = self._fewest(letters)
        return words if any(word in self for word in words) else None

    def joined(self, token: str) -> list[str] | None:
        """The words that a token is written together of; None unless they are all known and of some length."""
        words = self._fewest(token)
        # "im poster" is one word, "i will find you" is four.
        if len(words) < 2 or (len(words) == 2 and len(words[0]) < 3) or len(token) < 3 * len(words) - 1:
            return None
        return words if all(word in self._joinable for word in words) else None

    def _fewest(self, letters: str) -> list[str]:
        best: list[tuple[float, int]] = [(0.0, 0)]
        for end in range(1, len(letters) + 1):
            # A letter outside any word costs more than a word, so words win wherever they fit.
            cost, cut = best[end - 1][0] + 1.5, end - 1
            for start in range(max(0, end - self._reach), end):
                found = best[start][0] + 1
                if found < cost and letters[start:end] in self._joinable:
                    cost, cut = found, start
            best.append((cost, cut))
        words: list[str] = []
        end = len(letters)
        while end:
            words.append(letters[best[end][1] : end])
            end = best[end][1]
        words.reverse()
        return words


def single(word: str) -> str:
    """The word with every letter once where it stands several times in a row."""
    return "".join(letter for n, letter in enumerate(word) if not n or word[n - 1] != letter)


def _without_one(word: str) -> Collection[str]:
    return {word[:n] + word[n + 1 :] for n in range(len(word))}


def _is_one_edit(token: str, word: str) -> bool:
    if len(token) == len(word):
        different = [n for n, (one, other) in enumerate(zip(token, word, strict=True)) if one != other]
        if len(different) == 1:  # One in four letters is another word too often.
            return different[0] > 0 and len(word) >= 5
        return (
            len(different) == 2
            and different[1] == different[0] + 1
            and token[different[0]] == word[different[1]]
            and token[different[1]] == word[different[0]]
        )
    longer, shorter = (token, word) if len(token) > len(word) else (word, token)
    return len(longer) - len(shorter) == 1 and len(word) >= 4 and shorter in _without_one(longer)
