"""View that sends an item to the community's staff."""

import uuid

from flask import Response

from app.core.errors import Conflict, Invalid
from app.core.review import escalation
from app.web import auth, forms
from app.web.blueprint import web
from app.web.moderate import author_text, moderation, reason_choice
from app.web.moderate.author_text import TextQuestion
from app.web.moderate.forms import DecisionForm, refused, version_of
from app.wiring import wired


@web.post("/review/<uuid:action_id>/escalate")
def escalate(action_id: uuid.UUID) -> Response:
    """Send the item to staff. There is no undo, because this is no decision."""
    form = forms.posted(DecisionForm)
    if form.template.data:
        with wired().database.reading() as session:
            community_id = moderation.find(session, action_id).community_id
            reason_choice.compose(session, auth.current_actor(), community_id, form)
    asked = author_text.unless_dropped(form, TextQuestion("Escalate", "web.escalate"))
    if not form.validate() or asked is not None:
        return moderation.show(action_id, status=422, form=form, asked=None if form.errors else asked)
    try:
        with wired().database.writing() as session:
            action = moderation.find(session, action_id)
            escalation.escalate(
                session, auth.current_actor(), action, why=form.why(), version=version_of(form)
            )
    except (Invalid, Conflict) as refusal:
        status, alert = refused(form, refusal)
        return moderation.show(action_id, status=status, form=form, alert=alert)
    told = "Sent to staff. The operators are told."
    return moderation.go_on(action_id, told, DecisionForm()) or moderation.done(action_id, told)
