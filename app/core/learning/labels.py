"""Which decisions of a community are labels, and how many of one author or of one text count.

A label is a decision by people: raters in agreement (at least two of them), or a moderator who confirmed, overturned,
dismissed or forced an action; or what raters agreed on about a sample (``raters.samples``). What a score did alone is
no label, nor is a review that ended because time ran out, a report of the platform, a test post, a withdrawn post, or
a post whose text or author was erased.
"""

import math
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.orm import Session

from app.core import clock
from app.core.classify import COMMUNITY_MODEL, COMMUNITY_RULES
from app.core.learning import sampling
from app.core.models import Action, HistoryEntry, Note, Rating, Request, SampledPost, Score
from app.core.models.notes import judged_by_itself
from app.core.thresholds import outcomes
from app.core.vocabulary import ActionState, ActionTier, Verb

MOST_LABELS = 10_000
"""The newest decisions of a category that a training reads."""
READ_CHARS = 2_000
"""The characters of a post that are learned from, as many as one part of a long text has when it is scored."""
MOST_ORDINARY = 1_000
ORDINARY_DAYS = 30
AUTHOR_LEAST, AUTHOR_SHARE = 3, 0.005
"""Of one author count at most this many labels, or this share of all, whichever is more: the newest."""
ASKER_SHARE = 0.5
"""Who asked for more than this share of the posts without an author is the platform, and no author."""
CLUSTER_MOST = 3
"""Of texts that are nearly the same count at most this many labels, the newest."""
LEAST_RATERS = 2
_DECIDED = ("action.proposed", "action.confirmed", "action.dismissed", "action.overturned")
_ERASED = "erased-"
"""The author ids of erased persons begin like this (``upkeep.erasure``)."""


@dataclass(frozen=True)
class Label:
    """One decision as an example to learn from. ``acted``: the community acted on the post.

    ``base`` is the highest stored score of the other classifiers, without the community's own rules; ``rules`` the
    score of those rules. 0.0 where a classifier said nothing.
    """

    content: str
    author: str
    acted: bool
    decided_at: datetime
    base: float
    rules: float = 0.0


@dataclass(frozen=True)
class Ordinary:
    """A post without an action, with the scores of the other classifiers by category."""

    content: str
    base: dict[str, float]
    scored_at: datetime | None = None


def counts(session: Session, community_id: uuid.UUID) -> dict[str, tuple[int, datetime]]:
    """By category: how many decisions could be labels, and when the newest was made."""
    rows = session.execute(
        _decided(community_id)
        .with_only_columns(_category(), sa.func.count(), sa.func.max(_DECIDED_AT))
        .group_by(_category())
    )
    found = {category: (count, newest) for category, count, newest in rows if category and newest}
    sampled = session.execute(
        _sampled(community_id)
        .with_only_columns(SampledPost.category, sa.func.count(), sa.func.max(SampledPost.ended_at))
        .group_by(SampledPost.category)
    )
    for category, count, newest in sampled:
        known, latest = found.get(category, (0, newest))
        found[category] = known + count, max(latest, newest)
    return found


def read(session: Session, community_id: uuid.UUID, category: str) -> list[Label]:
    """The newest labels of a category, oldest first; of several about one post, only the newest."""
    rows = session.execute(
        _decided(community_id)
        .where(_category() == category)
        .with_only_columns(
            Action.id,
            Request.id.label("request_id"),
            *_POST,
            _ACTED.label("acted"),
            _DECIDED_AT.label("decided_at"),
            _RATERS.label("raters"),
            Note.locked,
        )
        .order_by(_DECIDED_AT.desc(), Action.id.desc())
        .limit(MOST_LABELS)
    ).all()
    by_people = _by_people(
        session, [row.id for row in rows if not row.locked and (row.raters or 0) < LEAST_RATERS]
    )
    decided = [row for row in rows if row.locked or (row.raters or 0) >= LEAST_RATERS or row.id in by_people]
    sampled = session.execute(
        _sampled(community_id)
        .where(SampledPost.category == category)
        .with_only_columns(
            SampledPost.request_id, *_POST, SampledPost.acted, SampledPost.ended_at.label("decided_at")
        )
        .order_by(SampledPost.ended_at.desc(), SampledPost.id.desc())
        .limit(MOST_LABELS)
    ).all()
    newest: dict[uuid.UUID, Any] = {}
    for row in sorted([*decided, *sampled], key=lambda row: row.decided_at, reverse=True)[:MOST_LABELS]:
        newest.setdefault(row.request_id, row)
    scores = _scores(session, list(newest), category)
    askers = Counter(row.requested_by for row in newest.values() if not row.platform_author_id)
    found = [
        Label(
            row.content,
            _author(row, askers),
            bool(row.acted),
            row.decided_at,
            *scores.get(request_id, (0.0, 0.0)),
        )
        for request_id, row in newest.items()
    ]
    return found[::-1]


