"""Which posts below every threshold become samples: posts that raters are asked about only to learn from the answers.

A sample is no action, so nothing happens to its post, no event is sent, and no queue or figure of moderation knows it
(docs/moderate/learning.md). ``raters.samples`` takes the answers.
"""

import hashlib
import math
import secrets
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.ids import new_id
from app.core.models import Action, Community, LearnedCategory, Learning, Request, SampledPost
from app.core.thresholds.routing import MISINFORMATION, CategoryRule, Scored
from app.core.vocabulary import ReviewGroup

LEAST_SHARE, USUAL_SHARE, MOST_SHARE = 0.001, 0.01, 0.05
"""The shares of posts that a community can choose from, and the one that the form suggests."""
OPEN_FOR = timedelta(days=7)
"""How long raters are asked about a post."""
MOST_A_DAY = 20
"""The most samples of a community within 24 hours, however many posts it has."""
ENOUGH_LABELS = 200
"""With this many labels a category is trained (``training``), and needs no more than others with as many."""
WANTED_MORE = 9
"""A category without labels is asked about this many times as often as one with enough."""
LEAST_NEARNESS = 0.05
"""A category with a score of 0 is asked about too, but seldom."""
_ONE = 2**64


def new_key() -> str:
    """A random key, so that no outsider can tell which posts are chosen."""
    return secrets.token_hex(16)


def is_chosen(request_id: uuid.UUID, key: str, share: float) -> bool:
    """Whether this post belongs to the share of all posts; always the same answer for the same post and key."""
    return _number(request_id, key, "post") < share * _ONE


ASKS = (
    sa.exists()
    .where(Learning.community_id == Community.id, Learning.is_on, Learning.sample_share > 0)
    .correlate(Community)
)
"""For a statement that selects from communities: whether the community has samples at all; most have none."""


def choose(
    session: Session, request: Request, scores: Mapping[str, Scored], rules: Sequence[CategoryRule]
) -> SampledPost | None:
    """Make a sample of a post for which scoring opened nothing, if it is chosen. The caller holds the lock."""
    learning = session.get(Learning, request.community_id)
    if learning is None or not learning.is_on or not learning.sample_share or learning.sample_key is None:
        return None
    if request.is_test or not is_chosen(request.id, learning.sample_key, learning.sample_share):
        return None
    if _is_enough(session, request.community_id):
        return None
    known = _known(session, request.community_id)
    rule = category_to_ask(request.id, learning.sample_key, scores, rules, known)
    if rule is None:
        return None
    now = clock.now()
    sample = SampledPost(
        id=new_id(),
        community_id=request.community_id,
        request_id=request.id,
        category=rule.name,
        decided_verb=rule.tier2_action.value,
        answers=0,
        created_at=now,
        ends_at=now + OPEN_FOR,
    )
    session.add(sample)
    session.flush()
    return sample


def category_to_ask(
    request_id: uuid.UUID,
    key: str,
    scores: Mapping[str, Scored],
    rules: Sequence[CategoryRule],
    known: Mapping[str, int],
) -> CategoryRule | None:
    """The category that raters are asked about. ``known``: the labels that there are or will be, by category.

    The key draws one, the more often the more labels it lacks and the nearer its score is to its Tier 2 threshold: were
    it always the nearest, most questions would be about one or two categories.

    Only categories that raters review and that a classifier scored. Whether a claim is false needs research and not an
    answer at a glance, so misinformation is none of them.
    """
    asked = [
        rule
        for rule in rules
        if rule.enabled
        and not rule.observe_only
        and rule.review_group is not ReviewGroup.STAFF
        and rule.name != MISINFORMATION
        and rule.name in scores
    ]

    def wait(rule: CategoryRule) -> float:
        """Of several waiting times that are drawn like this, one is the shortest as often as its weight says."""
        share = min(1.0, known.get(rule.name, 0) / ENOUGH_LABELS)
        need = 1.0 / (1.0 + (WANTED_MORE - 1) * share)
        nearness = max(LEAST_NEARNESS, scores[rule.name].score / max(rule.tier2, 0.01))
        return -math.log((_number(request_id, key, rule.name) + 1) / (_ONE + 1)) / (need * nearness)

    return min(asked, key=wait, default=None)


def end_all(session: Session, community_id: uuid.UUID) -> None:
    """Stop asking about the open samples of a community. The caller holds the lock."""
    session.execute(
        sa.update(SampledPost)
        .where(SampledPost.community_id == community_id, SampledPost.ended_at.is_(None))
        .values(ended_at=clock.now())
        .execution_options(synchronize_session="fetch")
    )


def _is_enough(session: Session, community_id: uuid.UUID) -> bool:
    count = session.scalar(
        sa.select(sa.func.count()).where(
            SampledPost.community_id == community_id, SampledPost.created_at > clock.now() - timedelta(days=1)
        )
    )
    return (count or 0) >= MOST_A_DAY


def _known(session: Session, community_id: uuid.UUID) -> Counter[str]:
    """By category the labels at the last training, and the samples that are still open."""
    trained = session.execute(
        sa.select(LearnedCategory.category, LearnedCategory.labels).where(
            LearnedCategory.community_id == community_id
        )
    )
    known = Counter({category: labels for category, labels in trained})
    known.update(
        session.scalars(
            sa.select(SampledPost.category).where(
                SampledPost.community_id == community_id,
                SampledPost.ended_at.is_(None),
                # At most some hundreds: `MOST_A_DAY` of the days in which they are open.
                SampledPost.created_at > clock.now() - OPEN_FOR,
            )
        )
    )
    return known


def _number(request_id: uuid.UUID, key: str, purpose: str) -> int:
    digest = hashlib.blake2b(request_id.bytes + purpose.encode(), key=key.encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def was_opened() -> sa.ColumnElement[bool]:
    """A condition on a sample: a report or a member's message to staff opened an action about its post."""
    return sa.exists().where(Action.request_id == SampledPost.request_id)


def is_open() -> sa.ColumnElement[bool]:
    """A condition on a sample that is joined with its request: raters are asked about it."""
    archived = sa.exists().where(Community.id == SampledPost.community_id, Community.archived_at.is_not(None))
    return sa.and_(
        SampledPost.ended_at.is_(None),
        SampledPost.ends_at > clock.now(),
        Request.withdrawn_at.is_(None),
        Request.content_removed_at.is_(None),
        sa.not_(archived),
        # Then that action is what raters are asked about.
        sa.not_(was_opened()),
    )
