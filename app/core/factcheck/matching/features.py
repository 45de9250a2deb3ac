"""What a post and a fact-check have in common, in numbers: the input of the matcher's model.

``rarity`` gives for each word how rare it is, 0.0 to 1.0: a shared rare word says more than a shared common one.

Where vectors are known, features of meaning come beside those of words. For one model unrelated texts have a cosine of
0.0, for another of 0.8. So a cosine is compared with those that the same post has with all other fact-checks: with
their mean, and with that of the nearest, as cross-domain similarity local scaling does (Conneau et al. 2018). Vectors
that mean nothing have no item that stands out.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from app.core.factcheck.matching.terms import Terms

Floats = NDArray[np.float64]

NAMES = (
    "bm25_claim",
    "bm25_title",
    "bm25_both",
    "post_in_claim",
    "post_in_title",
    "post_in_both",
    "claim_in_post",
    "title_in_post",
    "both_in_post",
    "cosine_claim",
    "cosine_title",
    "rarest",
    "second_rarest",
    "third_rarest",
    "shared_words",
    "rarest_missing",
    "window",
    "pairs_claim",
    "pairs_title",
    "near_claim",
    "near_title",
    "grams_claim",
    "grams_title",
    "claim_grams_in_post",
    "title_grams_in_post",
    "post_grams_in_both",
    "names_shared",
    "names_missing",
    "numbers_shared",
    "numbers_missing",
    "numbers_differ",
    "negation_differs",
    "denial_differs",
    "signed",
    "post_length",
    "claim_length",
    "title_length",
    "lead_both",
    "lead_grams",
    "place",
)
K1 = 1.2
B = 0.6
CLAIM_LENGTH = 11.0
TITLE_LENGTH = 7.0
"""Words of an average claim and title; the same for every dataset, so that a score does not move with an import."""


@dataclass(frozen=True)
class Candidate:
    """A fact-check as terms."""

    claim: Terms
    title: Terms

    @cached_property
    def both(self) -> frozenset[str]:
        return self.claim.distinct | self.title.distinct


def matrix(post: Terms, candidates: Sequence[Candidate], rarity: Mapping[str, float]) -> Floats:
    """One row of features for each candidate, in their order."""
    asked = post.distinct | post.signed
    mass = _sum(asked, rarity) or 1.0
    squares = {word: rare**2 for word, rare in rarity.items()}
    square = math.sqrt(_sum(asked, squares)) or 1.0
    gram_count = len(post.grams) or 1
    rows = np.array([_row(post, asked, mass, square, gram_count, one, rarity, squares) for one in candidates])
    return with_leads(rows) if len(rows) else np.zeros((0, len(NAMES)))


def with_leads(rows: Floats) -> Floats:
    """Rows of features, whole or without the last three, with how far each is ahead of the others given here."""
    rows = rows[:, : len(NAMES) - 3]
    both, grams = rows[:, 2], rows[:, 25]
    order = np.argsort(-both, kind="stable")
    place = np.empty(len(order))
    place[order] = 1.0 / (1.0 + np.arange(len(order)))
    leads = [_lead(both), _lead(grams), place]
    return np.column_stack([rows, *leads])


def _lead(values: Floats) -> Floats:
    """How far each value is ahead of the best other one, as a share of the larger."""
    if len(values) == 1:
        return np.ones(1)
    first, second = np.partition(values, -2)[[-1, -2]]
    others = np.where(values == first, second, first)
    leads: Floats = (values - others) / np.maximum(np.maximum(values, others), 1e-9)
    return leads


def _row(
    post: Terms,
    asked: frozenset[str],
    mass: float,
    square: float,
    gram_count: int,
    item: Candidate,
    rarity: Mapping[str, float],
    squares: Mapping[str, float],
) -> list[float]:
    claim, title = item.claim, item.title
    in_claim, in_title = asked & claim.distinct, asked & title.distinct
    in_both = in_claim | in_title
    claim_mass, title_mass, both_mass = (
        _sum(words, rarity) for words in (claim.distinct, title.distinct, item.both)
    )
    shared_claim, shared_title, shared_both = (_sum(words, rarity) for words in (in_claim, in_title, in_both))
    shared = [*sorted((rarity[word] for word in in_both), reverse=True)[:3], 0.0, 0.0, 0.0]
    missing = [rarity[word] for word in claim.distinct - asked]
    claim_names, shared_names = _sum(claim.entities, rarity), _sum(claim.entities & asked, rarity)
    numbers = claim.numbers | title.numbers
    bm25_claim = _bm25(in_claim, claim, CLAIM_LENGTH, rarity)
    bm25_title = _bm25(in_title, title, TITLE_LENGTH, rarity)
    window, start, end = best_window(post, claim, rarity)
    of_claim, of_title = post.grams & claim.grams, post.grams & title.grams
    grams_claim, grams_title, grams_both = len(of_claim), len(of_title), len(of_claim | of_title)
    return [
        bm25_claim / 5,
        bm25_title / 5,
        (bm25_claim + bm25_title) / 5,
        shared_claim / mass,
        shared_title / mass,
        shared_both / mass,
        shared_claim / (claim_mass or 1.0),
        shared_title / (title_mass or 1.0),
        shared_both / (both_mass or 1.0),
        _sum(in_claim, squares) / square / (math.sqrt(_sum(claim.distinct, squares)) or 1.0),
        _sum(in_title, squares) / square / (math.sqrt(_sum(title.distinct, squares)) or 1.0),
        shared[0],
        shared[1],
        shared[2],
        math.log1p(len(in_both)),
        max(missing, default=0.0),
        window / (claim_mass or 1.0),
        len(post.pairs & claim.pairs) / (len(claim.pairs) or 1),
        len(post.pairs & title.pairs) / (len(title.pairs) or 1),
        len(post.near & claim.near) / (len(claim.near) or 1),
        len(post.near & title.near) / (len(title.near) or 1),
        2 * grams_claim / (gram_count + len(claim.grams)),
        2 * grams_title / (gram_count + len(title.grams)),
        grams_claim / (len(claim.grams) or 1),
        grams_title / (len(title.grams) or 1),
        grams_both / gram_count,
        shared_names / (claim_names or 1.0),
        (claim_names - shared_names) / 2,
        math.log1p(len(numbers & post.numbers)),
        math.log1p(len(claim.numbers - post.numbers)),
        float(numbers_differ(post, claim)),
        float(negation_differs(post, claim, start, end)),
        float(denial_differs(post, claim, start, end)),
        _sum(post.signed & item.both, rarity) / 2,
        math.log1p(len(post.words)),
        math.log1p(len(claim.words)),
        math.log1p(len(title.words)),
    ]


def _sum(words: Iterable[str], rarity: Mapping[str, float]) -> float:
    # The order of words in a set differs between processes; an exact sum does not depend on it.
    return math.fsum(map(rarity.__getitem__, words))


def _bm25(shared: Iterable[str], field: Terms, usual: float, rarity: Mapping[str, float]) -> float:
    weight = K1 * (1 - B + B * len(field.words) / usual)
    counts = field.words.count
    return math.fsum(rarity[word] * (n := counts(word)) * (K1 + 1) / (n + weight) for word in shared)


_CONTRADICTIONS = [NAMES.index(name) for name in ("numbers_differ", "negation_differs", "denial_differs")]


def contradicts(row: Floats) -> bool:
    """Whether a post with these features denies what the item claims, or names other numbers."""
    return bool(row[_CONTRADICTIONS].any())


LOOK_AHEAD = 8
"""Words after a passage that may still deny it: "… is what they say, and it is not true"."""


def numbers_differ(post: Terms, claim: Terms) -> bool:
    """Whether both name amounts and none is the same, "10" and "100"; of years, only where neither names amounts."""
    if post.amounts and claim.amounts:
        return not post.amounts & claim.amounts
    return bool(post.numbers and claim.numbers) and not post.numbers & claim.numbers


def negation_differs(post: Terms, claim: Terms, start: int, end: int) -> bool:
    """Whether only one of the claim and the passage of the post from ``start`` to ``end`` has a "not"."""
    return any(start - 1 <= place <= end for place in post.negated_at) != bool(claim.negated_at)


def denial_differs(post: Terms, claim: Terms, start: int, end: int) -> bool:
    """Whether only one of them says that it is a hoax or the like."""
    found = any(start - 3 <= place <= end + LOOK_AHEAD for place in post.denied_at)
    return found != bool(claim.denied_at)


def best_window(post: Terms, claim: Terms, rarity: Mapping[str, float]) -> tuple[float, int, int]:
    """The largest mass of the claim's words in one passage of the post, with the places of its first and last word.

    A passage is at most twice as long as the claim: in a long post the words of any claim occur somewhere, but not
    together.
    """
    length = max(12, 2 * len(claim.words))
    hits = [(place, word) for place, word in enumerate(post.words) if word in claim.distinct]
    if not hits:
        return 0.0, 0, len(post.words)
    best = (-1.0, 0, 0)
    for first, (start, _) in enumerate(hits):
        inside = [(place, word) for place, word in hits[first:] if place - start < length]
        best = max(best, (_sum({word for _, word in inside}, rarity), -start, inside[-1][0]))
        if inside[-1] == hits[-1]:
            break
    return best[0], -best[1], best[2]


# Meaning

MEANING_NAMES = (
    "meaning_near",
    "meaning_lead",
    "meaning_place",
    "meaning_far_out",
    "meaning_above_nearest",
    "meaning_and_words",
)
BACKGROUND_LARGEST = 20
"""The nearest items whose mean says how near this post's nearest ones are anyway."""
BACKGROUND_LEAST = 200
"""Items below which nothing is said: among fewer it is chance how near the nearest ones are."""
_PLACE = MEANING_NAMES.index("meaning_place")
_EQUAL = 1e-6


