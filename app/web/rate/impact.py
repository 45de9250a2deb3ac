"""My impact: what became of one's ratings and notes, with the rows behind every number."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from flask import Response, url_for
from sqlalchemy.orm import Session

from app.core.errors import Invalid
from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Exclusion
from app.core.models import Action, Note
from app.core.notes import blindness, rating_locks
from app.core.notes.blindness import is_decided, is_for_raters
from app.core.paging import Slice
from app.core.permissions import Permission
from app.core.raters import impact
from app.core.raters.impact import Became, Impact, NoteRow, RatingRow, Wrote
from app.core.vocabulary import HelpfulnessLevel
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.categories import HIDDEN, category_name, is_veiled
from app.web.filters import excerpt
from app.web.item.note_views import LEVEL_WORDS
from app.web.item.views import ANSWER_WORDS, ANSWERS
from app.wiring import wired

PAGE_SIZE = 20

_ANSWERED = {level: ANSWER_WORDS[value] for value, level in ANSWERS.items()}


@dataclass(frozen=True)
class Line:
    """One number of a table: what it counts, what each adds, and the address of its rows (None: there are none)."""

    words: str
    count: int
    adds: int
    url: str | None
    is_shown: bool

    @property
    def total(self) -> str:
        """What it adds in all, with its sign."""
        return signed(self.count * self.adds)


@dataclass(frozen=True)
class Row:
    """A rating or a note of one's own. ``url`` None: it is not there to be opened any more.

    ``left_out``: why a rating does not count, after "Not counted:".
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


_RATINGS: Mapping[Became, tuple[str, int]] = {
    Became.MATCHED: ("Others came to the same view", 1),
    Became.MISMATCHED: ("Others came to the opposite view", -1),
    Became.TWICE: ("Of these, wrongly called helpful: counts once more", -1),
    Became.NEUTRAL: ("You were not sure", 0),
    Became.AFTER: ("Given after the outcome was shown: not judged", 0),
    Became.WAITING: ("No status yet", 0),
}
_NOTES: Mapping[Wrote, tuple[str, int]] = {
    Wrote.HELPFUL: ("Rated helpful", 1),
    Wrote.NOT_HELPFUL: ("Rated not helpful", -1),
    Wrote.WAITING: ("No status yet", 0),
}
_BECAME: Mapping[Became, tuple[str, str]] = {
    Became.MATCHED: ("circle-check", "Same view as others"),
    Became.MISMATCHED: ("circle-x", "Opposite view"),
    Became.TWICE: ("circle-x", "Opposite view, counts twice"),
    Became.NEUTRAL: ("circle-dashed", "You were not sure"),
    Became.AFTER: ("circle-dashed", "Given after the outcome"),
    Became.WAITING: ("hourglass", "No status yet"),
}
_WROTE: Mapping[Wrote, tuple[str, str]] = {
    Wrote.HELPFUL: ("thumbs-up", "Rated helpful"),
    Wrote.NOT_HELPFUL: ("thumbs-down", "Rated not helpful"),
    Wrote.WAITING: ("hourglass", "No status yet"),
}
_NOTE_PREFIX = "notes"


@web.get("/me")
@auth.needs(Permission.RATE)
def my_impact() -> Response:
    shown = forms.from_address("show")
    actor, community = auth.current_actor(), auth.current_community()
    wanted = _slice()
    with wired().database.reading() as session:
        found = impact.of(session, actor, community.id)
        rows, count, previous, following = _rows(session, community.id, shown, wanted)
    links = page.PageLinks(
        previous=_address(shown, before=previous) if previous else None,
        next=_address(shown, after=following) if following else None,
        summary=f"{count:,} {'row' if count == 1 else 'rows'}",
    )
    return page.render(
        "rate/me.html",
        impact=found,
        rating_impact=signed(found.rating),
        writing_impact=signed(found.writing),
        rating_lines=_rating_lines(found, shown),
        note_lines=_note_lines(found, shown),
        title=_title(shown),
        shows_notes=_is_notes(shown),
        rows=rows,
        links=links,
        all_url=_address("") if shown else None,
        notes_url=_address(_NOTE_PREFIX) if not shown else None,
    )


def signed(number: int) -> str:
    """A number with its sign, as people read it: +3, 0, \u22122."""
    return f"+{number}" if number > 0 else f"\u2212{-number}" if number < 0 else "0"


def _slice() -> Slice:
    return Slice(
        size=PAGE_SIZE,
        after=forms.from_address("after") or None,
        before=forms.from_address("before") or None,
    )


