"""My impact page: the outcomes of the reader's ratings and notes, with the rows behind each number."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from flask import Response, url_for
from sqlalchemy.orm import Session

from app.core.errors import Invalid
from app.core.helpfulness import eligibility, viewpoints
from app.core.helpfulness.eligibility import Exclusion
from app.core.models import Action, Note
from app.core.notes import blindness
from app.core.notes.blindness import is_decided, is_for_raters
from app.core.paging import Slice
from app.core.permissions import Permission
from app.core.raters import impact
from app.core.raters.impact import Impact, NoteOutcome, NoteRow, RatingOutcome, RatingRow
from app.core.vocabulary import HelpfulnessLevel
from app.process.replica_reads import may_be_old
from app.web import auth, community_choice, forms, page
from app.web.blueprint import web
from app.web.categories import HIDDEN, category_name, is_veiled
from app.web.filters import counted, excerpt
from app.web.item.note_views import LEVEL_WORDS
from app.web.item.views import ANSWER_WORDS, ANSWERS
from app.web.rate import cards, own_reports
from app.web.viewpoints import StripView, draw_strip
from app.wiring import wired

PAGE_SIZE = 20

_ANSWERED = {level: ANSWER_WORDS[value] for value, level in ANSWERS.items()}


@dataclass(frozen=True)
class Line:
    """One number of a table: what it counts, the points for each, and the URL of its rows (None if there are none)."""

    words: str
    count: int
    adds: int
    url: str | None
    is_shown: bool

    @property
    def total(self) -> str:
        """The total points with a sign."""
        return with_sign(self.count * self.adds)


@dataclass(frozen=True)
class Row:
    """A rating or a note of the reader. ``url`` is None if it can no longer be opened.

    ``left_out``: why a rating does not count; shown after "Not counted:".
    """

    id: uuid.UUID
    text: str
    is_veiled: bool
    about: str
    said: str
    icon: str
    became: str
    at: datetime
    url: str | None
    change_url: str | None
    change: str
    left_out: str | None = None


_RATINGS: Mapping[RatingOutcome, tuple[str, int]] = {
    RatingOutcome.MATCHED: ("Others came to the same view", 1),
    RatingOutcome.MISMATCHED: ("Others came to the opposite view", -1),
    RatingOutcome.TWICE: ("Of these, wrongly called helpful: counts once more", -1),
    RatingOutcome.NEUTRAL: ("You were not sure", 0),
    RatingOutcome.AFTER: ("Given after the outcome was shown: not judged", 0),
    RatingOutcome.WAITING: ("No status yet", 0),
    RatingOutcome.STALE: ("The note was changed after you rated it", 0),
}
_NOTES: Mapping[NoteOutcome, tuple[str, int]] = {
    NoteOutcome.HELPFUL: ("Rated helpful", 1),
    NoteOutcome.NOT_HELPFUL: ("Rated not helpful", -1),
    NoteOutcome.WAITING: ("No status yet", 0),
}
_BECAME: Mapping[RatingOutcome, tuple[str, str]] = {
    RatingOutcome.MATCHED: ("circle-check", "Same view as others"),
    RatingOutcome.MISMATCHED: ("circle-x", "Opposite view"),
    RatingOutcome.TWICE: ("circle-x", "Opposite view, counts twice"),
    RatingOutcome.NEUTRAL: ("circle-dashed", "You were not sure"),
    RatingOutcome.AFTER: ("circle-dashed", "Given after the outcome"),
    RatingOutcome.WAITING: ("hourglass", "No status yet"),
    RatingOutcome.STALE: ("pencil", "The note was changed since"),
}
_WROTE: Mapping[NoteOutcome, tuple[str, str]] = {
    NoteOutcome.HELPFUL: ("thumbs-up", "Rated helpful"),
    NoteOutcome.NOT_HELPFUL: ("thumbs-down", "Rated not helpful"),
    NoteOutcome.WAITING: ("hourglass", "No status yet"),
}
_NOTE_PREFIX = "notes"


@web.get("/me")
@auth.needs(Permission.RATE)
@may_be_old
def my_impact() -> Response:
    selection = forms.query_arg("show")
    actor, community = auth.current_actor(), auth.current_community()
    page_slice = _slice()
    with wired().database.reading() as session:
        figures = impact.for_actor(session, actor, community.id)
        today = cards.today(session)
        rows, count, previous, following = _rows(session, community.id, figures, selection, page_slice)
        latest = None if selection else _latest(session, community.id)
        reported = own_reports.shown(session, actor, community.id)
    links = page.PageLinks(
        previous=rows_url(selection, before=previous) if previous else None,
        next=rows_url(selection, after=following) if following else None,
        summary=counted(count, "row"),
    )
    return page.render(
        "rate/me.html",
        impact=figures,
        today=today,
        seen_today=[
            (category_name(name), count)
            for name, count in sorted(today.by_category.items(), key=lambda pair: (-pair[1], pair[0] or ""))
        ],
        rating_impact=with_sign(figures.rating),
        writing_impact=with_sign(figures.writing),
        rating_lines=_rating_lines(figures, selection),
        note_lines=_note_lines(figures, selection),
        latest=latest,
        reports=reported,
        title=_title(selection),
        shows_notes=_is_notes(selection),
        rows=rows,
        links=links,
        all_url=rows_url("") if selection else None,
        notes_url=rows_url(_NOTE_PREFIX) if not selection else None,
    )


def with_sign(number: int) -> str:
    """Return a number with its sign: +3, 0, \u22122."""
    return f"+{number}" if number > 0 else f"\u2212{-number}" if number < 0 else "0"


@dataclass(frozen=True)
class LatestAnswer:
    """The person's latest answer with an outcome; ``strip`` is None where the community shows no camps.

    Their own answer is not marked in it: who knows their side could choose what to answer for it.
    """

    row: Row
    strip: StripView | None


def _latest(session: Session, community_id: uuid.UUID) -> LatestAnswer | None:
    latest = impact.latest_decided(session, auth.current_actor(), community_id)
    if latest is None:
        return None
    strip = viewpoints.of_note(session, latest.note)
    view = draw_strip(strip, is_question=latest.note.rationale) if strip is not None else None
    return LatestAnswer(_rating_row(latest), view)


def _slice() -> Slice:
    return Slice(
        size=PAGE_SIZE, after=forms.query_arg("after") or None, before=forms.query_arg("before") or None
    )


def _rows(
    session: Session, community_id: uuid.UUID, figures: Impact, selection: str, page_slice: Slice
) -> tuple[Sequence[Row], int, str | None, str | None]:
    actor = auth.current_actor()
    if _is_notes(selection):
        name = selection.removeprefix(_NOTE_PREFIX).removeprefix("-")
        wrote = _chosen(NoteOutcome, name)
        notes = impact.notes(session, actor, community_id, page_slice, wrote)
        return [_note_row(row) for row in notes.rows], notes.count, notes.previous, notes.next
    ratings = impact.ratings(
        session, actor, community_id, page_slice, _chosen(RatingOutcome, selection), figures
    )
    return [_rating_row(row) for row in ratings.rows], ratings.count, ratings.previous, ratings.next


def _chosen(words: Any, name: str) -> Any:
    """Return the enum value of this name; None if the name is empty.

    Raises:
        Invalid: there is no such value.
    """
    if not name:
        return None
    try:
        return words(name)
    except ValueError:
        raise Invalid.field("show", "names no number of this page", name[:50]) from None


def _is_notes(selection: str) -> bool:
    return selection == _NOTE_PREFIX or selection.startswith(f"{_NOTE_PREFIX}-")


def _title(selection: str) -> str:
    if _is_notes(selection):
        wrote = _chosen(NoteOutcome, selection.removeprefix(_NOTE_PREFIX).removeprefix("-"))
        return f"Your notes: {_NOTES[wrote][0].lower()}" if wrote else "Your notes"
    became = _chosen(RatingOutcome, selection)
    return f"Your ratings: {_BECAME[became][1].lower()}" if became else "Your ratings"


def _rating_lines(figures: Impact, selection: str) -> list[Line]:
    counts = {
        RatingOutcome.MATCHED: figures.matched,
        RatingOutcome.MISMATCHED: figures.mismatched,
        RatingOutcome.TWICE: figures.twice,
        RatingOutcome.NEUTRAL: figures.neutral,
        RatingOutcome.AFTER: figures.after,
        RatingOutcome.WAITING: figures.waiting,
        RatingOutcome.STALE: figures.stale,
    }
    return [
        Line(words, counts[name], adds, rows_url(name) if counts[name] else None, selection == name)
        for name, (words, adds) in _RATINGS.items()
        if counts[name] or name not in {RatingOutcome.AFTER, RatingOutcome.STALE}
    ]


def _note_lines(figures: Impact, selection: str) -> list[Line]:
    counts = {
        NoteOutcome.HELPFUL: figures.notes_helpful,
        NoteOutcome.NOT_HELPFUL: figures.notes_not_helpful,
        NoteOutcome.WAITING: figures.notes_waiting,
    }
    lines = []
    for name, (words, adds) in _NOTES.items():
        value = f"{_NOTE_PREFIX}-{name}"
        lines.append(
            Line(words, counts[name], adds, rows_url(value) if counts[name] else None, selection == value)
        )
    return lines


def rows_url(shown: str, **more: str) -> str:
    """Return the address of the rows behind a number: a ``RatingOutcome``, or ``notes-`` and a ``NoteOutcome``."""
    query = {**community_choice.carried(), **({"show": shown} if shown else {}), **more}
    return url_for("web.my_impact") + (f"?{urlencode(query)}" if query else "") + "#rows"


def _rating_row(row: RatingRow) -> Row:
    note, action = row.note, row.action
    level = row.rating.blind_level or row.rating.helpfulness_level
    is_settled = note.rationale and action is not None and blindness.is_settled(action, row.rating)
    url = _url(note, action)
    icon, became = _BECAME[row.became]
    if row.became is RatingOutcome.WAITING and note.rationale and action is not None and is_decided(action):
        icon, became = "circle-minus", "Ended without agreement"
    text, veiled = _text(note, action)
    return Row(
        id=row.rating.id,
        text=text,
        is_veiled=veiled,
        about=category_name(action.category) if note.rationale and action is not None else "Note",
        said=_ANSWERED[level] if note.rationale else LEVEL_WORDS[HelpfulnessLevel(level)],
        icon=icon,
        became=became,
        at=row.rating.updated_at,
        url=url,
        change_url=url if not blindness.is_closed(note, action) and not is_settled else None,
        change="Change answer" if note.rationale else "Change rating",
        left_out=_not_counted(row),
    )


def _note_row(row: NoteRow) -> Row:
    icon, became = _WROTE[row.became]
    return Row(
        id=row.note.id,
        text=excerpt(row.note.summary),
        is_veiled=False,
        about="Note",
        said="",
        icon=icon,
        became=became,
        at=row.note.created_at,
        url=url_for("web.note", note_id=row.note.id),
        change_url=url_for("web.edit_note", note_id=row.note.id) if not row.note.locked else None,
        change="Edit",
    )


def _text(note: Note, action: Action | None) -> tuple[str, bool]:
    """Return the text of a row: for an item's rationale the post, for other notes their text."""
    if note.request is not None and note.request.withdrawn_at is not None:
        return "The post was withdrawn", True
    if not note.rationale or note.request is None:
        return excerpt(note.summary), False
    warn = auth.current_reader().account.content_warnings
    if action is not None and is_veiled(action.category, warn=warn):
        return HIDDEN, True
    return excerpt(note.request.content), False


def _url(note: Note, action: Action | None) -> str | None:
    """Return the URL of the item or note; None if it is now handled by staff, or the post was withdrawn."""
    if note.request is not None and note.request.withdrawn_at is not None:
        return None
    if not note.rationale:
        return url_for("web.note", note_id=note.id)
    if action is None or note.request is None:
        return None
    if not is_for_raters(action) and not auth.may(Permission.MODERATE, action.community_id):
        return None
    return url_for("web.item", action_id=action.id)


def _not_counted(row: RatingRow) -> str | None:
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
