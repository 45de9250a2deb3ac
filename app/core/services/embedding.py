"""Texts as vectors: asks a connected service for embeddings, with the guards of every service (docs/run/datasets.md).

A vector has length 1, so the product of two is the cosine of their angle: how near their meanings are.
"""

import hashlib
import json
import threading
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.core.services.calls import Call
from app.core.services.gates import ATTEMPTS, GuardedCalls
from app.core.services.kinds import EmbeddingAdapter, Embeddings, Failure
from app.core.services.settings import ServiceSettings

Vector = NDArray[np.float32]

DIMENSIONS_MAX = 4_096
POST_SECONDS = 2.0
"""A post waits no longer than this for its vector; then it is matched by its words alone."""
SHORTER = 400
"""Characters of a text that are tried alone when the service refuses the whole of it, as models with short input do."""
CACHE_SIZE = 2_000

CacheKey = tuple[uuid.UUID, str, str]
"""Service, identity of its model, and the hash of the text."""


class VectorCache:
    """The vectors of the newest posts, the most recently used ones. Shared by the threads of a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[CacheKey, Vector] = OrderedDict()

    def get(self, key: CacheKey) -> Vector | None:
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: CacheKey, vector: Vector) -> None:
        with self._lock:
            self._kept[key] = vector
            self._kept.move_to_end(key)
            while len(self._kept) > CACHE_SIZE:
                self._kept.popitem(last=False)


@dataclass(frozen=True)
class Embedder:
    """One service with one version of its settings. ``adapter`` is a `Failure` when it cannot be asked at all."""

    service_id: uuid.UUID
    settings: ServiceSettings
    adapter: EmbeddingAdapter | Failure
    calls: GuardedCalls
    cache: VectorCache
    batch: int
    max_chars: int

    def of_post(self, text: str) -> Vector:
        """The vector of a post, asked for once and only for a short while. Raises Failure."""
        prepared = self._prepared("post_prefix", text, self.max_chars)
        key = self.service_id, identity(self.settings), text_hash(prepared)
        known = self.cache.get(key)
        if known is not None:
            self.calls.ledger.finish(self.service_id, Call(cached=True))
            return known
        try:
            (vector,) = self._ask([prepared], attempts=1)
        except Failure as failure:
            if not failure.refused or len(text) <= SHORTER:
                raise
            (vector,) = self._ask([self._prepared("post_prefix", text, SHORTER)], attempts=1)
        self.cache.put(key, vector)
        return vector

    def of_items(self, texts: Sequence[str]) -> list[Vector | None]:
        """The vectors of at most ``batch`` fact-checks; None for one that the service refuses, however short.

        Raises:
            Failure: the service cannot be asked now, or it refuses everything.
        """
        prepared = [self._prepared("item_prefix", text, self.max_chars) for text in texts]
        try:
            return list(self._ask(prepared))
        except Failure as failure:
            if not failure.refused:
                raise
        # One of the texts may be too long for the model. If it refuses even a short one, that is not the reason.
        self._ask(["A claim"])
        return [self._of_item(text) for text in texts]

    def _of_item(self, text: str) -> Vector | None:
        for most in (self.max_chars, SHORTER):
            try:
                return self._ask([self._prepared("item_prefix", text, most)])[0]
            except Failure as failure:
                if not failure.refused:
                    raise
        return None

    def _prepared(self, prefix: str, text: str, most: int) -> str:
        plain = " ".join(text.replace("\x00", " ").split())[:most] or "-"
        return f"{self.settings.options.get(prefix, '')} {plain}".strip()

    def _ask(self, texts: Sequence[str], attempts: int = ATTEMPTS) -> Sequence[Vector]:
        adapter = self.adapter
        if isinstance(adapter, Failure):
            raise adapter
        found: list[Vector] = []

        def call() -> str:
            answer = adapter.embed(texts)
            found[:] = checked(answer, len(texts))
            return answer.model if isinstance(answer.model, str) and answer.model.isprintable() else ""

        self.calls.ask(call, lambda model: model[:80], attempts)
        return found


def checked(answer: Embeddings, count: int) -> list[Vector]:
    """The vectors of an answer with length 1, if there are ``count`` of them, all of one size. Raises Failure."""
    if len(answer.vectors) != count:
        raise Failure(f"broken answer: {len(answer.vectors)} vectors for {count} texts")
    try:
        rows = np.array(answer.vectors, dtype=np.float64)
    except (TypeError, ValueError):
        raise Failure("broken answer: vectors of different sizes, or not of numbers") from None
    if rows.ndim != 2 or not 1 <= rows.shape[1] <= DIMENSIONS_MAX:
        raise Failure(f"broken answer: no vectors of 1 to {DIMENSIONS_MAX:,} numbers")
    lengths = np.linalg.norm(rows, axis=1)
    if not np.isfinite(lengths).all() or not lengths.all():
        raise Failure("broken answer: a vector without direction")
    return list((rows / lengths[:, None]).astype(np.float32))


def identity(settings: ServiceSettings) -> str:
    """What makes vectors comparable: two settings with the same identity give the same fact-check the same vector."""
    parts = [settings.url, settings.model]
    parts += [settings.options.get(name, "") for name in ("dimensions", "item_prefix")]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def text_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
