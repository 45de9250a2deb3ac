"""Tries a version on the posts of the last 30 days, before it is put in force. Nothing is stored."""

import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

from sqlalchemy.orm import Session

from app.core.classify import COMMUNITY_MODEL, COMMUNITY_RULES
from app.core.classify.features import vectors_of
from app.core.errors import Conflict
from app.core.learning import scorer, versions
from app.core.learning.scorer import Loaded
from app.core.models import Request
from app.core.permissions import Actor, Permission, require
from app.core.policies import policies
from app.core.policies.outcomes import Outcome
from app.core.policies.routing import Place, Route, Scored, decide, higher, place_of, raise_to
from app.core.services.comparing import StoredPost, stored_posts

MOST_TEXTS = 5_000
MOST_SECONDS = 3.0
SHOWN_SAMPLES = 20


@dataclass(frozen=True)
class Sample:
    """A post that the version would route differently; ``outcome`` is what people decided, None if nobody did."""

    content: str
    before: Route | None
    after: Route | None
    outcome: Outcome | None


@dataclass(frozen=True)
class Trial:
    """What a version would change, over ``read`` posts; ``complete`` False: there were more than time allowed.

    ``moved`` counts posts by their routes before and after; ``dropped`` the posts that would be let through and are
    not now, by what people decided about them.
    """

    read: int
    complete: bool
    moved: Mapping[tuple[Place, Place], int]
    dropped: Mapping[Outcome | None, int]
    samples: Sequence[Sample]


@dataclass
class _Post:
    """A stored post with its scores: of the category tried, and of the others as they were routed."""

    content: str
    outcome: Outcome | None
    base: Scored | None = None
    rules: Scored | None = None
    others: dict[str, Scored] = field(default_factory=dict)


def try_version(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    category: str,
    version: int,
    *,
    seconds: float = MOST_SECONDS,
) -> Trial:
    """Route the newest posts with this version and with what is in force now, by the thresholds in force.

    ``version`` 0 is the other classifiers alone.

    Raises:
        NotFound: there is no such version.
        Conflict: its weights were erased, or belong to another release.
    """
    require(actor, Permission.REVISE_POLICY, community_id)
    end = time.monotonic() + seconds
    rules = policies.category_rules(policies.current(session, community_id))
    new = _loaded(session, community_id, category, version)
    current = scorer.in_force(session, community_id).get(category, 0)
    old = scorer.load(session, community_id, category, current) if current else None
    moved: Counter[tuple[Place, Place]] = Counter()
    dropped: Counter[Outcome | None] = Counter()
    samples: list[Sample] = []
    read = 0
    complete = True
    of_people = Request.scored_at.is_not(None), Request.is_test.is_(False)
    for stored in stored_posts(session, community_id, *of_people, most=MOST_TEXTS):
        if time.monotonic() > end:
            complete = False
            break
        read += 1
        post = _post(stored, category)
        was, becomes = (decide(_scores(post, category, loaded), rules) for loaded in (old, new))
        if place_of(was) == place_of(becomes):
            continue
        moved[place_of(was), place_of(becomes)] += 1
        if becomes is None:
            dropped[post.outcome] += 1
        if len(samples) < SHOWN_SAMPLES:
            samples.append(Sample(post.content, was, becomes, post.outcome))
    return Trial(read, complete and read < MOST_TEXTS, moved, dropped, samples)


def _loaded(session: Session, community_id: uuid.UUID, category: str, version: int) -> Loaded | None:
    if version == 0:
        return None
    model = versions.find(session, community_id, category, version)
    loaded = scorer.load(session, community_id, category, version)
    if loaded is None or model.erased_at is not None:
        raise Conflict("This version can no longer be used", model.id)
    return loaded


def _scores(post: _Post, category: str, loaded: Loaded | None) -> dict[str, Scored]:
    """The scores that a post would have with this version, as ``requests.scoring`` combines them."""
    own = post.base
    if loaded is not None:
        base = post.base or Scored(0.0, calibrated=False)
        value = loaded.score(vectors_of(post.content), base.score)
        own = Scored(round(value, 4), base.calibrated)
    candidates = [scored for scored in (own, post.rules) if scored is not None]
    if not candidates:
        return post.others
    return post.others | {category: reduce(higher, candidates)}


def _post(stored: StoredPost, category: str) -> _Post:
    post = _Post(stored.content, stored.outcome)
    for score in stored.scores:
        scored = score.scored
        if score.is_observed:
            continue
        if score.category != category:
            if score.is_routed:
                raise_to(post.others, score.category, scored)
        elif score.classifier == COMMUNITY_RULES:
            post.rules = higher(post.rules, scored) if post.rules is not None else scored
        elif score.classifier != COMMUNITY_MODEL:
            post.base = higher(post.base, scored) if post.base is not None else scored
    return post
