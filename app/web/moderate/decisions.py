"""Decisions about an item or a note, and how they are undone. ``bulk`` decides the ticked rows of a list."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from flask import Response, make_response, redirect, url_for
from sqlalchemy.orm import Session
from wtforms import Form

from app.core.actions import actions
from app.core.errors import Conflict, Invalid, Refused
from app.core.history.reason import Reason
from app.core.ids import parse_id
from app.core.models import Action
from app.core.permissions import Permission
from app.core.review import assignments, holds, second_looks, waves
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.vocabulary import ActionState, ActionVerb
from app.web import auth, forms, page, veils
from app.web.blueprint import web
from app.web.filters import sentence_end
from app.web.item import decision_forms, note_panel, notes, panel
from app.web.item.decision_forms import DecisionForm, ReopenForm, TextQuestion, refused, version_of
from app.web.moderate import moderation, row_lists
from app.web.moderate.forms import UndoForm
from app.wiring import wired

NOTE_PART = "moderate/_note_moderation.html"
ESCALATE: Literal["escalate"] = "escalate"
Verb = ActionVerb | Literal["escalate"]
"""What a button does: a verb of the table, or sending the item to staff, which changes no state."""
HELD = lazy_gettext("Decided. You can still undo it.")
CHOOSE = lazy_gettext("Choose what to decide with one of the buttons.")
AT_ONCE: Mapping[Verb, tuple[TextQuestion, str]] = {
    ActionVerb.OPEN_SECOND_LOOK: (
        TextQuestion(lazy_gettext("Ask for a second look"), "web.open_second_look"),
        lazy_gettext("The community is asked to look again."),
    ),
    ESCALATE: (
        TextQuestion(lazy_gettext("Escalate"), "web.escalate"),
        lazy_gettext("Sent to staff. Operators have been notified."),
    ),
}
"""The verbs that decide nothing, so that there is no undo: what is asked before, and what is said afterwards."""


@dataclass(frozen=True)
class Done:
    """What was decided. ``message`` says so; empty if the next page shows it.

    ``url`` is where the moderator goes on; None for the page that sent the form.
    """

    message: str
    url: str | None = None


class Subject(Protocol):
    """What a form decides about: an item, a note, or the ticked rows of a list."""

    def decide(self, session: Session, verb: Any, form: Any) -> Done | TextQuestion | None:
        """Decide, or return the question to ask first, or None to show the form again. Raises Invalid, Conflict."""

    def show(
        self, part: str, form: Any, status: int, alert: str | None, asked: TextQuestion | None
    ) -> Response:
        """Show the form again, with its errors and what was typed."""

    def done(self, part: str, done: Done) -> Response:
        """Show what was decided."""


def decide(subject: Subject, verb: Verb | None, form: Form, part: str) -> Response:
    """Let a verb act on a subject. One session writes; another one reads what ``part``, or its page, shows then."""
    try:
        with wired().database.writing() as session:
            outcome = subject.decide(session, verb, form)
    except (Invalid, Conflict) as refusal:
        status, alert = refused(form, refusal)
        return subject.show(part, form, status, alert, None)
    if isinstance(outcome, Done):
        return subject.done(part, outcome)
    return subject.show(part, form, 422 if form.errors or outcome else 200, None, outcome)


@dataclass(frozen=True)
class Item:
    """An item under review, or one that was decided before."""

    action_id: uuid.UUID

    def decide(
        self, session: Session, verb: Verb | None, form: DecisionForm | ReopenForm
    ) -> Done | TextQuestion | None:
        actor, action = auth.current_actor(), moderation.find(session, self.action_id)
        in_review = action.action_state is ActionState.UNDER_REVIEW
        is_held = isinstance(form, DecisionForm) and verb not in AT_ONCE
        decision_forms.compose_reason(session, actor, action.community_id, form, with_text=is_held)
        if is_held and (veils.wants_shown() or form["back"].data):
            return None
        is_valid = form.validate()
        if verb is None:
            form.form_errors.append(CHOOSE)
        if is_held and veils.is_unseen(action):
            form.form_errors.append(veils.UNSEEN)
        if verb is None or not is_valid or form.errors:
            return None
        asked = decision_forms.text_question(form, action, AT_ONCE[verb][0] if verb in AT_ONCE else None)
        if asked is not None:
            return asked
        if verb == ESCALATE:
            assignments.escalate(session, actor, action, reason=form.typed_reason(), version=version_of(form))
        elif verb is ActionVerb.OPEN_SECOND_LOOK:
            second_looks.ask_members(session, actor, action, reason=Reason(form.reason.data or ""))
        elif is_held and form["alike"].data and action.wave_id is not None and in_review:
            details = form.details(action) | {"version": version_of(form)}
            waves.hold(session, actor, verb, action=action, reason=form.typed_reason(), **details)
        else:
            details = form.details(action)
            holds.hold(
                session,
                actor,
                verb,
                action=action,
                reason=form.typed_reason(),
                version=version_of(form),
                **details,
            )
        message = AT_ONCE[verb][1] if verb in AT_ONCE else HELD
        opens_next = panel.opens_next() if verb == ESCALATE else is_held and bool(form["next"].data)
        return _next(session, action, message) if opens_next else Done(message)

    def show(
        self, part: str, form: Form, status: int, alert: str | None, asked: TextQuestion | None
    ) -> Response:
        return moderation.show(self.action_id, form, status=status, alert=alert, asked=asked)

    def done(self, part: str, done: Done) -> Response:
        if done.url is None:
            return moderation.done(self.action_id, done.message, part=part)
        return page.done(None, done.url, done.message) if done.message else _redirect(done.url)


def _next(session: Session, action: Action, message: str) -> Done:
    """Claim the item that follows, so that it opens, or say that none does. The next page tells of a held decision."""
    following = moderation.claim_following(session, action)
    is_held = message == HELD
    if following is None:
        return Done(
            _("Decided. The queue is empty.") if is_held else _("%(done)s The queue is empty.", done=message),
            row_lists.origin().url(),
        )
    return Done("" if is_held else message, moderation.item_url(following.id, next="1"))


def _redirect(url: str) -> Response:
    """Redirect to another page without a message: that page shows what happened."""
    if page.wants_part():
        response = make_response("", 200)
        response.headers["HX-Redirect"] = url
        return response
    return make_response(redirect(url, 303))


@web.post("/review/<uuid:action_id>/decide", endpoint="decide")
def decide_item(action_id: uuid.UUID) -> Response:
    form = forms.posted(DecisionForm)
    return decide(Item(action_id), form.wanted_verb(), form, moderation.PART)


@web.post("/review/<uuid:action_id>/second-look")
def open_second_look(action_id: uuid.UUID) -> Response:
    """Ask the community to review the action again."""
    return decide(Item(action_id), ActionVerb.OPEN_SECOND_LOOK, forms.posted(DecisionForm), moderation.PART)


@web.post("/review/<uuid:action_id>/escalate")
def escalate(action_id: uuid.UUID) -> Response:
    return decide(Item(action_id), ESCALATE, forms.posted(DecisionForm), moderation.PART)


@web.post("/review/<uuid:action_id>/wave/stop")
def stop_wave(action_id: uuid.UUID) -> Response:
    """Let no later post be decided as the posts alike were."""
    with wired().database.writing() as session:
        waves.stop(session, auth.current_actor(), moderation.find(session, action_id))
    return moderation.done(action_id, _("Later posts alike wait in the queue."))


@web.post("/review/<uuid:action_id>/reopen")
def reopen(action_id: uuid.UUID) -> Response:
    return decide(Item(action_id), ActionVerb.REOPEN, forms.posted(ReopenForm), moderation.PART)


@dataclass(frozen=True)
class NoteUnderReview:
    """A note. A decision about an item's rationale is held on the item, whose page then shows it."""

    note_id: uuid.UUID

    def decide(self, session: Session, verb: ActionVerb | None, form: DecisionForm) -> Done | None:
        is_valid = form.validate()
        if verb not in holds.NOTE_VERBS:
            form.form_errors.append(CHOOSE)
        if not is_valid or verb not in holds.NOTE_VERBS:
            return None
        note = notes.find(session, self.note_id)
        auth.require(Permission.MODERATE, note.community_id)
        held = holds.hold(
            session,
            auth.current_actor(),
            verb,
            note=note,
            reason=form.typed_reason(),
            version=version_of(form),
        )
        return Done(HELD, url_for("web.item", action_id=held.action_id) if held.action_id else None)

    def show(
        self,
        part: str,
        form: DecisionForm | None,
        status: int = 200,
        alert: str | None = None,
        asked: TextQuestion | None = None,
    ) -> Response:
        """Render the note's page, or for htmx the panel and, if the note is locked, the note."""
        with wired().database.reading() as session:
            row = notes.find(session, self.note_id)
            auth.require(Permission.MODERATE, row.community_id)
            if row.rationale:
                return _at_the_item(actions.of_note(session, row.id), form, alert, status)
            context = notes.note_context(session, row, notes.action_of(session, row), form)
        context |= {
            "form": form or context["form"],
            "swapped": page.wants_part(),
            "focus_panel": status == 409,
        }
        return page.render("item/note.html", part, status=status, alert=alert, **context)

    def done(self, part: str, done: Done) -> Response:
        url = url_for("web.note", note_id=self.note_id)
        if done.url is not None or not page.wants_part():
            return page.done(None, done.url or url, done.message)
        with wired().database.reading() as session:
            row = notes.find(session, self.note_id)
            shown = note_panel.panel(session, auth.current_actor(), row)
        return page.done(part, url, done.message, panel=shown, note_id=self.note_id, focus_panel=True)


