"""Views to claim, renew, release and take over an item, and the part that shows a lost claim."""

import uuid

from flask import Response, make_response

from app.core.errors import Conflict
from app.core.review import claims
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.moderate import moderation
from app.web.moderate import panel as moderate_panel
from app.web.moderate.forms import DecisionForm
from app.wiring import wired

PART = "moderate/_claim.html"


@web.post("/review/<uuid:action_id>/take-over")
def take_over(action_id: uuid.UUID) -> Response:
    """Claim an item that a colleague has claimed, and notify them. The decision form keeps its text."""
    form = forms.posted(DecisionForm)
    with wired().database.writing() as session:
        name = claims.take_over(session, auth.current_actor(), moderation.find(session, action_id))
    notified = f"{name} is told. " if name else ""
    return moderation.done(action_id, f"Taken over. {notified}Yours for 10 minutes.", form=form)


@web.get("/review/<uuid:action_id>/claim")
@auth.passive
def claim_part(action_id: uuid.UUID) -> Response:
    """Polled every few seconds by the page of the claim's holder: 204 while they hold it, else the current claim."""
    with wired().database.reading() as session:
        actor, action = auth.current_actor(), moderation.find(session, action_id)
        if claims.is_held_by(actor, action):
            return make_response("", 204)
        panel = moderate_panel.panel(session, actor, action)
    if not page.wants_part():
        return moderation.show(action_id)
    alert = None
    if panel.claim.taken_at is not None:
        alert = f"{panel.claim.name} took this over from you. What you typed is still here."
    return page.render("item/item.html", PART, alert=alert, panel=panel)


@web.post("/review/<uuid:action_id>/claim")
def claim(action_id: uuid.UUID) -> Response:
    form = forms.posted(DecisionForm)
    try:
        with wired().database.writing() as session:
            claims.claim(session, auth.current_actor(), moderation.find(session, action_id))
    except Conflict as refusal:
        return moderation.done(action_id, f"{refusal.detail}.", status=409, form=form)
    return moderation.done(action_id, "Claimed. Yours for 10 minutes.", form=form)


@web.post("/review/<uuid:action_id>/renew")
@auth.passive
def renew_claim(action_id: uuid.UUID) -> Response:
    """Renew the claim of an open page. Raises Conflict if the claim was lost, and the page says so."""
    with wired().database.writing() as session:
        claims.claim(session, auth.current_actor(), moderation.find(session, action_id))
    return make_response("", 204)


@web.post("/review/<uuid:action_id>/release")
def release(action_id: uuid.UUID) -> Response:
    form = forms.posted(DecisionForm)
    with wired().database.writing() as session:
        claims.release(session, auth.current_actor(), moderation.find(session, action_id))
    return moderation.done(action_id, "Released. Others can claim it.", form=form)
