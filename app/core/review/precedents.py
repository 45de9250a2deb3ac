"""Posts like this one that were decided earlier in the community, with outcome and reason (docs/moderate/waves.md).

Nothing is stored for it: of the community's newest ``WALKED`` actions those of the same category are compared by the
signatures of their texts. Short texts are alike only if they are equal. Two statements, however many there are.
"""

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import compress

import sqlalchemy as sa
from sqlalchemy.orm import Session, aliased

from app.core.classify import likeness
from app.core.models import Action, PostFacts, Request
from app.core.permissions import Actor, Permission, require
from app.core.review import decision_trace
from app.core.vocabulary import ActionState, ActionTier, ActionType

WALKED = 2_000
LISTED = 5
_ACTED = (ActionState.PROPOSED, ActionState.APPLIED, ActionState.CONFIRMED)
_LOOKED_AT = (ActionState.CONFIRMED, ActionState.OVERTURNED, ActionState.DISMISSED)
_KEPT = (ActionState.DISMISSED, ActionState.OVERTURNED, ActionState.SCAN_EXEMPT)


@dataclass(frozen=True)
class Precedent:
    """A post alike that was decided. ``done``: what was done to it, None if it was kept. ``reason``: a person's."""

    action_id: uuid.UUID
    done: ActionType | None
    at: datetime
    by: str
    reason: str


@dataclass(frozen=True)
class Precedents:
    """``counts``: how many came out how, None for those that were kept. ``newest``: the newest of them."""

    counts: Mapping[ActionType | None, int]
    newest: Sequence[Precedent]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def like_before(session: Session, actor: Actor, action: Action) -> Precedents | None:
    """The decided posts that are like this item's; None without any. ``action`` has its request loaded."""
    require(actor, Permission.SEE_QUEUE, action.community_id)
    post = action.post
    if post.content_removed_at is not None or not post.content.strip():
        return None
    signature = likeness.likeness_of(post.content).signature
    walked = (
        sa.select(Action)
        .where(Action.community_id == action.community_id)
        .order_by(Action.created_at.desc(), Action.id.desc())
        .limit(WALKED)
        .subquery()
    )
    earlier = aliased(Action, walked)
    statement = sa.select(earlier.id, earlier.action_state, earlier.action_type, PostFacts.signature).where(
        earlier.category == action.category,
        earlier.action_state.in_((*_ACTED, *_KEPT)),
        earlier.lapsed_at.is_(None),
        earlier.restores_id.is_(None),
        # Not what a score did alone and nobody looked at since.
        sa.or_(earlier.action_tier == ActionTier.CONSENSUS, earlier.action_state.in_(_LOOKED_AT)),
        earlier.strike_step.is_(None),
        earlier.request_id != action.request_id,
    )
    if signature is None:
        statement = statement.join(Request, Request.id == earlier.request_id)
        statement = statement.join(PostFacts, PostFacts.request_id == earlier.request_id)
        statement = statement.where(Request.content_sha256 == post.content_sha256)
    else:
        statement = statement.join(PostFacts, PostFacts.request_id == earlier.request_id)
        statement = statement.where(PostFacts.signature.is_not(None))
    rows = session.execute(statement.order_by(earlier.created_at.desc(), earlier.id.desc())).all()
    alike = list(compress(rows, likeness.are_alike(signature, [row.signature for row in rows])))
    if not alike:
        return None
    outcomes = {row.id: row.action_type if row.action_state in _ACTED else None for row in alike}
    deciders = decision_trace.deciders(session, [row.id for row in alike[:LISTED]])
    newest = [
        Precedent(row.id, outcomes[row.id], decider.at, decider.name, decider.reason)
        for row in alike[:LISTED]
        if (decider := deciders.get(row.id)) is not None
    ]
    return Precedents(Counter(outcomes.values()), newest)
