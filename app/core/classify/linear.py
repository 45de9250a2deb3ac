"""A hashed linear model as its file of weights holds it: the scores of a post by its whole and by its windows.

A short attack in a long post is lost in one vector of the whole, so parts of a post are scored by themselves.
"""

import functools
import hashlib
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.core.classify.features import (
    BUCKETS,
    FEATURES_VERSION,
    SHOUT,
    bucket_of,
    buckets_of,
    piece_buckets,
    sentences_of,
    share,
)
from app.core.classify.language import ENGLISH, of_sentences
from app.core.classify.normalise import Reading
from app.core.classify.reading import Seen, is_about_oneself
from app.core.classify.rulepack import shared_vocabulary

PER_LANGUAGE: Mapping[str, frozenset[str]] = {"de": frozenset({"toxicity", "hate"})}
"""The categories that the model scores in a language other than English; the training data label no others."""
EVERYWHERE = frozenset({"spam", "sexual", "pii"})
"""The categories that it scores in every language: what tells them is much the same."""
DEMAND = 0.25
"""What a window of a post must have more than the post as a whole, for each doubling of the number of windows.

The largest of many sums is high by chance. Measured on long ordinary posts (docs/run/model-card.md)."""
NOT_OF_OFFERS = frozenset({"spam", "pii", "self_harm"})
"""The categories that do not count a sentence that names a line for people in a crisis."""
NOT_SPAM = 0.05
"""The most that a post scores in spam which asks for help for its author."""
LONG = 5_000
"""Code points of a post of which only the disguised sentences are scored once more with their disguises undone."""
SHORTEST = 3
"""Tokens; a shorter sentence is scored together with the next one. A single word says too little."""
LONGEST = 40
"""Tokens, about 200 characters: a longer sentence is scored in overlapping parts of this length."""
WHOLE = 400
"""Tokens, about 2,000 characters: a longer post is scored in parts of this length beside its windows."""
OVERLAP = 40