def _author(row: Any, askers: Counter[str]) -> str:
    """The author of a labelled post; where the platform names none, the one who asked for it.

    Not the platform's own account, which asks for all posts: then each post counts as one by an author of its own.
    """
    if row.platform_author_id:
        return str(row.platform_author_id)
    is_platform = askers[row.requested_by] > ASKER_SHARE * askers.total()
    return f"post {row.request_id}" if is_platform else f"asked by {row.requested_by}"


def ordinary(session: Session, community_id: uuid.UUID) -> list[Ordinary]:
    """The newest posts of the last days without an action: how often would a model ask about them?

    They are those for which nothing was opened, and those that a model raised, until people act on them: what each
    version raises would otherwise be left out when the next is checked. A sample that raters would have acted on is
    not one of them.
    """
    is_raised_by_model = sa.exists().where(
        Score.request_id == Action.request_id,
        Score.category == Action.category,
        Score.classifier == COMMUNITY_MODEL,
        Score.is_highest,
    )
    opened = sa.or_(
        sa.exists().where(Action.request_id == Request.id, sa.or_(_ACTED == 1, ~is_raised_by_model)),
        sa.exists().where(SampledPost.request_id == Request.id, SampledPost.acted.is_(True)),
    )
    rows = session.execute(
        sa.select(Request.id, _BEGINNING.label("content"), Request.scored_at)
        .where(
            Request.community_id == community_id,
            Request.scored_at >= clock.now() - timedelta(days=ORDINARY_DAYS),
            _USABLE,
            judged_by_itself(),
            ~opened,
        )
        .order_by(Request.scored_at.desc(), Request.id.desc())
        .limit(MOST_ORDINARY)
    ).all()
    base: dict[uuid.UUID, dict[str, float]] = {row.id: {} for row in rows}
    stored = session.execute(
        sa.select(Score.request_id, Score.category, sa.func.max(Score.score))
        .where(
            Score.request_id.in_(base),
            Score.classifier.not_in((COMMUNITY_MODEL, COMMUNITY_RULES)),
            ~Score.is_observed,
        )
        .group_by(Score.request_id, Score.category)
    )
    for request_id, category, score in stored:
        base[request_id][category] = score
    return [Ordinary(row.content, base[row.id], row.scored_at) for row in rows]


def capped(labels: Sequence[Label], clusters: NDArray[Any]) -> list[int]:
    """The places of the labels that count, in order: of each author and of each cluster only the newest few."""
    author_most = max(AUTHOR_LEAST, math.ceil(AUTHOR_SHARE * len(labels)))
    authors: Counter[str] = Counter()
    texts: Counter[int] = Counter()
    kept = []
    for place in range(len(labels) - 1, -1, -1):
        author, cluster = labels[place].author, int(clusters[place])
        if authors[author] < author_most and texts[cluster] < CLUSTER_MOST:
            authors[author] += 1
            texts[cluster] += 1
            kept.append(place)
    return kept[::-1]


