"""Why a rating of the reader's did not count or decide, in words."""

from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Exclusion
from app.core.notes.blindness import is_for_raters
from app.core.raters.impact import RatingOutcome, RatingRow


def reason(row: RatingRow) -> str | None:
    """Return why a rating did not count or decide, from what is stored; shown after "Not counted:"."""
    rating, note = row.rating, row.note
    if row.became is RatingOutcome.STALE:
        return "it was for an earlier text of the note; rate the new one"
    if rating.exclusion_reason is not None:
        try:
            return eligibility.TO_THE_RATER[Exclusion(rating.exclusion_reason)]
        except ValueError:
            return "an earlier rule left it out"
    if note.status_locked_at is not None and rating.created_at > note.status_locked_at:
        return "the status was final by then"
    if row.became is RatingOutcome.WAITING:
        # Before the decision nothing is said of it, but that a review left the raters is theirs to know.
        is_staffs = row.action is not None and note.rationale and not is_for_raters(row.action)
        return "the review went to the moderators, who decide it" if is_staffs else None
    return "a moderator decided, not the ratings" if note.locked else None
