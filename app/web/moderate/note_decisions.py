"""Moderators' decisions on a note: force-publish or dismiss. Each is held until the time to undo is over."""

import uuid

from flask import Response, make_response, redirect, url_for

from app.core.actions import actions
from app.core.errors import Conflict, Invalid
from app.core.models import Action
from app.core.permissions import Permission
from app.core.review import holds
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.item import notes
from app.web.moderate import note_moderation
from app.web.moderate.forms import DecisionForm, refused, version_of
from app.wiring import wired

PART = "moderate/_note_moderation.html"


@web.get("/notes/<uuid:note_id>/moderation")
@auth.passive
def note_moderation_part(note_id: uuid.UUID) -> Response:
    """The current panel; the page loads it when the time to undo is over."""
    return _show(note_id)


@web.post("/notes/<uuid:note_id>/decide")
def decide_note(note_id: uuid.UUID) -> Response:
    """Hold a decision on a note. If the note is an item's rationale, hold it on the item and redirect to its page."""
    form = forms.posted(DecisionForm)
    verb = form.wanted_verb()
    if verb not in holds.NOTE_VERBS:
        verb = None
    if not form.validate() or verb is None:
        if verb is None:
            form.form_errors.append("Choose what to decide with one of the buttons.")
        return _show(note_id, status=422, form=form)
    try:
        with wired().database.writing() as session:
            note = notes.find(session, note_id)
            auth.require(Permission.MODERATE, note.community_id)
            held = holds.hold(
                session,
                auth.current_actor(),
                verb,
                note=note,
                why=form.why(),
                version=version_of(form),
            )
            action_id = held.action_id
    except (Invalid, Conflict) as refusal:
        status, alert = refused(form, refusal)
        return _show(note_id, status=status, form=form, alert=alert)
    message = "Decided. You can still undo it."
    if action_id is not None:
        return page.done(None, url_for("web.item", action_id=action_id), message)
    if not page.wants_part():
        return page.done(None, url_for("web.note", note_id=note_id), message)
    with wired().database.reading() as session:
        row = notes.find(session, note_id)
        panel = note_moderation.panel(session, auth.current_actor(), row)
    return page.done(
        PART, url_for("web.note", note_id=note_id), message, panel=panel, note_id=note_id, focus_panel=True
    )


def _show(
    note_id: uuid.UUID, *, status: int = 200, alert: str | None = None, form: DecisionForm | None = None
) -> Response:
    """Render the note's page, or for htmx the panel and, if the note is locked, the note. The form keeps its text."""
    with wired().database.reading() as session:
        row = notes.find(session, note_id)
        auth.require(Permission.MODERATE, row.community_id)
        if row.rationale:
            return _at_the_item(actions.of_note(session, row.id), form, alert, status)
        context = notes.note_context(session, row, notes.action_of(session, row))
        context["panel"] = note_moderation.panel(session, auth.current_actor(), row, form=form)
    context |= {"form": form or context["form"], "swapped": page.wants_part(), "focus_panel": status == 409}
    return page.render("item/note.html", PART, status=status, alert=alert, **context)


def _at_the_item(
    action: Action | None, form: DecisionForm | None, alert: str | None, status: int
) -> Response:
    """Redirect to the item's page with the errors, because a rationale has no page of its own."""
    url = url_for("web.item", action_id=action.id) if action is not None else "/"
    if form is None:
        return make_response(redirect(url, 303))
    problems = [str(error) for errors in form.errors.values() for error in errors]
    return page.done(None, url, " ".join([*([alert] if alert else []), *problems]), status=status)
