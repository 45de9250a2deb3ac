"""Reopen a dismissal from its item's page. Like every decision of the dashboard it can be undone for a while."""

import uuid

from flask import Response

from app.core.errors import Conflict, Invalid
from app.core.review import holds
from app.core.vocabulary import ActionVerb
from app.web import auth, forms
from app.web.blueprint import web
from app.web.moderate import moderation, reason_choice
from app.web.moderate.forms import ReopenForm, refused, version_of
from app.wiring import wired


@web.post("/review/<uuid:action_id>/reopen")
def reopen(action_id: uuid.UUID) -> Response:
    form = forms.posted(ReopenForm)
    if form.template.data:
        with wired().database.reading() as session:
            community_id = moderation.find(session, action_id).community_id
            reason_choice.compose(session, auth.current_actor(), community_id, form)
    if not form.validate():
        return moderation.show(action_id, status=422, reopen_form=form)
    try:
        with wired().database.writing() as session:
            holds.hold(
                session,
                auth.current_actor(),
                ActionVerb.REOPEN,
                action=moderation.find(session, action_id),
                why=form.why(),
                reopen_to=form.wanted_to(),
                version=version_of(form),
            )
    except (Invalid, Conflict) as refusal:
        status, alert = refused(form, refusal)
        return moderation.show(action_id, status=status, reopen_form=form, alert=alert)
    return moderation.done(action_id, "Decided. You can still undo it.")
