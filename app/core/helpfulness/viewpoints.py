"""The viewpoint strip of a stored note, from the fit in force. Callers show it only of what is decided.

It holds what was said before the outcome could be seen, and so stays as it is: of a strip that moved with an answer one
could read off on which side the person stands who just gave or changed it.
"""

from sqlalchemy.orm import Session

from app.core.helpfulness import note_scores
from app.core.models import Note, Rating
from app.core.scoring import VALUES, Strip, strip

MOST = 1_000
"""The most answers that are laid out: the earliest ones. More would only make the same marks heavier."""


def of_note(session: Session, note: Note) -> Strip | None:
    """Lay out the answers to a note; None where the fit finds no camps. At most three statements."""
    fit = note_scores.in_force(session, note.community_id)
    model = fit.model_of(note)
    if not model.axis:
        return None
    answers = session.execute(
        note_scores.counting(note)
        .with_only_columns(Rating.rater_id, Rating.blind_level)
        .where(Rating.blind_level.is_not(None))
        .limit(MOST)
    ).all()
    known = note_scores.raters(session, fit, [rater_id for rater_id, _ in answers])
    return strip([(known.get(rater_id), VALUES[level]) for rater_id, level in answers if level], model)
