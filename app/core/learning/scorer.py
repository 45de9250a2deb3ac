"""Scores posts with the community's own model, as the last step after all other classifiers.

Each process caches the versions in force by community. The database is asked which are in force for every text, so
that a new version or the way back takes effect everywhere at once.

`try_version` compares a version with what is in force on the posts of the last 30 days; it stores nothing.
"""

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.classify import COMMUNITY_MODEL, COMMUNITY_RULES, Context, Result
from app.core.classify.features import FEATURES_VERSION, MAX_CHARS, Vector, vectors_of
from app.core.errors import Conflict
from app.core.learning import versions
from app.core.learning.logistic import Blend, Linear
from app.core.models import LearnedCategory, LearnedModel, Learning, Request
from app.core.permissions import Actor, Permission, require
from app.core.recent import Recent
from app.core.services.comparing import Comparison, StoredPost, stored_posts
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import Scored, decide, higher, raise_to

KEPT = 256
"""The number of communities whose models a process caches, most recently used; each takes up to 150 kB a category."""


MOST = 0.95
"""Where the scores end that a model raises: the shipped Tier 1 threshold, above which a score acts without people.
What was learned puts posts before people and does not act alone."""


@dataclass(frozen=True)
class Loaded:
    """One version, ready to score."""

    version: int
    linear: Linear
    blend: Blend

    def score(self, vectors: Sequence[Vector], base: float) -> float:
        """The blended score of a text by the vectors of its parts.

        The part that counts most decides: otherwise a long harmless beginning would lower the score of the rest. It
        raises no score beyond ``MOST``.
        """
        blended = self.blend.score(base, max(self.linear.output(vector) for vector in vectors))
        return min(blended, max(base, MOST))


class CommunityModel:
    """The versions in force of one community.

    It is listed with the classifiers, so that pages and evidence name it. Alone it scores nothing: ``blended`` needs
    the scores of the others for the same text.
    """

    name = COMMUNITY_MODEL
    tier1_categories: frozenset[str] = frozenset()
    languages: frozenset[str] | None = None
    cost = 0
    local = True
    calibrated = True
    max_chars = MAX_CHARS

    def __init__(self, loaded: Mapping[str, Loaded]) -> None:
        self._loaded = dict(loaded)

    @property
    def version(self) -> str:
        return ", ".join(self.version_of(category) for category in sorted(self._loaded))

    @property
    def categories(self) -> frozenset[str]:
        return frozenset(self._loaded)

    def version_of(self, category: str) -> str:
        """The version of one category, as evidence and stored scores name it."""
        return f"{category} {self._loaded[category].version}"

    def score(self, texts: list[str], context: Context) -> list[Result]:
        return [Result() for _ in texts]

    def blended(self, text: str, base: Mapping[str, float]) -> dict[str, float]:
        """The scores that replace those of the others, for the categories in ``base``: their scores without it."""
        vectors = vectors_of(text)
        return {
            category: self._loaded[category].score(vectors, score)
            for category, score in base.items()
            if category in self._loaded
        }


class LearnedModels:
    """A cache of the models in force by community, shared by the threads of a process."""

    def __init__(self) -> None:
        self._kept: Recent[uuid.UUID, tuple[Mapping[str, int], CommunityModel | None]] = Recent(KEPT)

    def model(self, session: Session, community_id: uuid.UUID) -> CommunityModel | None:
        """The model of this community; None if no version is in force, or learning is off."""
        versions = in_force(session, community_id)
        if not versions:
            return None
        cached = self._kept.get(community_id)
        if cached is not None and cached[0] == versions:
            return cached[1]
        loaded = {
            category: found
            for category, version in versions.items()
            if (found := load(session, community_id, category, version)) is not None
        }
        model = CommunityModel(loaded) if loaded else None
        self._kept.put(community_id, (versions, model))
        return model


def in_force(session: Session, community_id: uuid.UUID) -> dict[str, int]:
    """By category the version in force; one index lookup."""
    rows = session.execute(
        sa.select(LearnedCategory.category, LearnedCategory.version_in_force)
        .join(Learning, Learning.community_id == LearnedCategory.community_id)
        .where(
            LearnedCategory.community_id == community_id, LearnedCategory.version_in_force > 0, Learning.is_on
        )
    )
    return {category: version for category, version in rows}


def load(session: Session, community_id: uuid.UUID, category: str, version: int) -> Loaded | None:
    """One version; None if it was erased, was trained with other features than this release computes, or does not
    rise with the scores of the others, as no version does that this release calls better."""
    row = session.scalars(
        sa.select(LearnedModel).where(
            LearnedModel.community_id == community_id,
            LearnedModel.category == category,
            LearnedModel.version == version,
        )
    ).first()
    if row is None or row.weights is None or row.features != FEATURES_VERSION:
        return None
    blend = Blend(row.blend_a, row.blend_b, row.blend_c)
    return Loaded(version, Linear.from_bytes(row.weights), blend) if blend.rises else None


MOST_TEXTS = 5_000
MOST_SECONDS = 3.0
SHOWN_SAMPLES = 20


def try_version(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    category: str,
    version: int,
) -> Comparison:
    """Route the newest posts with this version and with what is in force now, by the thresholds in force.

    ``version`` 0 is the other classifiers alone.

    Raises:
        NotFound: there is no such version.
        Conflict: its weights were erased, or belong to another release.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    end = time.monotonic() + MOST_SECONDS
    rules = threshold_sets.category_rules(threshold_sets.current(session, community_id))
    new = _loaded(session, community_id, category, version)
    current = in_force(session, community_id).get(category, 0)
    old = load(session, community_id, category, current) if current else None
    compared = Comparison(shown=SHOWN_SAMPLES)
    of_people = Request.scored_at.is_not(None), Request.is_test.is_(False)
    for post in stored_posts(session, community_id, *of_people, most=MOST_TEXTS):
        if time.monotonic() > end:
            compared.complete = False
            break
        compared.add(post, *(decide(_scores(post, category, loaded), rules) for loaded in (old, new)))
    compared.complete = compared.complete and compared.posts < MOST_TEXTS
    return compared


def _loaded(session: Session, community_id: uuid.UUID, category: str, version: int) -> Loaded | None:
    if version == 0:
        return None
    model = versions.find(session, community_id, category, version)
    loaded = load(session, community_id, category, version)
    if loaded is None or model.erased_at is not None:
        raise Conflict(_("This version can no longer be used"), model.id)
    return loaded


def _scores(post: StoredPost, category: str, loaded: Loaded | None) -> dict[str, Scored]:
    """The scores that a post would have with this version, as ``requests.scoring`` combines them."""
    scores: dict[str, Scored] = {}
    base: dict[str, Scored] = {}
    for score in post.scores:
        if score.is_observed:
            continue
        if score.category != category:
            if score.is_routed:
                raise_to(scores, score.category, score.scored)
        elif score.classifier == COMMUNITY_RULES:
            raise_to(scores, category, score.scored)
        elif score.classifier != COMMUNITY_MODEL:
            raise_to(base, category, score.scored)
    own = base.get(category)
    if loaded is not None:
        own = own or Scored(0.0, calibrated=False)
        value = loaded.score(vectors_of(post.content), own.score)
        own = Scored(round(value, 4), own.calibrated)
    return scores if own is None else scores | {category: higher(own, scores.get(category, own))}
