"""The texts of a post under review: the newest is reviewed, and answers about an earlier one no longer count."""

from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import actions
from app.core.actions.moves import begin
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Action, Hold, Note, PostScores, Request, Skip
from app.core.notes import notes
from app.core.panels import opening as panel_opening
from app.core.panels import panels
from app.core.permissions import SYSTEM
from app.core.requests import posts
from app.core.review import holds
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ActionTier

CAUSE = lazy_gettext("the post was edited")
MOST = 6
"""The most texts of a post that a page of a moderator shows, with what was changed between them."""


def shown(session: Session, review: Action) -> Request:
    """The request with the text that is reviewed."""
    return session.get_one(Request, review.newest_request_id or review.request_id)


def show(session: Session, review: Action, request: Request) -> None:
    """Let a review go on over the text of this request: raters see it, and those who answered are asked again.

    A moderator's decision that can still be undone lapses, for it was about the text before. The caller holds the lock.
    """
    held = session.scalars(sa.select(Hold).where(Hold.action_id == review.id)).first()
    if held is not None:
        holds.lapse(session, held, "the post was edited meanwhile")
    before = review.newest_request_id or review.request_id
    review.newest_request_id = request.id if request.id != review.request_id else None
    review.version += 1
    review.wave_id = None  # its posts were alike
    session.flush()
    actions.record(
        session,
        SYSTEM,
        review,
        "action.edited",
        before={"request_id": str(before)},
        after={"request_id": str(request.id)},
    )
    session.execute(sa.delete(Skip).where(Skip.action_id == review.id))
    if review.note_id is None:
        return
    notes.renew(session, session.get_one(Note, review.note_id), cause=CAUSE)
    panel = panels.of_review(panels.newest(session, review.id), review)
    if panel is not None and panel.ended_at is None:
        panel_opening.open_panel(session, review, panel.reason, earlier=panel)
    session.flush()


def show_another(session: Session, request: Request) -> None:
    """Where the text that is reviewed is withdrawn, let the review go on over the newest one that is left."""
    if request.platform_message_id is None or request.note_id is None:
        return
    review = session.scalars(
        sa.select(Action).where(
            Action.note_id == request.note_id,
            Action.newest_request_id == request.id,
            Action.action_state == ActionState.UNDER_REVIEW,
        )
    ).first()
    if review is not None:
        left = session.scalars(_submitted(review).limit(1)).first()
        show(session, review, left or session.get_one(Request, review.request_id))


def of_review(session: Session, review: Action) -> Sequence[Request]:
    """The texts that a review was about and is about, newest first, if there are several; else none."""
    if review.newest_request_id is None:
        return []
    is_other = sa.or_(Request.duplicate_of.is_(None), Request.id == review.newest_request_id)
    return session.scalars(_submitted(review).where(is_other).limit(MOST)).all()


def _submitted(review: Action) -> sa.Select[Request]:
    """SELECT of the requests that are under this review, newest first."""
    first = sa.orm.aliased(Request)
    return (
        sa.select(Request)
        .join(first, sa.and_(first.id == review.request_id, posts.is_of_one(Request, first)))
        .where(
            Request.withdrawn_at.is_(None),
            sa.or_(Request.id == review.request_id, Request.note_id == review.note_id),
        )
        .order_by(Request.id.desc())
    )


def carry_on(session: Session, request: Request, review: Action) -> Action:
    """Open a review of a request as that of another one of its post, which is about to end without a decision here.

    Of a text that is the same, the scores are too: it is not scored again.
    """
    if request.scored_at is None:
        first = session.get_one(Request, review.request_id)
        request.scored_at, request.language = first.scored_at or clock.now(), first.language
        known = session.get(PostScores, first.id)
        if known is not None:
            session.add(
                PostScores(
                    request_id=request.id,
                    community_id=known.community_id,
                    scored_at=known.scored_at,
                    categories=known.categories,
                    scores=known.scores,
                )
            )
    note = notes.write_rationale_again(session, request, session.get_one(Note, review.note_id))
    request.note_id = note.id
    is_own = review.newest_request_id in (None, review.request_id, request.id)
    action = Action(
        id=new_id(),
        community_id=review.community_id,
        request_id=request.id,
        newest_request_id=None if is_own else review.newest_request_id,
        action_type=review.action_type,
        action_tier=ActionTier.CONSENSUS,
        action_state=ActionState.UNDER_REVIEW,
        review_group=review.review_group,
        category=review.category,
        decided_category=review.decided_category,
        score=review.score,
        evidence=review.evidence,
        decided_verb=review.decided_verb,
        note_id=note.id,
        platform_author_id=request.platform_author_id,
        platform_channel_id=request.platform_channel_id,
        language=request.language or review.language,
        due_at=review.due_at,
        urgent_at=review.urgent_at,
    )
    begin(
        session, SYSTEM, action, reason=Reason(cause=lazy_gettext("the submission before it was withdrawn"))
    )
    return action
