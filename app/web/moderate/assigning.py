"""Views that assign an item to a colleague, put it aside, and end a moderator's day."""

import uuid

from flask import Response, url_for

from app.core.errors import Conflict, Invalid
from app.core.history.why import Why
from app.core.permissions import Permission
from app.core.review import assignments, claims
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.filters import sentence_end
from app.web.moderate import moderation
from app.web.moderate.forms import DecisionForm, version_of
from app.web.moderate.hand_over import AssignForm, SnoozeForm
from app.wiring import wired


@web.post("/review/<uuid:action_id>/assign")
def assign(action_id: uuid.UUID) -> Response:
    form, decision = forms.posted(AssignForm), forms.posted(DecisionForm)
    if not form.validate():
        return moderation.show(action_id, form, decision, status=422)
    try:
        with wired().database.writing() as session:
            name = assignments.assign(
                session,
                auth.current_actor(),
                moderation.find(session, action_id),
                form.wanted,
                why=Why(form.handover.data or ""),
                version=version_of(form),
            )
    except Invalid as refusal:
        forms.explain(form, refusal, {"reason": "handover"})
        return moderation.show(action_id, form, decision, status=422)
    except Conflict as refusal:
        return moderation.show(action_id, form, decision, status=409, alert=sentence_end(refusal.detail))
    told = "Nobody is assigned now." if name is None else f"Assigned to {sentence_end(name)}"
    is_given_away = form.wanted not in {None, auth.current_actor().account_id}
    went_on = moderation.go_on(action_id, told, decision) if is_given_away else None
    return went_on or moderation.done(action_id, told, form=decision)


@web.post("/review/<uuid:action_id>/snooze")
def snooze(action_id: uuid.UUID) -> Response:
    form, decision = forms.posted(SnoozeForm), forms.posted(DecisionForm)
    if not form.validate():
        return moderation.show(action_id, form, decision, status=422)
    try:
        with wired().database.writing() as session:
            action = moderation.find(session, action_id)
            assignments.snooze(session, auth.current_actor(), action, form.wanted, version=version_of(form))
    except Conflict as refusal:
        return moderation.done(action_id, sentence_end(refusal.detail), status=409, form=decision)
    message = "Put aside. It returns to the queue by itself." if form.wanted else "Back in the queue."
    went_on = moderation.go_on(action_id, message, decision) if form.wanted else None
    return went_on or moderation.done(action_id, message, form=decision)


@web.post("/review/stop")
@auth.needs(Permission.MODERATE)
def stop_for_today() -> Response:
    """Release all claims of the moderator, so that nothing waits for somebody who has gone."""
    with wired().database.writing() as session:
        count = claims.release_all(session, auth.current_actor())
    released = {0: "You held nothing.", 1: "1 claim is released."}.get(count, f"{count} claims are released.")
    return page.done(None, url_for("web.desk"), f"{released} Have a good rest.")
