"""What raters may be told, and when: nothing that could sway them before it is decided (docs/design-system.md)."""

import sqlalchemy as sa

from app.core.models import Action, Note, Rating
from app.core.vocabulary import IN_REVIEW, ActionState, ActionTier, NoteStatus, ReviewGroup

_ACTED = (ActionState.PROPOSED, ActionState.APPLIED)


def is_for_raters(action: Action) -> bool:
    """Whether raters see the item at all: staff reviews are for moderators alone."""
    return action.review_group is not ReviewGroup.STAFF


def is_decided(action: Action) -> bool:
    """Whether the item has its decision, so that counts may be shown.

    A Tier 1 action acts before anybody rated; its raters are asked until a second look ends.
    """
    if action.action_state in _ACTED:
        return action.action_tier is not ActionTier.IMMEDIATE
    return action.action_state not in IN_REVIEW


def is_settled(action: Action, rating: Rating | None) -> bool:
    """Whether the outcome of the item is in view, or was in view since ``rating`` was given (decision 0030).

    An item that is reviewed again hides its counts again, but whoever answered before has seen how it ended. That is
    never so at Tier 1, which acted before anybody answered.
    """
    if is_decided(action):
        return True
    if rating is None or action.action_tier is ActionTier.IMMEDIATE:
        return False
    reviewed_again_at = action.retro_review_at or action.proposed_at
    return reviewed_again_at is not None and rating.created_at < reviewed_again_at


def is_told(note: Note, action: Action | None) -> bool:
    """Whether a rater of the note may be told what became of it; ``action`` is the item, if the note is its rationale.

    The rationale of an item stays blind until the item is decided.
    """
    if note.status is NoteStatus.NEEDS_MORE_RATINGS:
        return False
    return not note.rationale or action is None or is_decided(action)


def told() -> sa.ColumnElement[bool]:
    """``is_told`` as a condition on ``Note`` and the ``Action`` whose rationale it is, which may be none."""
    asked = Action.action_state.in_(IN_REVIEW)
    unrated = sa.and_(
        Action.action_state.in_(_ACTED), Action.action_tier.is_not_distinct_from(ActionTier.IMMEDIATE)
    )
    decided = sa.or_(Action.id.is_(None), sa.not_(sa.or_(asked, unrated)))
    return sa.and_(Note.status != NoteStatus.NEEDS_MORE_RATINGS, decided)
