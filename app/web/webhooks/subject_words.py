"""What an event is about, in words, with the page to open."""

from dataclasses import dataclass

from flask import url_for

from app.core.models import Event
from app.core.permissions import Permission
from app.core.vocabulary import EventName
from app.core.webhooks.deliveries import Subjects
from app.web import auth
from app.web.filters import excerpt
from app.web.item import pending_undo

LENGTH = 60
"""How many characters of a post or a note are quoted."""


@dataclass(frozen=True)
class SubjectWords:
    """``words`` say what an event is about. ``url``: its page; None if there is none or the reader may not see it."""

    words: str
    url: str | None = None


def in_words(event: Event, subjects: Subjects) -> SubjectWords:
    """Return what this event is about. A sensitive post is named by its author and category, as everywhere."""
    if event.name is EventName.TEST:
        return SubjectWords("A test, about no post")
    may_open = auth.may(Permission.SEE_QUEUE, event.community_id)
    action = subjects.actions.get(event.action_id) if event.action_id is not None else None
    if action is not None:
        words = pending_undo.in_words(action, LENGTH)
        return SubjectWords(
            pending_undo.capitalised(words),
            url_for("web.item", action_id=action.id) if may_open else None,
        )
    note = subjects.notes.get(event.note_id) if event.note_id is not None else None
    if note is not None:
        words = excerpt(note.summary, LENGTH)
        return SubjectWords(
            f"Note “{words}”" if words else "A note",
            url_for("web.note", note_id=note.id) if may_open else None,
        )
    return SubjectWords("A post" if event.request_id is not None else "The community as a whole")
