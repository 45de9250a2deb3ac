"""What people may learn about panels: until when one can decide, and how it decided (docs/moderate/panels.md)."""

import uuid
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core.models import Action, Panel, PanelRoll, Rating
from app.core.panels import panels
from app.core.scoring import Counts
from app.core.vocabulary import HelpfulnessLevel


def closes_at(session: Session, action: Action) -> datetime | None:
    """Until when the action's open panel can decide; None if it has none.

    Nobody learns more about an open panel: a moderator who compared the number of answers with the list of ratings
    would find out who sits on it.
    """
    panel = panels.newest(session, action.id)
    if panel is None or panel.ended_at is not None or not panels.is_reviewed_by_raters(action):
        return None
    return panel.opened_at + panels.LONGEST


@dataclass(frozen=True)
class Decided:
    """A panel that decided a review: its answers, those of the volunteers, and what the draw can be checked with."""

    id: uuid.UUID
    seats: int
    answered: int
    panel: Counts
    volunteers: Counts
    reason: str
    ended_at: datetime
    seed: str
    eligible: int
    eligible_digest: str


def decided(session: Session, note_id: uuid.UUID) -> Decided | None:
    """The panel that decided what this note is the rationale of; None while a review is open, or without one."""
    found = session.execute(
        sa.select(Panel, PanelRoll.people, PanelRoll.digest, Action)
        .join(Action, Action.id == Panel.action_id)
        .outerjoin(PanelRoll, PanelRoll.id == Panel.roll_id)
        .where(Panel.note_id == note_id)
        .order_by(Panel.ended_at.is_(None).desc(), Panel.opened_at.desc())
        .limit(1)
    ).first()
    if found is None or not panels.has_decided(found[0], found[3]):
        return None
    panel, people, digest, _ = found
    own = Counts(panel.not_helpful, panel.somewhat_helpful, panel.helpful)
    rows = session.execute(
        sa.select(Rating.helpfulness_level, sa.func.count())
        .where(Rating.note_id == note_id)
        .group_by(Rating.helpfulness_level)
    )
    total = {level: count for level, count in rows}
    return Decided(
        id=panel.id,
        seats=panel.wanted,
        answered=panel.answered,
        panel=own,
        volunteers=Counts(
            max(0, total.get(HelpfulnessLevel.NOT_HELPFUL, 0) - own.not_helpful),
            max(0, total.get(HelpfulnessLevel.SOMEWHAT_HELPFUL, 0) - own.somewhat_helpful),
            max(0, total.get(HelpfulnessLevel.HELPFUL, 0) - own.helpful),
        ),
        reason=panel.reason,
        ended_at=panel.ended_at or panel.opened_at,
        seed=panel.seed.hex(),
        eligible=people or 0,
        eligible_digest=digest or "",
    )
