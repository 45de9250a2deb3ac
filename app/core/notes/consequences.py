"""What a note's new status does to the action of its post: decide it, end its second look, or open one."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.actions import actions
from app.core.actions.moves import make_move
from app.core.communities import settings as community_settings
from app.core.helpfulness.note_scores import Scored
from app.core.history.reason import Reason
from app.core.models import Action, Hold, Note
from app.core.panels import doubts, opening, panels
from app.core.permissions import SYSTEM
from app.core.scoring import INERTIA, Verdict
from app.core.texts import lazy_gettext
from app.core.thresholds.routing import MISINFORMATION
from app.core.vocabulary import IN_REVIEW, ActionState, Classification, NoteStatus

NOT_AGREED = lazy_gettext("Raters do not agree with it")
_UNRATED = NoteStatus.NEEDS_MORE_RATINGS
_HELPFUL = NoteStatus.CURRENTLY_RATED_HELPFUL
_NOT_HELPFUL = NoteStatus.CURRENTLY_RATED_NOT_HELPFUL


def end_second_look(
    session: Session, action: Action, note: Note, verdict: Verdict, cause: str, *, by_panel: bool = False
) -> None:
    """End the second look of a moderator's decision once raters agree: confirm the action, or overturn it.

    ``by_panel``: the ratings are a drawn panel's, so no burst can have made them.
    """
    if verdict.status is _UNRATED or (not by_panel and doubts.divert_to_staff(session, action, note)):
        return
    if verdict.status is _HELPFUL:
        actions.confirm(session, SYSTEM, action, reason=Reason(cause=cause))
        return
    # Unlock the note: from now on its raters decide its status, as for any other note.
    unlocked: dict[str, Any] = {
        "locked": False,
        "force_published": False,
        "force_published_at": None,
        "dismissed_at": None,
        "status_rule": verdict.rule,
    }
    if note.status is verdict.status:
        for name, value in unlocked.items():
            setattr(note, name, value)
        session.flush()
    else:
        make_move(session, SYSTEM, note, verdict.status, reason=Reason(cause=cause), **unlocked)
    actions.overturn(session, SYSTEM, action, reason=Reason(NOT_AGREED, cause=cause))


def act_on(
    session: Session, action: Action, note: Note, verdict: Verdict, cause: str, *, by_panel: bool = False
) -> None:
    """Decide the action by its rationale's status, end its second look, or open one; ``by_panel`` as above."""
    state = action.action_state
    if state in IN_REVIEW and note.status is not _UNRATED:
        if not by_panel and doubts.divert_to_staff(session, action, note):
            return
        if state is ActionState.UNDER_REVIEW and note.status is _HELPFUL:
            actions.decide_act(
                session, SYSTEM, action, confidence=verdict.confidence, reason=Reason(cause=cause)
            )
        elif state is ActionState.UNDER_REVIEW:
            actions.decide_none(
                session, SYSTEM, action, confidence=verdict.confidence, reason=Reason(cause=cause)
            )
        elif note.status is _HELPFUL:
            actions.confirm(session, SYSTEM, action, reason=Reason(cause=cause))
        else:
            actions.overturn(session, SYSTEM, action, reason=Reason(NOT_AGREED, cause=cause))
    elif state is ActionState.APPLIED and action.proposed_at is not None:
        is_doubted = (
            note.status is _NOT_HELPFUL
            or verdict.intercept < verdict.threshold - INERTIA
            or (note.status is _UNRATED and verdict.is_divisive)
        )
        by_raters = action.action_tier is not None and action.action_tier.number == 2
        if is_doubted and by_raters and community_settings.read(session, action.community_id).second_look:
            actions.open_second_look(session, SYSTEM, action, reason=Reason(cause=cause))


def dismiss_on_not_misleading(
    session: Session, note: Note, scored: Scored, verdict: Verdict, cause: str
) -> None:
    """A person's NOT_MISLEADING note rated helpful ends a misinformation review without action."""
    if note.ai_generated or note.classification is not Classification.NOT_MISLEADING or not note.request_id:
        return
    action = actions.live_for(session, note.request_id)
    if action is None or action.category != MISINFORMATION:
        return
    held = sa.select(Hold.id).where(Hold.action_id == action.id)
    if action.action_state is not ActionState.UNDER_REVIEW or session.scalar(held) is not None:
        return
    earlier = panels.newest(session, action.id)
    if opening.open_if_doubted(
        session, action, note, scored, verdict, earlier=earlier
    ) or doubts.divert_to_staff(session, action, note):
        return
    actions.decide_none(session, SYSTEM, action, confidence=verdict.confidence, reason=Reason(cause=cause))
