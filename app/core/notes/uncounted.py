"""Why an answer does not count, as a sentence in the reply to the call that gives it (docs/integrate/api.md)."""

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Exclusion
from app.core.models import Action, Note, Panel, PanelSeat, Rating
from app.core.panels import panels
from app.core.texts import lazy_gettext
from app.core.vocabulary import IN_REVIEW, ActionState, ActionTier, ReviewGroup, SeatState

FINAL = lazy_gettext(
    "The status of this note is final: it was written too long ago for answers to change it."
)
CLOSED = lazy_gettext("The review has ended, so the answer decides nothing.")
STAFF = lazy_gettext("The review went to the moderators, who decide it.")
NOT_DRAWN = lazy_gettext(
    "A panel that was drawn by lot decides this review, and the rater has no seat on it."
)


def why(session: Session, rating: Rating, action: Action | None, state: ActionState | None) -> str | None:
    """Why this rating does not count; None if it does. At most three queries.

    ``action`` is the one whose rationale was rated, as it is now, and ``state`` its state before this rating decided
    anything: the rating that ends a review counts, and the next one does not.
    """
    if rating.exclusion_reason is not None:
        return eligibility.SENTENCES[Exclusion(rating.exclusion_reason)]
    if state not in IN_REVIEW and session.get_one(Note, rating.note_id).status_locked_at is not None:
        return FINAL
    if action is None:
        return None
    newest = panels.newest(session, action.id)
    if state not in IN_REVIEW:
        return CLOSED if _is_over(action, state) or panels.has_decided(newest, action) else None
    if action.action_state is state and action.review_group is ReviewGroup.STAFF:
        return STAFF
    panel = panels.of_review(newest, action)
    is_by_panel = (panel is not None and panel.ended_at is None) or panels.has_decided(newest, action)
    return NOT_DRAWN if is_by_panel and not _has_seat(session, rating, action, state) else None


def _is_over(action: Action, state: ActionState | None) -> bool:
    """Whether ratings can open no second look either: an applied action, or one of Tier 1, may still get one."""
    is_unrated = state is ActionState.PROPOSED and action.action_tier is ActionTier.IMMEDIATE
    return state is not ActionState.APPLIED and not is_unrated


def _has_seat(session: Session, rating: Rating, action: Action, state: ActionState | None) -> bool:
    seat = (
        sa.select(PanelSeat.number)
        .join(Panel, Panel.id == PanelSeat.panel_id)
        .where(
            Panel.action_id == action.id,
            Panel.review == state,
            PanelSeat.profile_id == rating.rater_id,
            PanelSeat.state == SeatState.ANSWERED,
        )
    )
    return session.scalar(seat.limit(1)) is not None
