"""Data of the moderator panel on the note page (``templates/moderate/_note_moderation.html``)."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

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

_LOCKING = frozenset({"note.locked", "note.currently_rated_helpful", "note.currently_rated_not_helpful"})


@dataclass(frozen=True)
class NotePanel:
    """Everything the panel shows. ``held`` is a decision that can still be undone.

    ``decided`` says who locked the note and why. ``lapsed`` is a decision that could not be carried out.
    ``about`` is the post that the note is about.
    """

    note: Note
    form: DecisionForm
    buttons: Sequence[VerbButton]
    held: PendingDecision | None
    explanation: str
    decided: Mapping[str, Any] | None
    lapsed: Mapping[str, Any] | None
    about: Mapping[str, Any] | None

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
        note=note,
        form=shown,
        buttons=[] if held else verb_words.buttons_for_note(actor, note),
        held=held,
        explanation=explained(note, answering.ratings_needed()),
        decided=_last(entries, _LOCKING) if note.locked else None,
        lapsed=_last(entries[-1:], {"hold.lapsed"}),
        about=_about(session, actor, note),
    )


def _last(entries: Sequence[tuple[HistoryEntry, HistoryText]], whats: Set[str]) -> dict[str, Any] | None:
    """Return the newest entry with one of these names that a person made, or None."""
    for entry, text in reversed(entries):
        if entry.what in whats and entry.actor_kind != "system":
            return {
                "who": timeline.actor_name(text),
                "at": entry.at,
                "reason": text.reason,
                "comment": text.comment,
                "cause": texts.stored(entry.cause),
            }
    return None


def _about(session: Session, actor: Actor, note: Note) -> dict[str, Any] | None:
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
    return {
        "content": content,
        "veil": veil,
        "author": request.platform_author_id,
        "channel": request.platform_channel_id,
        "posted_at": request.platform_timestamp or request.requested_at,
    }
