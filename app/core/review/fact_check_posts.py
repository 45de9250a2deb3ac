"""The posts that refer to a fact-check, with how members judged them, for operators."""

import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.actions import actions
from app.core.models import Action, FactCheckItem, Note, Rating, Request
from app.core.models.notes import judged_by_itself
from app.core.notes.blindness import is_decided
from app.core.permissions import Actor, Permission, require
from app.core.vocabulary import HelpfulnessLevel

POSTS_MOST = 50


@dataclass(frozen=True)
class MatchedPost:
    """A post that refers to a fact-check. The counts are of members' answers, only where the item is decided."""

    request: Request
    action: Action | None
    is_decided: bool
    yes: int = 0
    no: int = 0
    unsure: int = 0


@dataclass(frozen=True)
class Matches:
    """The newest posts that refer to a fact-check, and the number of all."""

    posts: Sequence[MatchedPost]
    count: int


def matches(session: Session, actor: Actor, community_id: uuid.UUID, item: FactCheckItem) -> Matches:
    """The community's posts that refer to an item, newest first, with how members judged them."""
    require(actor, Permission.REVISE_POLICY, community_id)
    which = (
        Request.community_id == community_id,
        Request.dataset_name == item.dataset_name,
        Request.dataset_item_id == item.item_id,
        Request.withdrawn_at.is_(None),
        judged_by_itself(),
    )
    count = session.scalar(sa.select(sa.func.count(Request.id)).where(*which)) or 0
    requests = session.scalars(
        sa.select(Request).where(*which).order_by(Request.requested_at.desc(), Request.id).limit(POSTS_MOST)
    ).all()
    newest = actions.newest_of(session, [request.id for request in requests])
    counts = _answers(session, [action.note_id for action in newest.values() if action.note_id])
    posts = []
    for request in requests:
        action = newest.get(request.id)
        decided = action is not None and is_decided(action)
        given: Counter[HelpfulnessLevel] = Counter()
        if action is not None and action.note_id is not None and decided:
            given = counts.get(action.note_id, given)
        posts.append(
            MatchedPost(
                request,
                action,
                decided,
                yes=given[HelpfulnessLevel.HELPFUL],
                no=given[HelpfulnessLevel.NOT_HELPFUL],
                unsure=given[HelpfulnessLevel.SOMEWHAT_HELPFUL],
            )
        )
    return Matches(posts, count)


def _answers(session: Session, note_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, Counter[HelpfulnessLevel]]:
    rows = session.execute(
        sa.select(Rating.note_id, Rating.helpfulness_level, sa.func.count())
        .join(Note, Note.id == Rating.note_id)
        .where(
            Rating.note_id.in_(note_ids),
            Rating.note_version == Note.version,
            Rating.exclusion_reason.is_(None),
        )
        .group_by(Rating.note_id, Rating.helpfulness_level)
    )
    counts: dict[uuid.UUID, Counter[HelpfulnessLevel]] = {}
    for note_id, level, number in rows:
        counts.setdefault(note_id, Counter())[level] = number
    return counts
