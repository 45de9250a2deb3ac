"""Data of the moderator panel on the note page (``templates/moderate/_note_moderation.html``)."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from flask import url_for
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.core import texts
from app.core.actions import actions
from app.core.history import pages
from app.core.models import HistoryEntry, HistoryText, Note, Request
from app.core.permissions import Actor
from app.core.review import holds
from app.core.vocabulary import ActionVerb
from app.web.filters import highlight
from app.web.item import answering, pending_undo, timeline, verb_words
from app.web.item.decision_forms import DecisionForm
from app.web.item.note_views import explained
from app.web.item.pending_undo import PendingDecision
from app.web.item.verb_words import VerbButton
from app.web.item.views import blind_item
from app.web.veils import Veil


@dataclass(frozen=True)
class AboutPost:
    """The post that a note is about. With a ``veil`` the page shows it only after "Show content"."""

    content: Markup
    veil: Veil | None
    author: str | None
    channel: str | None
    posted_at: datetime


_LOCKING = frozenset({"note.locked", "note.currently_rated_helpful", "note.currently_rated_not_helpful"})


@dataclass(frozen=True)
class NoteEvent:
    """An entry of the note's history: who, when and why. Only moderators see ``comment``."""

    who: str
    at: datetime
    reason: str
    comment: str
    cause: str


@dataclass(frozen=True)
class NotePanel:
    """Everything the panel shows. ``held`` is a decision that can still be undone.

    ``decided`` says who locked the note and why. ``lapsed`` is a decision that could not be carried out.
    """

    form: DecisionForm
    buttons: Sequence[VerbButton]
    held: PendingDecision | None
    status: str
    explanation: str
    ratings: int
    is_locked: bool
    is_published: bool
    decided: NoteEvent | None
    lapsed: NoteEvent | None
    about: AboutPost | None

    @property
    def chosen(self) -> ActionVerb | None:
        return self.form.wanted_verb()


def panel(session: Session, actor: Actor, note: Note, *, form: DecisionForm | None = None) -> NotePanel:
    """Return the panel of this note; ``form`` keeps its text. The caller has checked that the actor may moderate."""
    shown = form or DecisionForm()
    shown.version.data = str(note.version)
    held = pending_undo.of_note(actor, holds.for_subject(session, note_id=note.id))
    entries = pages.of_note(session, actor, note)
    return NotePanel(
        form=shown,
        buttons=[] if held else verb_words.buttons_for_note(actor, note),
        held=held,
        status=note.status.value,
        explanation=explained(note, answering.ratings_needed()),
        ratings=note.ratings_count,
        is_locked=note.locked,
        is_published=note.force_published,
        decided=_last(entries, _LOCKING) if note.locked else None,
        lapsed=_last(entries[-1:], {"hold.lapsed"}),
        about=_about(session, actor, note),
    )


def _last(entries: Sequence[tuple[HistoryEntry, HistoryText]], whats: Set[str]) -> NoteEvent | None:
    """Return the newest entry with one of these names that a person made, or None."""
    for entry, text in reversed(entries):
        if entry.what in whats and entry.actor_kind != "system":
            return NoteEvent(
                timeline.actor_name(text), entry.at, text.reason, text.comment, texts.stored(entry.cause)
            )
    return None


def _about(session: Session, actor: Actor, note: Note) -> AboutPost | None:
    request = session.get(Request, note.request_id) if note.request_id else None
    if request is None or request.withdrawn_at is not None:
        return None
    live = actions.live_for(session, request.id)
    content: Markup = highlight(request.content, ())
    veil: Veil | None = None
    if live is not None:
        action = actions.with_content(session, actor, live.id)
        item = blind_item(action, url_for("web.note", note_id=note.id), whole=True)
        content, veil = item.content, item.veil
    return AboutPost(
        content=content,
        veil=veil,
        author=request.platform_author_id,
        channel=request.platform_channel_id,
        posted_at=request.platform_timestamp or request.requested_at,
    )
