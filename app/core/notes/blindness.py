"""What raters may see and when, and whether a note takes ratings (docs/develop/design-system.md).

Nothing that they see could influence their answers. A moderator's lock closes a note to ratings, and a second look at
its action opens it again, or the second look could only end by timeout. The note keeps its status meanwhile.
"""

import sqlalchemy as sa

from app.core.models import Action, Note, Rating
from app.core.vocabulary import IN_REVIEW, ActionState, ActionTier, NoteStatus, ReviewGroup

_ACTED = (ActionState.PROPOSED, ActionState.APPLIED)


def is_for_raters(action: Action) -> bool:
    """Whether raters see the item at all: only moderators see staff reviews."""
    return action.review_group is not ReviewGroup.STAFF


def is_decided(action: Action) -> bool:
    """Whether the item has its decision, so that counts may be shown.

    A Tier 1 action acts before anybody rated it, so for raters it is undecided until its second look ends.
    """
    if action.action_state in _ACTED:
        return action.action_tier is not ActionTier.IMMEDIATE
    return action.action_state not in IN_REVIEW


def is_settled(action: Action, rating: Rating | None) -> bool:
    """Whether the rater can see the item's outcome, or has seen it since they gave ``rating`` (decision 0030).

    An item that is reviewed again hides its counts again, but raters who answered before have seen its outcome. This
    does not apply to Tier 1, which acts before anybody answers.
    """
    if is_decided(action):
        return True
    if rating is None or action.action_tier is ActionTier.IMMEDIATE:
        return False
    reviewed_again_at = action.retro_review_at or action.proposed_at
    return reviewed_again_at is not None and rating.created_at < reviewed_again_at


def outcome_visible_to_raters(note: Note, action: Action | None) -> bool:
    """Whether raters of the note may see its outcome; ``action`` is the item if the note is its rationale.

    Raters do not see the outcome of a rationale until its item is decided.
    """
    if note.status is NoteStatus.NEEDS_MORE_RATINGS:
        return False
    return not note.rationale or action is None or is_decided(action)


def outcome_visible_clause() -> sa.ColumnElement[bool]:
    """``outcome_visible_to_raters`` in SQL: a condition on ``Note`` outer-joined with the ``Action`` it explains."""
    in_review = Action.action_state.in_(IN_REVIEW)
    unrated = sa.and_(
        Action.action_state.in_(_ACTED), Action.action_tier.is_not_distinct_from(ActionTier.IMMEDIATE)
    )
    decided = sa.or_(Action.id.is_(None), sa.not_(sa.or_(in_review, unrated)))
    return sa.and_(Note.status != NoteStatus.NEEDS_MORE_RATINGS, decided)


def is_closed(note: Note, action: Action | None) -> bool:
    """Whether the note cannot be rated; ``action`` is the action whose rationale it is, or None."""
    return note.locked and not is_lifted(note, action)


def is_lifted(note: Note, action: Action | None) -> bool:
    """Whether a moderator locked the note but a second look of its action takes ratings."""
    return (
        note.locked
        and note.rationale
        and action is not None
        and action.note_id == note.id
        and action.restores_id is None
        and action.action_state is ActionState.RETRO_REVIEW
    )


def open_clause() -> sa.ColumnElement[bool]:
    """The opposite of ``is_closed`` in SQL: a condition on ``Note`` and the ``Action`` whose rationale it is."""
    return sa.or_(Note.locked.is_(False), Action.action_state == ActionState.RETRO_REVIEW)