Span = tuple[int, int]
"""Places of tokens: from the first to the one after the last."""
_TRIED = 2
"""How many windows a category has computed exactly, after a rough look at all of them."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """What a threshold means, as shares 0.0 to 1.0 measured on posts whose source the model had not seen.

    ``caught``: of abusive posts; ``raised``: of ordinary talk. Both by the shipped rules and the model together, for
    scores above each of ``thresholds``. ``posts``: the number of abusive posts it was measured on.
    """

    thresholds: Floats
    caught: Floats
    raised: Floats
    posts: int = 0

    def shares_at(self, threshold: float) -> tuple[float, float]:
        """(caught, raised) at a threshold, interpolated."""
        return (
            float(np.interp(threshold, self.thresholds, self.caught)),
            float(np.interp(threshold, self.thresholds, self.raised)),
        )


@dataclass(frozen=True, eq=False)
class Weights:
    """The content of a file of weights.

    ``matrix`` has a row per bucket and a column per category, in whole steps of ``scales``. A category's score is
    interpolated between ``points``: the first row holds sums, the second scores, both in increasing order.
    ``shifts`` are added to the sums of texts in another language than English, by language and category.
    """

    categories: Sequence[str]
    matrix: NDArray[np.int16]
    scales: Floats
    constants: Floats
    points: Floats
    curves: Mapping[str, Curve]
    shifts: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    digest: str = ""

    def scores(self, seen: Seen, language: str | None = None) -> dict[str, float]:
        """The scores of a post, 0.0 to 1.0, without the categories of which no sentence could be read.

        ``language`` is the post's; a mixed post is read sentence by sentence. Of the plain and the undisguised reading
        the higher score counts, and of the whole and its windows the largest sum.
        """
        best: dict[str, float] = {}
        undisguised = seen.undisguised(shared_vocabulary())
        for reading in (seen.plain,) if undisguised is seen.plain else (seen.plain, undisguised):
            for category, score in self._of_reading(seen, reading, language).items():
                best[category] = max(score, best.get(category, 0.0))
        return {category: best[category] for category in self.categories if category in best}

    def _of_reading(self, seen: Seen, reading: Reading, language: str | None) -> dict[str, float]:
        slices = seen.slices(reading)
        sentences = sentences_of(seen, slices)
        languages = of_sentences(seen, slices, language)
        if reading is not seen.plain and len(seen.source) > LONG:
            # Only those in which a disguise was undone: the others have been scored.
            changed = [one != other for one, other in zip(slices, seen.slices(seen.plain), strict=True)]
            sentences = [
                tokens if is_changed else [] for tokens, is_changed in zip(sentences, changed, strict=True)
            ]
        if not any(sentences):
            return self._interpolated(self.sums(()), frozenset(self.categories), ENGLISH)
        has_tail = seen.tail < len(seen.shown.text)
        scores: dict[str, float] = {}
        for tag in dict.fromkeys(tag for tag, tokens in zip(languages, sentences, strict=True) if tokens):
            scored = frozenset(self.categories) if tag == ENGLISH else PER_LANGUAGE.get(tag, frozenset())
            if scored:
                of_tag = [tokens for tokens, own in zip(sentences, languages, strict=True) if own == tag]
                sums = self.sums(of_tag, has_tail=has_tail and languages[-1] == tag)
                scores |= self._higher(scores, self._interpolated(sums, scored, tag))
        if any(tag != ENGLISH for tag in languages):
            sums = self.sums(sentences, has_tail=has_tail)
            scores |= self._higher(scores, self._interpolated(sums, EVERYWHERE, ENGLISH))
        if any(seen.offers) or seen.is_plea:
            scores |= self._of_help(seen, sentences, scores)
        return scores

    def _of_help(
        self, seen: Seen, sentences: Sequence[Sequence[str]], scores: Mapping[str, float]
    ) -> dict[str, float]:
        """The scores of a post that offers help in a crisis, or asks for it: by its other sentences, and no spam."""
        others = [tokens for tokens, offers in zip(sentences, seen.offers, strict=True) if not offers]
        without = self._interpolated(self.sums(others), NOT_OF_OFFERS & scores.keys(), ENGLISH)
        texts = seen.slices(seen.plain)
        if any(is_about_oneself(text) for text in texts):
            without.pop("self_harm", None)
        if seen.is_plea and "spam" in scores:
            without["spam"] = min(scores["spam"], NOT_SPAM)
        return without

    @staticmethod
    def _higher(known: Mapping[str, float], found: Mapping[str, float]) -> dict[str, float]:
        return {category: max(score, known.get(category, 0.0)) for category, score in found.items()}

    def _interpolated(self, sums: Floats, scored: frozenset[str], language: str) -> dict[str, float]:
        shifts = self.shifts.get(language, {})
        return {
            category: round(float(np.interp(total + shifts.get(category, 0.0), points[0], points[1])), 6)
            for category, total, points in zip(self.categories, sums, self.points, strict=True)
            if category in scored
        }

    def sums(self, sentences: Sequence[Sequence[str]], *, has_tail: bool = False) -> Floats:
        """The sum of the weights per category, of the sentences' tokens: the largest of the whole and its windows.

        ``has_tail``: the last one stands after the text (`Seen.tail`); the text without it is a whole, too.
        """
        tokens: list[str] = []
        shouted: list[bool] = []
        lengths = []
        for sentence in sentences:
            is_loud = bool(sentence) and sentence[-1] == SHOUT
            own = sentence[:-1] if is_loud else sentence
            tokens += own
            shouted += [is_loud] * len(own)
            lengths.append(len(own))
        parts, spans = wholes(len(tokens)), windows(lengths)
        count = len(spans)
        if max(len(parts), len(spans)) > len(self.categories):
            added_up = self._added_up(tokens)
            parts, spans = self._highest(added_up, parts), self._highest(added_up, spans)
        sums = [self._sum(tokens, shouted, span) for span in parts]
        if has_tail and len(lengths) > 1:
            sums += [self._sum(tokens, shouted, span) for span in wholes(len(tokens) - lengths[-1])[:1]]
        if spans:
            demand = DEMAND * float(np.log2(1 + count))
            sums += [self._sum(tokens, shouted, span) - demand for span in spans]
        return np.asarray(np.maximum.reduce(sums), np.float64)

    def _sum(self, tokens: Sequence[str], shouted: Sequence[bool], span: Span) -> Floats:
        start, end = span
        is_loud = sum(shouted[start:end]) * 2 > end - start
        words, pieces = buckets_of([*tokens[start:end], SHOUT] if is_loud else tokens[start:end])
        steps = self._steps(words) * share(words) + self._steps(pieces) * share(pieces)
        return np.asarray(steps * self.scales + self.constants, np.float64)

    def _steps(self, buckets: set[int]) -> Floats:
        """The sum of the weights of these buckets, in steps."""
        return np.asarray(
            self.matrix[np.fromiter(buckets, np.int64, len(buckets))].sum(axis=0, dtype=np.float64)
        )

    def _added_up(self, tokens: Sequence[str]) -> tuple[Floats, Floats]:
        """The running totals of the weights of words and pairs, and of pieces and their number, from a row of zeros."""
        pieces = np.stack([self._pieces(token) for token in tokens])
        words = self.matrix[[bucket_of(f"w {token}") for token in tokens]].astype(np.float64)
        words[:-1] += self.matrix[[bucket_of(f"b {one} {other}") for one, other in pairwise(tokens)]]
        of_words, of_pieces = (np.zeros((len(tokens) + 1, part.shape[1])) for part in (words, pieces))
        np.cumsum(words, axis=0, out=of_words[1:])
        np.cumsum(pieces, axis=0, out=of_pieces[1:])
        return of_words, of_pieces

    def _highest(self, added_up: tuple[Floats, Floats], spans: list[Span]) -> list[Span]:
        """The parts of a post that have the highest sums of a category, as far as a rough look tells.

        It counts every occurrence of a token: that takes two lookups a part, whatever its length.
        """
        if len(spans) <= len(self.categories):
            return spans
        of_words, of_pieces = added_up
        starts, ends = np.array(spans).T
        found = of_pieces[ends] - of_pieces[starts]
        rough = (of_words[ends] - of_words[starts]) / np.sqrt(2.0 * (ends - starts))[:, None]
        rough += found[:, :-1] / np.sqrt(np.maximum(found[:, -1:], 1.0))
        best = np.argsort(-rough, axis=0, kind="stable")[:_TRIED]
        return [spans[int(place)] for place in np.unique(best)]

    @functools.cached_property
    def _pieces(self) -> Callable[[str], Floats]:
        """By token, the sums of the weights of its pieces, and as the last column their number."""

        @functools.lru_cache(maxsize=8192)
        def pieces(token: str) -> Floats:
            buckets = piece_buckets(token)
            return np.append(self.matrix[buckets].sum(axis=0, dtype=np.float64), len(buckets))

        return pieces


def read_weights(content: bytes) -> Weights:
    """Read a file of weights.

    Raises:
        ValueError: it is no such file, or was made for other features than this code's.
    """
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        facts = json.loads(bytes(arrays["facts"]))
        if facts["features"] != FEATURES_VERSION:
            raise ValueError(f"the weights are for features {facts['features']}, not {FEATURES_VERSION}")
        categories = tuple(facts["categories"])
        matrix = np.zeros((BUCKETS, len(categories)), np.int16)
        kept = np.unpackbits(arrays["kept"], axis=1).astype(bool)
        start = 0
        for column, places in enumerate(kept):
            count = int(places.sum())
            matrix[places, column] = arrays["weights"][start : start + count]
            start += count
        curves = {
            category: Curve(
                arrays["thresholds"],
                arrays["caught"][column],
                arrays["raised"][column],
                int(facts["measured"][category]),
            )
            for column, category in enumerate(categories)
        }
        return Weights(
            categories=categories,
            matrix=matrix,
            scales=arrays["scales"],
            constants=arrays["constants"],
            points=arrays["points"],
            curves=curves,
            shifts=facts.get("shifts", {}),
            facts=facts,
            digest=hashlib.sha256(content).hexdigest(),
        )


def wholes(count: int) -> list[Span]:
    """The post itself, or the overlapping parts of a long one, for this number of tokens."""
    if count <= WHOLE + OVERLAP:
        return [(0, count)]
    return [(at, min(at + WHOLE, count)) for at in range(0, count - OVERLAP, WHOLE - OVERLAP)]


def windows(lengths: Sequence[int]) -> list[Span]:
    """The sentences of a post, those that follow each other up to `LONGEST` together, and the parts of long ones.

    ``lengths``: the number of tokens of each sentence. Empty for a post that is one such window as a whole.
    """
    ends = list(accumulate(length for length in lengths if length))
    if not ends or (len(ends) == 1 and ends[0] <= LONGEST):
        return []
    starts = [0, *ends[:-1]]
    spans: dict[Span, None] = {}
    last = 0
    for first, start in enumerate(starts):
        if ends[first] - start > LONGEST:
            for at in range(start, ends[first] - LONGEST // 2, LONGEST // 2):
                spans[at, min(at + LONGEST, ends[first])] = None
            last = first + 1
            continue
        own = first
        while ends[own] - start < SHORTEST and own + 1 < len(ends):
            own += 1
        spans[start, ends[own]] = None
        last = max(last, own)
        while last + 1 < len(ends) and ends[last + 1] - start <= LONGEST:
            last += 1
        if ends[last] - start <= LONGEST:
            spans[start, ends[last]] = None
    spans.pop((0, ends[-1]), None)
    return list(spans)