_BEGINNING = sa.func.substr(Request.content, 1, READ_CHARS)
_POST = (_BEGINNING.label("content"), Request.platform_author_id, Request.requested_by)
_USABLE = sa.and_(
    Request.is_test.is_(False),
    Request.withdrawn_at.is_(None),
    Request.content_removed_at.is_(None),
    ~sa.func.coalesce(Request.platform_author_id, Request.requested_by).startswith(_ERASED),
)
"""Posts that may be learned from."""
_STATE = Action.action_state
_OVERTURNED = _STATE.in_((ActionState.OVERTURNED, ActionState.SCAN_EXEMPT))
_DISMISSED = _STATE == ActionState.DISMISSED
_CONFIRMED = _STATE == ActionState.CONFIRMED
_DECIDED_TO_ACT = sa.and_(
    _STATE.in_((ActionState.PROPOSED, ActionState.APPLIED)),
    # Without it, the platform acted during the review, and there was no decision here.
    Action.proposed_at.is_not(None),
    Action.dismissed_at.is_(None),
    # A flag is reviewed before anything happens, in either tier.
    sa.or_(Action.action_tier == ActionTier.CONSENSUS, Action.decided_verb == Verb.FLAG.value),
)
_ACTED = sa.case((sa.or_(_CONFIRMED, _DECIDED_TO_ACT), 1), else_=0)
_DECIDED_AT = sa.case(
    (_OVERTURNED, Action.overturned_at),
    (_CONFIRMED, Action.confirmed_at),
    (_DISMISSED, Action.dismissed_at),
    else_=Action.proposed_at,
)
_RATERS = (
    sa.select(sa.func.count())
    .where(
        Rating.note_id == Action.note_id,
        Rating.note_version == Note.version,
        Rating.exclusion_reason.is_(None),
    )
    .correlate(Action, Note)
    .scalar_subquery()
)


def _category() -> sa.ColumnElement[str]:
    """The category that people decided on: a moderator may have named another than the score did."""
    return sa.func.coalesce(Action.decided_category, Action.category)


def _decided(community_id: uuid.UUID) -> sa.Select[Any]:
    """The decided actions with their posts and rationales."""
    return (
        sa.select(Action.id)
        # People judged the newest text.
        .join(Request, Request.id == sa.func.coalesce(Action.newest_request_id, Action.request_id))
        .outerjoin(Note, Note.id == Action.note_id)
        .where(
            Action.community_id == community_id,
            sa.or_(_OVERTURNED, _CONFIRMED, _DISMISSED, _DECIDED_TO_ACT),
            Action.lapsed_at.is_(None),
            outcomes.opened_by_service(),
            _USABLE,
        )
    )


def _sampled(community_id: uuid.UUID) -> sa.Select[Any]:
    """The samples on which raters agreed, with their posts. Once a post has an action, its decision is the label."""
    return (
        sa.select(SampledPost.id)
        .join(Request, Request.id == SampledPost.request_id)
        .where(
            SampledPost.community_id == community_id,
            SampledPost.acted.is_not(None),
            ~sampling.was_opened(),
            _USABLE,
        )
    )


def _by_people(session: Session, action_ids: Sequence[uuid.UUID]) -> set[uuid.UUID]:
    """Those of the actions that a person decided, by the history: the service follows raters as ``SYSTEM``."""
    return set(
        session.scalars(
            sa.select(HistoryEntry.object_id).where(
                HistoryEntry.object_type == "action",
                HistoryEntry.object_id.in_(action_ids),
                HistoryEntry.what.in_(_DECIDED),
                HistoryEntry.actor_kind != "system",
            )
        )
    )


def _scores(
    session: Session, request_ids: Sequence[uuid.UUID], category: str
) -> dict[uuid.UUID, tuple[float, float]]:
    """By post the highest score of the other classifiers, and that of the community's rules."""
    is_rules = Score.classifier == COMMUNITY_RULES
    rows = session.execute(
        sa.select(
            Score.request_id,
            sa.func.max(sa.case((is_rules, 0.0), else_=Score.score)),
            sa.func.max(sa.case((is_rules, Score.score), else_=0.0)),
        )
        .where(
            Score.request_id.in_(request_ids),
            Score.category == category,
            Score.classifier != COMMUNITY_MODEL,
            ~Score.is_observed,
        )
        .group_by(Score.request_id)
    )
    return {request_id: (base, rules) for request_id, base, rules in rows}
