"""Scores posts by the fact-checks that they match: one of a community's classifiers (docs/moderate/fact-checks.md)."""

import time
from collections.abc import Mapping

from sqlalchemy.orm import Session

from app.core import limits
from app.core.classify import FACT_CHECKS, Context, FactCheck, Result
from app.core.db import Database
from app.core.factcheck import items, search
from app.core.factcheck.items import Item
from app.core.factcheck.matching import terms
from app.core.factcheck.matching.matcher import NEAR_MOST
from app.core.factcheck.matching.terms import Terms
from app.core.factcheck.matching.weights import shipped, shipped_meaning
from app.core.factcheck.nearest import Nearest, Vectors
from app.core.factcheck.search import Match
from app.core.factcheck.spaces import Serving
from app.core.recent import Recent
from app.core.services.kinds import Failure
from app.core.services.pool import Vector
from app.core.vocabulary import ClaimRating

CATEGORY = "misinformation"
RAISES: Mapping[ClaimRating, float] = {
    ClaimRating.FALSE: 1.0,
    ClaimRating.MOSTLY_FALSE: 0.95,
    ClaimRating.MISLEADING: 0.95,
    ClaimRating.LEGEND: 0.9,
    ClaimRating.MIXTURE: 0.5,
    ClaimRating.UNPROVEN: 0.5,
    ClaimRating.OUTDATED: 0.5,
    ClaimRating.SATIRE: 0.5,
}
"""The score of a sure match by its rating; below the shipped threshold where the publisher does not call it false. Any
other rating, "true" or a term that we do not know, gives no score."""
KEPT = 2_000
"""Posts whose match a process keeps: the same text is often posted again, with other links and capitals."""


class KeptMatches(Recent[tuple[object, ...], tuple[Match | None]]):
    """The matches of the posts that came last, each in a tuple, for one without a match is known too."""

    def __init__(self) -> None:
        super().__init__(KEPT)


class FactCheckScorer:
    """The fact-checks that a community uses, as a `Classifier`. Its scores reach people (Tier 2) only."""

    name = FACT_CHECKS
    categories = frozenset({CATEGORY})
    tier1_categories: frozenset[str] = frozenset()
    languages: frozenset[str] | None = None
    cost = 2
    local = True
    calibrated = True
    max_chars = limits.CONTENT_MAX

    def __init__(
        self,
        database: Database,
        kept: KeptMatches,
        serving: Serving | None = None,
        vectors: Vectors | None = None,
    ) -> None:
        self._database, self._kept = database, kept
        self._serving, self._vectors = serving, vectors or Vectors()

    @property
    def waits(self) -> bool:
        """Whether it asks a connected service, so that others need not wait for it."""
        return self._serving is not None

    @property
    def version(self) -> str:
        return (
            shipped().version
            if self._serving is None
            else f"{shipped().version}.{shipped_meaning().digest[:6]}"
        )

    def score(self, texts: list[str], context: Context) -> list[Result]:
        """Return one result per text; it has a ``fact_check`` where one matches. Reads the database."""
        results = []
        for text in texts:
            started = time.perf_counter()
            item, similarity = self._match(text, context)
            scores: Mapping[str, float] = {}
            if item is not None and item.rating is not None and item.rating in RAISES:
                scores = {CATEGORY: round(RAISES[item.rating] * similarity, 4)}
            results.append(
                Result(
                    scores=scores,
                    model=f"{self.name} {self.version}",
                    ms=round((time.perf_counter() - started) * 1000, 3),
                    fact_check=None if item is None else _fact_check(item, similarity),
                )
            )
        return results

    def _match(self, text: str, context: Context) -> tuple[Item | None, float]:
        post = terms.read(text)
        with self._database.reading() as session:
            key = self._key(session, post, text, context)
            kept = self._kept.get(key)
            if kept is not None:
                (found,) = kept
                item = None if found is None else items.by_id(session, found.item_id)
                if found is None or item is not None:
                    return item, 0.0 if found is None else found.probability
            if self._serving is None:
                return self._find(session, key, text, context)
        # No transaction is open while the service is asked.
        vector = self._vector(self._serving, text) if post.words else None
        with self._database.reading() as session:
            near = Nearest(is_whole=not post.words)
            if vector is not None:
                near = self._vectors.nearest(session, self._serving.space_id, vector, NEAR_MOST)
            return self._find(session, key, text, context, near)

    def _key(self, session: Session, post: Terms, text: str, context: Context) -> tuple[object, ...]:
        """What must be equal for the same match: the datasets, the words in order, and what is denied."""
        # A post that matched nothing is matched again when more fact-checks have their vectors.
        vectors = None if self._serving is None else (self._serving.space_id, self._serving.covered)
        # The terms of a longer text are only those of its beginning.
        words = (post.words, post.signed, post.negated_at, post.denied_at)
        said = text if len(text) > terms.TEXT_MAX else words
        return (context.community_id, search.last_number(session), vectors, context.primary_language, said)

    def _find(
        self,
        session: Session,
        key: tuple[object, ...],
        text: str,
        context: Context,
        near: Nearest | None = None,
    ) -> tuple[Item | None, float]:
        found = search.find(session, text, context.community_id, context.primary_language, near)
        if near is None or near.is_whole:
            self._kept.put(key, (found,))
        return (None, 0.0) if found is None else (items.by_id(session, found.item_id), found.probability)

    def _vector(self, serving: Serving, text: str) -> Vector | None:
        """The vector of a post; None if the service fails: then words alone must do."""
        try:
            return serving.embedder.of_post(text)
        except Failure:
            return None


def _fact_check(item: Item, similarity: float) -> FactCheck:
    return FactCheck(
        item.dataset_name,
        item.item_id,
        item.claim,
        item.rating_given,
        item.publisher,
        item.url,
        similarity,
    )
