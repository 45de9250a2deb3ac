"""The words that a rule pack looks for, used to tell a disguised word from an unusual one."""

from collections.abc import Iterable


class Vocabulary:
    """The words that rules look for; they decide between the possible readings of a disguised word."""

    _ENDINGS = ("s", "es", "ed", "d", "ing", "er", "ers", "y", "ly")
    # These are joined only beside a longer known word: "k i l l  y o u", "b u y  m y".
    _SMALL = frozenset(
        {"i", "u", "a", "r", "to", "me", "my", "is", "it", "am", "an", "you", "your", "the", "all"}
    )

    def __init__(self, words: Iterable[str] = ()) -> None:
        written = frozenset(word for word in words if len(word) >= 3)
        bent = (word + ending for word in written if len(word) >= 4 for ending in self._ENDINGS)
        self.words = written.union(bent)
        self._joinable = self.words | self._SMALL
        self.longest = max(map(len, self.words), default=0)

    def __contains__(self, word: object) -> bool:
        return word in self.words

    def split(self, letters: str) -> list[str] | None:
        """Split ``letters`` into the fewest words; None if no word is known. Linear for a given vocabulary."""
        best: list[tuple[float, int]] = [(0.0, 0)]
        for end in range(1, len(letters) + 1):
            # A letter outside any word costs more than a word, so words win wherever they fit.
            cost, cut = best[end - 1][0] + 1.5, end - 1
            for start in range(max(0, end - self.longest), end):
                if letters[start:end] in self._joinable and best[start][0] + 1 < cost:
                    cost, cut = best[start][0] + 1, start
            best.append((cost, cut))
        words: list[str] = []
        end = len(letters)
        while end:
            words.append(letters[best[end][1] : end])
            end = best[end][1]
        words.reverse()
        return words if any(word in self for word in words) else None
