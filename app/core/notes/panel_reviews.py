"""Which reviews get a drawn panel: all of a community, or those that give reason for doubt (docs/panels.md)."""

from sqlalchemy.orm import Session

from app.core.actions import panels_due
from app.core.communities.settings import CommunitySettings
from app.core.helpfulness.note_scores import Scored
from app.core.models import Action, Note, Panel
from app.core.notes import bursts
from app.core.panels import doubts, panels
from app.core.scoring import Verdict
from app.core.vocabulary import NoteStatus, PanelOutcome, WhoDecides


def is_always(session: Session, action: Action, note: Note, settings: CommunitySettings) -> bool:
    """Whether this community's panels decide every review, and this one can have a panel."""
    return (
        settings.who_decides == WhoDecides.PANEL
        and panels.is_reviewed_by_raters(action)
        and action.note_id == note.id
        and not panels.is_too_small(session, action.community_id)
    )


def open_if_doubted(session: Session, action: Action, note: Note, scored: Scored, verdict: Verdict) -> bool:
    """Open a panel if these ratings would decide the review and there is reason for doubt. Return whether it opened.

    ``note`` is what they rated: the action's rationale, or a note that would end the review.
    """
    if (
        scored.fit.settings.who_decides == WhoDecides.EVERYONE
        or verdict.status is NoteStatus.NEEDS_MORE_RATINGS
        or not panels.is_reviewed_by_raters(action)
        or panels.is_too_small(session, action.community_id)
    ):
        return False
    earlier = panels.newest(session, action.id)
    panel = panels.of_review(earlier, action)
    if panel is not None:
        # One that ended could not be filled, so that everybody's ratings decide.
        return panel.ended_at is None
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


def open_panel(session: Session, action: Action, reason: str, *, earlier: Panel | None) -> bool:
    """Open a panel for the action's review, which is drawn after the commit. Return whether there is one.

    ``earlier`` is the action's newest panel.
    """
    if panels.open_for(session, action, reason, earlier=earlier) is None:
        return False
    panels_due.ask(session, action.community_id)
    return True
