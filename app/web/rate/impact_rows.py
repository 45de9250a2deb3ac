"""The rows behind the numbers of My impact: ratings, notes, and what was answered or skipped in a period."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from flask import url_for
from sqlalchemy.orm import Session

from app.core.helpfulness import eligibility
from app.core.helpfulness.eligibility import Exclusion
from app.core.models import Action, Note, Rating, SampleAnswer
from app.core.notes import blindness
from app.core.notes.blindness import is_decided, is_for_raters
from app.core.permissions import Permission
from app.core.raters import impact, notes_needed, samples
from app.core.raters.answers import What
from app.core.raters.impact import NoteOutcome, NoteRow, RatingOutcome, RatingRow
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import HelpfulnessLevel
from app.web import auth
from app.web.categories import HIDDEN, category_name
from app.web.filters import excerpt
from app.web.item.note_views import LEVEL_WORDS
from app.web.item.views import ANSWER_WORDS, ANSWERS
from app.web.veils import is_veiled

_ANSWERED = {level: ANSWER_WORDS[value] for value, level in ANSWERS.items()}


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
    change_url: str | None = None
    change: str = ""
    left_out: str | None = None


BECAME: Mapping[RatingOutcome, tuple[str, str]] = {
    RatingOutcome.MATCHED: ("circle-check", lazy_gettext("Same view as others")),
    RatingOutcome.DECIDED: ("circle-check", lazy_gettext("Decided something")),
    RatingOutcome.MISMATCHED: ("circle-x", lazy_gettext("Opposite view")),
    RatingOutcome.TWICE: ("circle-x", lazy_gettext("Called helpful, turned out not")),
    RatingOutcome.NEUTRAL: ("circle-dashed", lazy_gettext("You were not sure")),
    RatingOutcome.AFTER: ("circle-dashed", lazy_gettext("Given after the outcome")),
    RatingOutcome.WAITING: ("hourglass", lazy_gettext("No status yet")),
    RatingOutcome.STALE: ("pencil", lazy_gettext("The note was changed since")),
}
CLOSED = ("circle-minus", lazy_gettext("The question was closed"))
_WROTE: Mapping[NoteOutcome, tuple[str, str]] = {
    NoteOutcome.HELPFUL: ("thumbs-up", lazy_gettext("Rated helpful")),
    NoteOutcome.NOT_HELPFUL: ("thumbs-down", lazy_gettext("Rated not helpful")),
    NoteOutcome.WAITING: ("hourglass", lazy_gettext("No status yet")),
}


def of_answers(session: Session, found: Sequence[tuple[uuid.UUID, datetime, str]]) -> list[Row]:
    """The rows of a page of ``answers.page``. One about a sample says and offers what one about an item would."""
    ids = [row_id for row_id, _at, _what in found]
    given = session.scalars(sa.select(Rating).where(Rating.id.in_(ids))).all()
    ratings = {row.rating.id: row for row in impact.rating_rows(session, given)}
    asked, notes = samples.load(session, ids), notes_needed.load(session, ids)
    mine = impact.profiles_of(session, auth.current_actor())
    open_samples = samples.open_among(session, ids)
    about_samples = {
        answer.sample_id: answer
        for answer in session.scalars(
            sa.select(SampleAnswer).where(SampleAnswer.sample_id.in_(ids), SampleAnswer.profile_id.in_(mine))
        )
    }
    rows = []
    for row_id, at, what in found:
        if row_id in ratings:
            rows.append(of_rating(ratings[row_id]))
        elif what == What.SKIPPED_NOTE:
            rows.append(_skipped_note(notes[row_id], at))
        else:
            answer = about_samples.get(row_id) if what == What.SAMPLE else None
            rows.append(_about(asked[row_id], answer, at, is_open=row_id in open_samples))
    return rows


def of_rating(row: RatingRow) -> Row:
    note, action = row.note, row.action
    level = row.rating.blind_level or row.rating.helpfulness_level
    is_settled = note.rationale and action is not None and blindness.is_settled(action, row.rating)
    url = _url(note, action)
    icon, became = BECAME[row.became]
    if row.became is RatingOutcome.WAITING and note.rationale and action is not None and is_decided(action):
        icon, became = CLOSED
    text, veiled = _text(note, action)
    return Row(
        id=row.rating.id,
        text=text,
        is_veiled=veiled,
        about=category_name(action.category) if note.rationale and action is not None else _("Note"),
        said=_ANSWERED[level] if note.rationale else LEVEL_WORDS[HelpfulnessLevel(level)],
        icon=icon,
        became=became,
        at=row.rating.updated_at,
        url=url,
        change_url=url if not blindness.is_closed(note, action) and not is_settled else None,
        change=_("Change answer") if note.rationale else _("Change rating"),
        left_out=_not_counted(row),
    )


def of_note(row: NoteRow) -> Row:
    icon, became = _WROTE[row.became]
    return Row(
        id=row.note.id,
        text=excerpt(row.note.summary),
        is_veiled=False,
        about=_("Note"),
        said="",
        icon=icon,
        became=became,
        at=row.note.created_at,
        url=url_for("web.note", note_id=row.note.id),
        change_url=url_for("web.edit_note", note_id=row.note.id) if not row.note.locked else None,
        change=_("Edit"),
    )


def _about(asked: Asked, answer: SampleAnswer | None, at: datetime, *, is_open: bool) -> Row:
    """The row of a post that was skipped, or of an answer about a sample; ``is_open``: it can be changed."""
    is_gone = asked.post.withdrawn_at is not None
    veiled = is_veiled(asked.category)
    staffs = isinstance(asked, Action) and not is_for_raters(asked)
    opens = not staffs or auth.may(Permission.MODERATE, asked.community_id)
    icon, became = ("skip-forward", _("You skipped it")) if answer is None else BECAME[RatingOutcome.WAITING]
    if answer is not None and not is_open:
        icon, became = CLOSED
    url = url_for("web.item", action_id=asked.id) if opens and not is_gone else None
    return Row(
        id=asked.id,
        text=_("The post was withdrawn") if is_gone else HIDDEN if veiled else excerpt(asked.post.content),
        is_veiled=veiled or is_gone,
        about=category_name(asked.category),
        said=_ANSWERED[answer.level] if answer is not None and answer.level is not None else "–",
        icon=icon,
        became=became,
        at=answer.updated_at if answer is not None else at,
        url=url,
        change_url=url if is_open and answer is not None else None,
        change=_("Change answer"),
        left_out=_excluded(answer.exclusion_reason) if answer is not None else None,
    )


def _skipped_note(note: Note, at: datetime) -> Row:
    return Row(
        id=note.id,
        text=excerpt(note.summary),
        is_veiled=False,
        about=_("Note"),
        said="–",
        icon="skip-forward",
        became=_("You skipped it"),
        at=at,
        url=url_for("web.note", note_id=note.id) if note.deleted_at is None else None,
    )


def _text(note: Note, action: Action | None) -> tuple[str, bool]:
    """Return the text of a row: for an item's rationale the post, for other notes their text."""
    if note.request is not None and note.request.withdrawn_at is not None:
        return _("The post was withdrawn"), True
    if not note.rationale or note.request is None:
        return excerpt(note.summary), False
    if action is not None and is_veiled(action.category):
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
        return _("it was for an earlier text of the note; rate the new one")
    if rating.exclusion_reason is not None:
        return _excluded(rating.exclusion_reason)
    if note.status_locked_at is not None and rating.created_at > note.status_locked_at:
        return _("the status was final by then")
    if row.became is RatingOutcome.WAITING:
        # Before the decision nothing is said of it, but that a review left the raters is theirs to know.
        is_staffs = row.action is not None and note.rationale and not is_for_raters(row.action)
        return _("the review went to the moderators, who decide it") if is_staffs else None
    return _("a moderator decided, not the ratings") if note.locked else None


def _excluded(reason: str | None) -> str | None:
    if reason is None:
        return None
    try:
        return eligibility.TO_THE_RATER[Exclusion(reason)]
    except ValueError:
        return _("an earlier rule left it out")
