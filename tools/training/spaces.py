"""Vectors on which the weights of meaning are trained: made here in all qualities, and read from a file."""

import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import svds

from tools.training.matcher import Query

Floats = NDArray[np.float64]
Vectors = NDArray[np.float32]

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
