"""Which reviews get a drawn panel: all of a community, or those with reason for doubt (docs/moderate/panels.md)."""

import uuid
from collections.abc import Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.actions import panels_due
from app.core.communities.settings import CommunitySettings
from app.core.helpfulness.note_scores import Scored
from app.core.models import Action, Note, Panel
from app.core.notes import bursts
from app.core.panels import doubts, panels
from app.core.scoring import Verdict
from app.core.vocabulary import Classification, NoteStatus, PanelOutcome, WhoDecides


def is_always(session: Session, action: Action, note: Note, settings: CommunitySettings) -> bool:
    """Whether this community's panels decide every review, and this one can have a panel."""
    return (
        settings.who_decides == WhoDecides.PANEL
        and panels.is_reviewed_by_raters(action)
        and action.note_id == note.id
        and not panels.is_too_small(session, action.community_id)
    )


def open_if_doubted(
    session: Session, action: Action, note: Note, scored: Scored, verdict: Verdict, *, earlier: Panel | None
) -> bool:
    """Open a panel if these ratings would decide the review and there is reason for doubt.

    Return whether a panel decides, opened now or before. ``note`` is what they rated: the action's rationale, or a note
    that would end the review. ``earlier`` is the action's newest panel.
    """
    if verdict.status is NoteStatus.NEEDS_MORE_RATINGS or not panels.is_reviewed_by_raters(action):
        return False
    panel = panels.of_review(earlier, action)
    if panel is not None:
        # One that ended could not be filled, so that everybody's ratings decide. An open one decides, also if the
        # community has chosen something else since.
        return panel.ended_at is None
    if scored.fit.settings.who_decides == WhoDecides.EVERYONE or panels.is_too_small(
        session, action.community_id
    ):
        return False
    if scored.fit.settings.who_decides == WhoDecides.PANEL:
        reason: str | None = panels.ALWAYS
    elif earlier is not None and earlier.outcome is PanelOutcome.DECIDED:
        reason = doubts.BEFORE
    else:
        reason = doubts.find(session, note, scored)
    if reason is None:
        burst = bursts.suspicious(session, action, note)
        reason = burst.cause if burst is not None else None
    return reason is not None and open_panel(session, action, reason, earlier=earlier)


def freed_notes(session: Session, note_id: uuid.UUID) -> Sequence[Note]:
    """The notes that decide a review after its panel could not be drawn, by the rationale of the review.

    First the rationale, then the notes of the same post that say it is not misleading: they could end the review.
    """
    posts = sa.select(Action.request_id).where(Action.note_id == note_id)
    return [
        session.get_one(Note, note_id),
        *session.scalars(
            sa.select(Note)
            .where(
                Note.request_id.in_(posts),
                Note.id != note_id,
                Note.classification == Classification.NOT_MISLEADING,
                Note.status == NoteStatus.CURRENTLY_RATED_HELPFUL,
                Note.deleted_at.is_(None),
            )
            .order_by(Note.id)
        ),
    ]


def open_panel(session: Session, action: Action, reason: str, *, earlier: Panel | None) -> bool:
    """Open a panel for the action's review, which is drawn after the commit. Return whether there is one.

    ``earlier`` is the action's newest panel.
    """
    if panels.open_for(session, action, reason, earlier=earlier) is None:
        return False
    session.flush()
    panels_due.ask(session, action.community_id)
    return True
