"""Has the job look at drawn panels: that of a review which ended some other way, or all of a community.

Here and not beside the panels, because moves of actions need it (docs/moderate/panels.md).
"""

import uuid

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock, outbox
from app.core.models import Action, Panel

TEND_JOB = "tend_panels"


def wake(session: Session, action: Action) -> None:
    """Have the job look at the action's open panel after the commit: one look-up where there is none."""
    woken = session.execute(
        sa.update(Panel)
        .where(Panel.action_id == action.id, Panel.ended_at.is_(None))
        .values(due_at=clock.now())
        .execution_options(synchronize_session=False)
    )
    if woken.rowcount:  # type: ignore[attr-defined]  # an UPDATE's result is a CursorResult
        ask(session, action.community_id)


def ask(session: Session, community_id: uuid.UUID) -> None:
    """Have the job look at the community's panels as soon as this transaction commits."""
    outbox.enqueue(session, TEND_JOB, {"community_id": str(community_id)}, community_id=community_id)