def _at_the_item(
    action: Action | None, form: DecisionForm | None, alert: str | None, status: int
) -> Response:
    """Redirect to the item's page with the errors, because a rationale has no page of its own."""
    url = url_for("web.item", action_id=action.id) if action is not None else "/"
    if form is None:
        return make_response(redirect(url, 303))
    problems = [str(error) for errors in form.errors.values() for error in errors]
    return page.done(None, url, " ".join([*([alert] if alert else []), *problems]), status=status)


@web.post("/notes/<uuid:note_id>/decide")
def decide_note(note_id: uuid.UUID) -> Response:
    form = forms.posted(DecisionForm)
    return decide(NoteUnderReview(note_id), form.wanted_verb(), form, NOTE_PART)


@web.get("/notes/<uuid:note_id>/moderation")
@auth.passive
def note_moderation_part(note_id: uuid.UUID) -> Response:
    """The current panel; the page loads it when the time to undo is over."""
    return NoteUnderReview(note_id).show(NOTE_PART, None)


@web.post("/holds/<uuid:hold_id>/undo")
def undo(hold_id: uuid.UUID) -> Response:
    """Undo one decision. Return to its item, or to the queue if the moderator undid it there."""
    seen, note_id = parse_id(forms.query_arg("item")), parse_id(forms.query_arg("note"))
    try:
        with wired().database.writing() as session:
            held = holds.undo(session, auth.current_actor(), hold_id)
    except Conflict as refusal:
        late = sentence_end(refusal.detail)
        if note_id is not None:
            return page.done(None, url_for("web.note", note_id=note_id), late, status=409)
        if seen is None:
            raise
        return moderation.done(seen, late, status=409)
    if held.action_id is None:
        return page.done(None, url_for("web.note", note_id=held.note_id), _("Undone. Nothing was sent."))
    return moderation.done(held.action_id, _("Undone. Nothing was sent."))


@web.post("/holds/undo")
def undo_several() -> Response:
    """Undo several decisions of the actor. The message counts those that were already carried out."""
    form, late, back = forms.posted(UndoForm), 0, row_lists.sent_from() or row_lists.QUEUE
    url = back.url()
    with wired().database.writing() as session:
        if form.every.data:
            mine, community_id = holds.held_by(session, auth.current_actor()), auth.current_community().id
            form.hold.data = [held.id for held in mine if held.community_id == community_id]
        for hold_id in form.hold.data:
            try:
                with session.begin_nested():
                    held = holds.undo(session, auth.current_actor(), hold_id)
                    url = back.url_at(held.action_id) if held.action_id is not None else url
            except Refused:
                late += 1
    undone = len(form.hold.data) - late
    message = ngettext(
        "%(num)s decision undone. Nothing was sent.", "%(num)s decisions undone. Nothing was sent.", undone
    )
    if late:
        message = _(
            "%(undone)s undone. %(late)s could not be: too late, already carried out.",
            undone=undone,
            late=late,
        )
    return page.done(None, url, message, status=409 if late else 200)
