"""Training of what vectors add to the matcher of fact-checks: posts with the claims that they make in, weights out.

No embeddings model is preferred: the weights are fitted on spaces made here, from vectors that mean nothing to vectors
that nearly always lead to the right fact-check (docs/decisions/0055), and on those of real models if there are any
(docs/decisions/0062). What they learn is how far an item must stand out among all others before its vector counts for
more than words.
"""

import json
import re
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from app.commands.training import matcher
from app.commands.training.matcher import Case, Query
from app.commands.training.packing import zipped
from app.core.factcheck.matching import candidates, features, meaning, terms
from app.core.factcheck.matching.features import NAMES, contradicts
from app.core.factcheck.matching.index import MemoryIndex
from app.core.factcheck.matching.meaning import Background
from app.core.factcheck.matching.weights import FARTHEST, Weights

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]

BAR = 0.7
"""Where words are not sure, an item is shown from this probability on: below, topics alone showed wrong ones."""
SMALLER = 1_000
"""Fact-checks of a smaller dataset: there, one of the same topic stands out as much as the right one among 10,000."""
SMALLER_POSTS = (200, 200, 100)
"""Posts compared with each smaller dataset: whose fact-check is in it, whose is not, and that make no claim."""
SMALLER_SETS = 2
EVERY = 2
"""Of the posts without a checked claim every second one, since each space has all of them."""
BUCKETS = 1 << 16
PULLED = {"weak": (0.25, 0.3), "middling": (0.45, 1.2), "good": (0.45, 0.4), "ideal": (0.7, 0.4)}
"""Spaces that lead to the right claim: how far a post lies on the way to it, and how much chance there is beside."""
TOPIC = 0.8
"""Posts without a checked claim are drawn to one of their topic, by at most so much of the way."""
_WORD = re.compile(r"\w+")
_LINK = re.compile(r"https?://\S+|pic\.twitter\.com/\S+|www\.\S+")


@dataclass(frozen=True)
class Space:
    """A vector of length 1 for each claim, and for each post that makes one or none."""

    claims: Vectors
    posts: Vectors
    others: Vectors


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
    best = np.argsort(-cosines, kind="stable")[: candidates.NEAR_MOST]
    return _Near(
        cosines,
        [int(place) for place in best if cosines[place] > 0],
        meaning.background(cosines, len(cosines)),
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
        "features": [*NAMES, *meaning.NAMES],
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


def fit(posts: Sequence[Case], others: Sequence[Case], words: Weights, spaces: int) -> dict[str, Floats]:
    """The weights from posts compared in so many ``spaces``."""
    rows = np.vstack([_meaning(case) for case in posts])
    means, scales = rows.mean(axis=0), rows.std(axis=0) + 1e-9

    def scaled(case: Case) -> Floats:
        of_meaning = np.clip((_meaning(case) - means) / scales, -FARTHEST, FARTHEST)
        return np.hstack([words.scaled(case.features), of_meaning])

    ranking = matcher.fit_ranking(posts, scaled, matcher.RANKING_PENALTY * spaces)
    # Where words are sure they decide; the second model learns only from the posts that are left to it.
    left = [case for case in [*posts, *others] if _is_left(case, words, ranking, scaled)]
    showing = matcher.fit_showing(left, ranking, scaled, matcher.SHOWING_PENALTY * spaces)
    return {"means": means, "scales": scales, "ranking": ranking, "showing": showing}


def _case(query: Query, index: MemoryIndex, names: Sequence[str], words: Weights, what: _Near) -> Case:
    found = candidates.find(terms.read(query.text), index, words.background, near=what)
    right = np.array([float(names[one.number] in query.gold) for one in found.found])
    return Case(found, right, len(query.gold), ",".join(sorted(query.gold)) or query.text)


def _meaning(case: Case) -> Floats:
    assert case.found.meaning is not None  # noqa: S101 - every claim has a vector
    return case.found.meaning


def _without_gold(case: Case, cosines: _Near) -> Case:
    """The same post as if its fact-check were not there."""
    wrong = np.flatnonzero(case.right == 0)
    left = [case.found.found[int(place)] for place in wrong]
    of_words = features.with_leads(case.features[wrong]) if len(left) else case.features[wrong]
    gone = [one.number for one, right in zip(case.found.found, case.right, strict=True) if right]
    rest = np.delete(cosines.near, gone)
    background = meaning.background(rest, len(rest))
    assert background is not None  # noqa: S101 - there are thousands
    near_left = cosines.near[[one.number for one in left]].astype(np.float64)
    of_meaning = meaning.matrix(near_left, background, of_words[:, NAMES.index("post_in_both")])
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


def read_space(file: Path, *texts: Sequence[object]) -> Space:
    """The vectors that an embeddings model gave to the claims, the posts that make one, and those that make none.

    Raises:
        click.BadParameter: the file has no vector for each of the ``texts``.
    """
    with np.load(file, allow_pickle=False) as arrays:
        found = [arrays[name] for name in ("claims", "train_queries", "nomatch_queries") if name in arrays]
    if [some.shape[:1] for some in found] != [(len(some),) for some in texts]:
        raise click.BadParameter(f"{file.name} has no vector for each claim and each post")
    of_claims, posts, others = map(_unit, found)
    return Space(of_claims, posts, others[::EVERY])


def spaces(
    claims: Sequence[tuple[str, str, str]], matching: Sequence[Query], unmatched: Sequence[Query]
) -> dict[str, Space]:
    """Spaces of all qualities. Of a post's own claim, only those of ``PULLED`` know anything."""
    dice = np.random.default_rng(5)
    of_claims = [f"{claim}\n{title}".strip() for _, claim, title in claims]
    texts = [of_claims, *([_LINK.sub(" ", query.text) for query in some] for some in (matching, unmatched))]
    found = {"chance": Space(*(_unit(dice.normal(size=(len(some), 128))) for some in texts))}
    found["letters"] = _projected(texts, _letters, dice)
    topics = _topics(texts, 300)
    found["topics"] = topics
    found["few topics"] = Space(
        *(_unit(some[:, :100]) for some in (topics.claims, topics.posts, topics.others))
    )
    numbers = {claim_id: number for number, (claim_id, _, _) in enumerate(claims)}
    both = Space(
        *(
            _unit(np.hstack([getattr(found[name], part) for name in ("topics", "letters")]))
            for part in ("claims", "posts", "others")
        )
    )
    for name, (way, chance) in PULLED.items():
        posts = [
            _pulled(vector, both.claims[[numbers[one] for one in sorted(query.gold)]].mean(axis=0),
                    way * dice.uniform(0.5, 1.5), chance, dice)
            for query, vector in zip(matching, both.posts, strict=True)
        ]  # fmt: skip
        others = [
            _pulled(vector, both.claims[dice.choice(np.argsort(-(both.claims @ vector))[:10])],
                    way * dice.uniform(0.0, TOPIC), chance, dice)
            for vector in both.others
        ]  # fmt: skip
        found[name] = Space(both.claims, _unit(np.array(posts)), _unit(np.array(others)))
    return found


def _pulled(vector: Vectors, to: Vectors, way: float, chance: float, dice: np.random.Generator) -> Floats:
    way = min(way, 0.97)
    noise = dice.normal(size=len(vector)) / np.sqrt(len(vector)) * chance
    return np.asarray((1 - way) * vector + way * to + noise, dtype=np.float64)


def _unit(rows: NDArray[np.floating]) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-9), dtype=np.float32)