@dataclass(frozen=True)
class Background:
    """How near all items are to a post: mean and standard deviation of the cosines, and the largest, largest first."""

    mean: float
    deviation: float
    largest: Sequence[float]


def background(cosines: NDArray[np.floating]) -> Background | None:
    """The background of a post from its cosines with all items; None if they are too few."""
    if len(cosines) < BACKGROUND_LEAST:
        return None
    largest = np.sort(np.partition(cosines, -BACKGROUND_LARGEST)[-BACKGROUND_LARGEST:])[::-1].tolist()
    return Background(float(cosines.mean()), float(cosines.std()), largest)


def meaning_matrix(cosines: Floats, background: Background, post_in_both: Floats) -> Floats:
    """One row of features for each item with these cosines; ``post_in_both`` is that feature of its words."""
    largest = np.array(background.largest)
    usual = float(largest[1:].mean()) if len(largest) > 1 else background.mean
    spread = max(background.deviation, 1e-4)
    scale = max(usual - background.mean, spread)
    near = (cosines - background.mean) / scale
    places = (largest[None, :] > cosines[:, None] + _EQUAL).sum(axis=1)
    best_other = np.where(places == 0, largest[min(1, len(largest) - 1)], largest[0])
    return np.column_stack(
        [
            np.clip(near, -1, 4),
            np.clip((cosines - best_other) / scale, -1, 2),
            np.where(places < len(largest), 1.0 / (1.0 + places), 0.0),
            np.clip((cosines - background.mean) / spread, -2, 15) / 5,
            np.clip(near - 1, 0, 3),
            np.clip(near, 0, 4) * post_in_both,
        ]
    )


def is_nearest(row: Floats) -> bool:
    """Whether the item with these features is the nearest of all."""
    return bool(row[_PLACE] > 1.0 - _EQUAL)
