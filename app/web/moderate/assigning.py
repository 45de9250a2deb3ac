"""Views that assign an item to a colleague, put it aside, and end a moderator's day."""

import uuid
from datetime import timedelta

from flask import Response, url_for

from app.core.errors import Conflict, Invalid
from app.core.history.why import Why
from app.core.ids import parse_id
from app.core.permissions import Permission
from app.core.review import assignments, claims
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.moderate import moderation
from app.web.moderate.forms import AssignForm, SnoozeForm
from app.wiring import wired


@web.post("/review/<uuid:action_id>/assign")
def assign(action_id: uuid.UUID) -> Response:
    form = forms.posted(AssignForm)
    chosen = parse_id(form.assignee.data or "")
    try:
        if form.assignee.data and chosen is None:
            raise Invalid.field("assignee", "does not moderate this community")
        with wired().database.writing() as session:
            action = moderation.find(session, action_id)
            why = Why(form.handover.data or "")
            name = assignments.assign(session, auth.current_actor(), action, chosen, why=why)
    except (Invalid, Conflict) as refusal:
        return moderation.done(action_id, _sentence(refusal), status=_status(refusal))
    told = "Nobody is assigned now." if name is None else f"Assigned to {name}."
    return moderation.done(action_id, told)


@web.post("/review/<uuid:action_id>/snooze")
def snooze(action_id: uuid.UUID) -> Response:
    form = forms.posted(SnoozeForm)
    hours = forms.number(form.snooze.data, digits=3) or 0
    try:
        with wired().database.writing() as session:
            action = moderation.find(session, action_id)
            assignments.snooze(session, auth.current_actor(), action, timedelta(hours=hours))
    except (Invalid, Conflict) as refusal:
        return moderation.done(action_id, _sentence(refusal), status=_status(refusal))
    message = "Put aside. It returns to the queue by itself." if hours else "Back in the queue."
    return moderation.done(action_id, message)


@web.post("/review/stop")
@auth.needs(Permission.MODERATE)
def stop_for_today() -> Response:
    """Release all claims of the moderator, so that nothing waits for somebody who has gone."""
    with wired().database.writing() as session:
        count = claims.release_all(session, auth.current_actor())
    released = {0: "You held nothing.", 1: "1 claim is released."}.get(count, f"{count} claims are released.")
    return page.done(None, url_for("web.desk"), f"{released} Have a good rest.")


def _sentence(refusal: Invalid | Conflict) -> str:
    if isinstance(refusal, Invalid):
        return "Choose from the list. Nothing was changed."
    return f"{refusal.detail}."


def _status(refusal: Invalid | Conflict) -> int:
    return 422 if isinstance(refusal, Invalid) else 409