def _rows(
    session: Session, community_id: uuid.UUID, shown: str, wanted: Slice
) -> tuple[Sequence[Row], int, str | None, str | None]:
    actor = auth.current_actor()
    if _is_notes(shown):
        name = shown.removeprefix(_NOTE_PREFIX).removeprefix("-")
        wrote = _chosen(Wrote, name)
        notes = impact.notes(session, actor, community_id, wanted, wrote)
        return [_note_row(one) for one in notes.rows], notes.count, notes.previous, notes.next
    ratings = impact.ratings(session, actor, community_id, wanted, _chosen(Became, shown))
    return [_rating_row(one) for one in ratings.rows], ratings.count, ratings.previous, ratings.next


def _chosen(words: Any, name: str) -> Any:
    """The word of that name; None when none is asked for.

    Raises:
        Invalid: no number has that name.
    """
    if not name:
        return None
    try:
        return words(name)
    except ValueError:
        raise Invalid.field("show", "names no number of this page", name[:50]) from None


def _is_notes(shown: str) -> bool:
    return shown == _NOTE_PREFIX or shown.startswith(f"{_NOTE_PREFIX}-")


def _title(shown: str) -> str:
    if _is_notes(shown):
        wrote = _chosen(Wrote, shown.removeprefix(_NOTE_PREFIX).removeprefix("-"))
        return f"Your notes: {_NOTES[wrote][0].lower()}" if wrote else "Your notes"
    became = _chosen(Became, shown)
    return f"Your ratings: {_BECAME[became][1].lower()}" if became else "Your ratings"


def _rating_lines(found: Impact, shown: str) -> list[Line]:
    counts = {
        Became.MATCHED: found.matched,
        Became.MISMATCHED: found.mismatched,
        Became.TWICE: found.twice,
        Became.NEUTRAL: found.neutral,
        Became.AFTER: found.after,
        Became.WAITING: found.waiting,
    }
    return [
        Line(words, counts[name], adds, _address(name) if counts[name] else None, shown == name)
        for name, (words, adds) in _RATINGS.items()
        if counts[name] or name is not Became.AFTER
    ]


def _note_lines(found: Impact, shown: str) -> list[Line]:
    counts = {
        Wrote.HELPFUL: found.notes_helpful,
        Wrote.NOT_HELPFUL: found.notes_not_helpful,
        Wrote.WAITING: found.notes_waiting,
    }
    lines = []
    for name, (words, adds) in _NOTES.items():
        value = f"{_NOTE_PREFIX}-{name}"
        lines.append(
            Line(words, counts[name], adds, _address(value) if counts[name] else None, shown == value)
        )
    return lines


def _address(shown: str, **more: str) -> str:
    community = forms.from_address("community")
    query = {**({"community": community} if community else {}), **({"show": shown} if shown else {}), **more}
    return url_for("web.my_impact") + (f"?{urlencode(query)}" if query else "") + "#rows"


def _rating_row(row: RatingRow) -> Row:
    note, action = row.note, row.action
    level = row.rating.blind_level or row.rating.helpfulness_level
    is_settled = note.rationale and action is not None and blindness.is_settled(action, row.rating)
    url = _url(note, action)
    icon, became = _BECAME[row.became]
    if row.became is Became.WAITING and note.rationale and action is not None and is_decided(action):
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
        change_url=url if not rating_locks.is_closed(note, action) and not is_settled else None,
        change="Change answer" if note.rationale else "Change rating",
        left_out=_left_out(row.rating.excluded),
    )


def _left_out(exclusion: str | None) -> str | None:
    if exclusion is None:
        return None
    try:
        return eligibility.TO_THE_RATER[Exclusion(exclusion)]
    except ValueError:
        return "an earlier rule left it out"


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
    """What a row shows: of the rationale of an item the post, of a note its text."""
    if not note.rationale or note.request is None:
        return excerpt(note.summary), False
    if note.request.withdrawn_at is not None:
        return "The post was withdrawn", True
    warn = auth.current_reader().account.content_warnings
    if action is not None and is_veiled(action.category, warn=warn):
        return HIDDEN, True
    return excerpt(note.request.content), False


def _url(note: Note, action: Action | None) -> str | None:
    """Where the question can be seen again; None when it is staff's now, or the post was withdrawn."""
    if not note.rationale:
        return url_for("web.note", note_id=note.id)
    if action is None or note.request is None or note.request.withdrawn_at is not None:
        return None
    if not is_for_raters(action) and not auth.may(Permission.MODERATE, action.community_id):
        return None
    return url_for("web.item", action_id=action.id)