def _letters(text: str) -> list[str]:
    words = [f" {word} " for word in _WORD.findall(text.lower())]
    return [
        word[at : at + size] for word in words for size in (3, 4, 5) for at in range(len(word) - size + 1)
    ]


def _counted(texts: Sequence[str], parts: Callable[[str], list[str]]) -> sp.csr_matrix:
    rows, columns = [], []
    for row, text in enumerate(texts):
        buckets = [zlib.crc32(part.encode()) % BUCKETS for part in parts(text)]
        rows += [row] * len(buckets)
        columns += buckets
    counts = sp.csr_matrix((np.ones(len(rows)), (rows, columns)), shape=(len(texts), BUCKETS))
    counts.data = 1 + np.log(counts.data)
    return counts


def _weighed(texts: Sequence[Sequence[str]], parts: Callable[[str], list[str]]) -> list[sp.csr_matrix]:
    """Each text as weighed counts of its parts: what is rare among the claims, the first of ``texts``, weighs more."""
    counted = [_counted(some, parts) for some in texts]
    often = np.asarray((counted[0] > 0).sum(axis=0)).ravel()
    rare = sp.diags(np.log((len(texts[0]) + 1) / (often + 1)) * (often > 0))
    return [sp.csr_matrix(some @ rare) for some in counted]


def _projected(
    texts: Sequence[Sequence[str]], parts: Callable[[str], list[str]], dice: np.random.Generator
) -> Space:
    onto = dice.normal(size=(BUCKETS, 256)).astype(np.float32)
    return Space(*(_unit(np.asarray(some @ onto)) for some in _weighed(texts, parts)))


def _topics(texts: Sequence[Sequence[str]], most: int) -> Space:
    """Latent semantic analysis of the claims (Deerwester et al. 1990)."""
    weighed = _weighed(texts, lambda text: _WORD.findall(text.lower()))
    _, sizes, axes = svds(weighed[0], k=most, v0=np.ones(min(weighed[0].shape)), random_state=1)
    onto = axes[np.argsort(-sizes)].T
    return Space(*(_unit(np.asarray(some @ onto)) for some in weighed))
