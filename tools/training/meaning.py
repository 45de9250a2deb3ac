"""Training of what vectors add to the matcher of fact-checks: posts with the claims that they make in, weights out.

No embeddings model is preferred: the weights are fitted on spaces made here, from vectors that mean nothing to vectors
that nearly always lead to the right fact-check, and on those of real models if there are any. What they learn is how
far a fact-check must stand out among all others before its vector counts for more than words.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from app.core.factcheck.matching import features, terms
from app.core.factcheck.matching import matcher as matching_matcher
from app.core.factcheck.matching.features import NAMES, Background, contradicts
from app.core.factcheck.matching.weights import FARTHEST, Weights
from app.core.factcheck.search import MemoryIndex
from tools.training import matcher
from tools.training.matcher import Case, Query
from tools.training.packing import zipped
from tools.training.spaces import Space, spaces

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]

BAR = 0.7
"""Where words are not sure, an item is shown from this probability on: below, topics alone showed wrong ones."""
SMALLER = 1_000
"""Fact-checks of a smaller dataset: there, one of the same topic stands out as much as the right one among 10,000."""
SMALLER_POSTS = (200, 200, 100)
"""Posts compared with each smaller dataset: whose fact-check is in it, whose is not, and that make no claim."""
SMALLER_SETS = 2


@dataclass(frozen=True)
class _Near:
    """What a space says of one post."""

    near: Vectors
    numbers: Sequence[int]
    background: Background | None

    def cosines(self, numbers: Collection[int]) -> Mapping[int, float]:
        return {number: float(self.near[number]) for number in numbers}


def near(claims: Vectors, post: Vectors) -> _Near:
    cosines = claims @ post
    best = np.argsort(-cosines, kind="stable")[: matching_matcher.NEAR_MOST]
    return _Near(
        cosines,
        [int(place) for place in best if cosines[place] > 0],
        features.background(cosines),
    )


def train(
    claims: Sequence[tuple[str, str, str]],
    matching: Sequence[Query],
    unmatched: Sequence[Query],
    words: Weights,
    say: Callable[[str], None],
    real: Mapping[str, Space] | None = None,
) -> bytes:
    """Fit the weights; ``words`` are those of words alone. The same data gives the same file.

    ``real``: spaces of embeddings models, by their names, to train on beside those that are made here.
    """
    every = spaces(claims, matching, unmatched) | dict(real or {})
    posts, others = compare(every, claims, matching, unmatched, words, say)
    facts = {
        "features": [*NAMES, *features.MEANING_NAMES],
        "words": words.digest,
        "bar": BAR,
        "spaces": list(every),
        "posts": [len(matching), len(unmatched)],
        "claims": len(claims),
    }
    arrays = fit(posts, others, words, len(every))
    return zipped(
        {
            "means": np.round(arrays["means"], 6),
            "scales": np.round(arrays["scales"], 6),
            "ranking": np.round(arrays["ranking"], 4),
            "showing": np.round(arrays["showing"], 4),
            "facts": np.frombuffer(json.dumps(facts, sort_keys=True).encode(), np.uint8),
        }
    )


def compare(
    every: Mapping[str, Space],
    claims: Sequence[tuple[str, str, str]],
    matching: Sequence[Query],
    unmatched: Sequence[Query],
    words: Weights,
    say: Callable[[str], None],
) -> tuple[list[Case], list[Case]]:
    """The posts that make a claim, in each space; and what else the second model learns from."""
    smaller = _smaller(claims, matching, len(unmatched))
    index = MemoryIndex([(claim, title) for _, claim, title in claims])
    names = [claim_id for claim_id, _, _ in claims]
    posts: list[Case] = []
    others: list[Case] = []
    for name, space in every.items():
        for query, vector in zip(matching, space.posts, strict=True):
            cosines = near(space.claims, vector)
            posts.append(_case(query, index, names, words, cosines))
            others.append(_without_gold(posts[-1], cosines))
        for query, vector in zip(unmatched, space.others, strict=True):
            others.append(_case(query, index, names, words, near(space.claims, vector)))
        for part in smaller:
            of_part = space.claims[part.claims]
            for place in part.posts:
                cosines = near(of_part, space.posts[place])
                others.append(_case(matching[place], part.index, part.names, words, cosines))
            for place in part.others:
                cosines = near(of_part, space.others[place])
                others.append(_case(unmatched[place], part.index, part.names, words, cosines))
        say(f"Posts compared in the space {name}")
    return [case for case in posts if len(case.right)], [case for case in others if len(case.right)]


def fit(posts: Sequence[Case], others: Sequence[Case], words: Weights, count: int) -> dict[str, Floats]:
    """The weights from posts compared in ``count`` spaces."""
    rows = np.vstack([_meaning(case) for case in posts])
    means, scales = rows.mean(axis=0), rows.std(axis=0) + 1e-9

    def scaled(case: Case) -> Floats:
        of_meaning = np.clip((_meaning(case) - means) / scales, -FARTHEST, FARTHEST)
        return np.hstack([words.scaled(case.features), of_meaning])

    ranking = matcher.fit_ranking(posts, scaled, matcher.RANKING_PENALTY * count)
    # Where words are sure they decide; the second model learns only from the posts that are left to it.
    left = [case for case in [*posts, *others] if _is_left(case, words, ranking, scaled)]
    showing = matcher.fit_showing(left, ranking, scaled, matcher.SHOWING_PENALTY * count)
    return {"means": means, "scales": scales, "ranking": ranking, "showing": showing}


def _case(query: Query, index: MemoryIndex, names: Sequence[str], words: Weights, what: _Near) -> Case:
    found = matching_matcher.find(terms.read(query.text), index, words.background, near=what)
    right = np.array([float(names[one.number] in query.gold) for one in found.found])
    return Case(found, right, len(query.gold), ",".join(sorted(query.gold)) or query.text)


def _meaning(case: Case) -> Floats:
    assert case.found.meaning is not None
    return case.found.meaning


def _without_gold(case: Case, cosines: _Near) -> Case:
    """The same post as if its fact-check were not there."""
    wrong = np.flatnonzero(case.right == 0)
    left = [case.found.found[int(place)] for place in wrong]
    of_words = features.with_leads(case.features[wrong]) if len(left) else case.features[wrong]
    gone = [one.number for one, right in zip(case.found.found, case.right, strict=True) if right]
    rest = np.delete(cosines.near, gone)
    background = features.background(rest)
    assert background is not None
    near_left = cosines.near[[one.number for one in left]].astype(np.float64)
    of_meaning = features.meaning_matrix(near_left, background, of_words[:, NAMES.index("post_in_both")])
    found = replace(case.found, found=left, features=of_words, meaning=of_meaning)
    return Case(found, case.right[wrong], 0, case.claims, weight=0.5)


def _is_left(case: Case, words: Weights, ranking: Floats, scaled: Callable[[Case], Floats]) -> bool:
    """Whether words are not sure of a post, and its first candidate by words and meaning may be shown."""
    of_words = words.scaled(case.features)
    scores = of_words @ words.ranking
    first = int(np.argmax(scores))
    likely = words.probability(of_words[first], scores[case.found.rivals(first)])
    if likely >= words.bar and not contradicts(case.features[first]):
        return False
    return not contradicts(case.features[int(np.argmax(scaled(case) @ ranking))])


@dataclass(frozen=True)
class _Smaller:
    """A smaller dataset, and the places of the posts that are compared with it."""

    claims: Sequence[int]
    posts: Sequence[int]
    others: Sequence[int]
    index: MemoryIndex
    names: Sequence[str]


def _smaller(
    claims: Sequence[tuple[str, str, str]], matching: Sequence[Query], unmatched: int
) -> list[_Smaller]:
    dice = np.random.default_rng(7)
    inside, outside, without = SMALLER_POSTS
    numbers = {claim_id: number for number, (claim_id, _, _) in enumerate(claims)}
    order = dice.permutation(len(matching))
    wanted = {numbers[one] for query in matching for one in query.gold}
    rest = np.array([number for number in range(len(claims)) if number not in wanted])
    found = []
    for start in range(0, SMALLER_SETS * inside, inside):
        own = [int(place) for place in order[start : start + inside]]
        gold = sorted({numbers[one] for place in own for one in matching[place].gold})
        part = gold + [int(number) for number in dice.choice(rest, SMALLER - len(gold), replace=False)]
        there = {claims[number][0] for number in part}
        away = [int(place) for place in order if not matching[int(place)].gold & there]
        away = [int(place) for place in dice.choice(away, outside, replace=False)]
        plain = [int(place) for place in dice.choice(unmatched, without, replace=False)]
        texts = [claims[number][1:] for number in part]
        names = [claims[number][0] for number in part]
        found.append(_Smaller(part, own + away, plain, MemoryIndex([(a, b) for a, b in texts]), names))
    return found
