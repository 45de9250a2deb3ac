"""Notes for raters' pages. Like ``views``, these classes contain only what a rater may see (blind review)."""

import uuid
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from app.core.models import Note, Rating
from app.core.notes import ratings
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.thresholds.routing import MISINFORMATION
from app.core.vocabulary import Classification, HelpfulnessLevel, NoteStatus
from app.web.item.views import Progress

CLASSIFICATIONS = {
    Classification.MISLEADING: lazy_gettext("Misinformed or potentially misleading"),
    Classification.NOT_MISLEADING: lazy_gettext("Not misleading"),
}
WHY_MISLEADING = {
    "factual_error": lazy_gettext("It says something that is wrong"),
    "missing_context": lazy_gettext("It leaves out something important"),
    "outdated": lazy_gettext("It was true once, but is outdated"),
    "unverified": lazy_gettext("It states a guess as a fact"),
    "manipulated": lazy_gettext("A picture, recording or quotation was altered"),
    "satire": lazy_gettext("It is satire that people may take seriously"),
    "other": lazy_gettext("Something else"),
}
WHY_NOT_MISLEADING = {
    "correct": lazy_gettext("It is factually correct"),
    "correct_then": lazy_gettext("It was correct when it was written"),
    "clear_satire": lazy_gettext("It is clearly satire"),
    "opinion": lazy_gettext("It is a personal opinion"),
    "fine_other": lazy_gettext("Something else"),
}
GOOD_POINTS = {
    "good_sources": lazy_gettext("Cites good sources"),
    "clear": lazy_gettext("Easy to understand"),
    "addresses_claim": lazy_gettext("Answers the post directly"),
    "adds_context": lazy_gettext("Adds important context"),
    "neutral": lazy_gettext("Neutral wording"),
}
BAD_POINTS = {
    "poor_sources": lazy_gettext("Sources missing or unreliable"),
    "not_in_sources": lazy_gettext("Sources do not say this"),
    "incorrect": lazy_gettext("Something in it is wrong"),
    "opinion_note": lazy_gettext("Opinion or guess"),
    "unclear": lazy_gettext("Hard to understand"),
    "misses_point": lazy_gettext("Misses the point"),
    "biased": lazy_gettext("Argues or takes sides"),
    "not_needed": lazy_gettext("Not needed on this post"),
}
_REASON_WORDS = WHY_MISLEADING | WHY_NOT_MISLEADING | GOOD_POINTS | BAD_POINTS
LEVELS = (
    (HelpfulnessLevel.HELPFUL.value, lazy_gettext("Helpful"), "thumbs-up"),
    (HelpfulnessLevel.NOT_HELPFUL.value, lazy_gettext("Not helpful"), "thumbs-down"),
    (HelpfulnessLevel.SOMEWHAT_HELPFUL.value, lazy_gettext("Somewhat"), "circle-question-mark"),
)
"""In the order of the keys 1, 2 and 3, which mean the same as for posts: for it, against it, in between."""
LEVEL_WORDS = {HelpfulnessLevel(value): label for value, label, _icon in LEVELS}
POINT_KEYS = dict(zip((*GOOD_POINTS, *BAD_POINTS), "AEHILBMOQRXYZ", strict=True))
"""The key that ticks each reason; letters that no other key of these pages uses."""


@dataclass(frozen=True)
class NoteView:
    """A person's or a model's note. ``status`` and ``progress`` are None unless the reader has rated it or wrote it.

    ``classification`` is None if the note's author was not asked whether the post is misleading. ``ai_help`` names the
    model whose draft a person's note began as, or is None. ``kept``: why the reader cannot take their rating back.
    """

    id: uuid.UUID
    summary: str
    classification: str | None
    reasons: tuple[str, ...]
    sources: tuple[str, ...]
    is_ai: bool
    ai_help: str | None
    is_own: bool
    is_edited: bool
    written_at: datetime
    own_level: str | None
    own_reasons: tuple[str, ...]
    kept: str | None
    is_open: bool
    status: str | None
    explanation: str | None
    progress: Progress | None

    @property
    def may_undo(self) -> bool:
        """Whether the reader can take their rating back."""
        return self.own_level is not None and self.kept is None


def note_view(
    note: Note, action: Asked | None, *, mine: Collection[uuid.UUID], own: Rating | None, needed: int
) -> NoteView:
    """Return a note as this reader may see it; ``mine`` are the ids of the reader's profiles."""
    is_own = note.author_id in mine
    current = own if own is not None and own.note_version == note.version else None
    is_seen = is_own or current is not None
    return NoteView(
        id=note.id,
        summary=note.summary,
        classification=classified(note.classification, action),
        reasons=tuple(_REASON_WORDS[reason] for reason in note.reasons if reason in _REASON_WORDS),
        sources=tuple(note.sources),
        is_ai=note.ai_generated,
        ai_help=None if note.ai_generated else note.ai_model,
        is_own=is_own,
        is_edited=note.version > 1,
        written_at=note.created_at,
        own_level=LEVEL_WORDS[current.helpfulness_level] if current else None,
        own_reasons=tuple(_REASON_WORDS[reason] for reason in current.reasons if reason in _REASON_WORDS)
        if current
        else (),
        kept=ratings.kept_because(note, None, current) if current else None,
        is_open=not note.locked,
        status=note.status.value if is_seen else None,
        explanation=explained(note, needed) if is_seen else None,
        progress=Progress(note.ratings_count, needed)
        if is_seen and note.status is NoteStatus.NEEDS_MORE_RATINGS
        else None,
    )


def classified(says: Classification, action: Asked | None) -> str | None:
    """Return a note's classification as text. "Not misleading" is left out unless the item is about misinformation."""
    is_misinformation = action is not None and action.category == MISINFORMATION
    return CLASSIFICATIONS[says] if is_misinformation or says is Classification.MISLEADING else None


def explained(note: Note, needed: int) -> str:
    """Return why a note has its status, in one sentence."""
    if note.status is NoteStatus.CURRENTLY_RATED_HELPFUL:
        if note.force_published:
            return _("A moderator published this note.")
        return _("Enough people found it helpful, so it is shown with the post.")
    if note.status is NoteStatus.CURRENTLY_RATED_NOT_HELPFUL:
        if note.dismissed_at is not None:
            return _("A moderator dismissed this note.")
        return _("Enough people found it not helpful, so it is not shown with the post.")
    if note.ratings_count < needed:
        return _(
            "It gets a status after %(needed)s ratings, if people who usually disagree agree by then.",
            needed=needed,
        )
    return _("There are enough ratings, but people who usually disagree do not agree on it yet.")
