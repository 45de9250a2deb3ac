"""Views to claim, renew, release and take over an item, and the part that shows a lost claim."""

import uuid

from flask import Response, make_response, url_for
from sqlalchemy.orm import Session

from app.core.errors import Conflict, Invalid
from app.core.history.reason import Reason
from app.core.permissions import Permission
from app.core.review import assignments, claims, decision_trace, looking
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.filters import sentence_end, state_word
from app.web.item import claim_view
from app.web.item import panel as moderate_panel
from app.web.item.decision_forms import AssignForm, DecisionForm, SnoozeForm, version_of
from app.web.item.panel import ModeratorPanel
from app.web.moderate import moderation
from app.wiring import wired

PART = "moderate/_claim.html"


@web.post("/review/<uuid:action_id>/take-over")
def take_over(action_id: uuid.UUID) -> Response:
    """Claim an item that a colleague has claimed, and notify them. The decision form keeps its text."""
    form = forms.posted(DecisionForm)
    with wired().database.writing() as session:
        name = claims.take_over(session, auth.current_actor(), moderation.find(session, action_id))
    message = (
        _("Taken over. %(who)s is notified. Yours for 10 minutes.", who=name)
        if name
        else _("Taken over. Yours for 10 minutes.")
    )
    return moderation.done(action_id, message, form=form)


@web.get("/review/<uuid:action_id>/claim")
@auth.passive
def claim_part(action_id: uuid.UUID) -> Response:
    """Asked every 15 s by an open page with what it shows: 204 while that is so, else the claim as it is now.

    After a decision or another change the whole panel comes instead, unless the moderator is writing (``typed``): then
    the claim's place says what happened, and the text stays. Who asks looks at the item, except from a tab in the
    ``background``.
    """
    answer = _claim_as_now(action_id)
    if not forms.query_arg("background"):
        claim_view.mark_looking(action_id)
    return answer


def _claim_as_now(action_id: uuid.UUID) -> Response:
    shown, actor = forms.query_arg("seen"), auth.current_actor()
    with wired().database.reading() as session:
        action = moderation.find(session, action_id)
        lookers = looking.names(session, actor, action)
        if claim_view.seen(actor, action, lookers) == shown if shown else claims.is_held_by(actor, action):
            return make_response("", 204)
        panel = moderate_panel.panel(session, actor, action)
        decision, claimant, *_rest = [*shown.split("."), ""] if shown else panel.seen.split(".")
        news = _news(session, panel) if panel.seen.split(".")[0] != decision else ""
    if not page.wants_part():
        return moderation.show(action_id)
    if news and not forms.query_arg("typed"):
        answer = page.render("item/item.html", moderation.PART, alert=news, panel=panel, swapped=True)
        answer.headers["HX-Retarget"] = "#moderator-panel"
        return answer
    alert = _("%(news)s What you typed is still here.", news=news) if news else None
    if panel.claim.taken_at is not None and (not shown or panel.seen.split(".")[1] != claimant):
        alert = _("%(who)s took this over from you. What you typed is still here.", who=panel.claim.name)
    return page.render("item/item.html", PART, alert=alert, panel=panel, news=news, polled=True)


def _news(session: Session, panel: ModeratorPanel) -> str:
    """Say what a colleague did to the item: "Dismissed by Sam, just now."."""
    if panel.is_held_by_me:
        return _("You have decided this already, in another window.")
    if panel.held is not None:
        return _("%(who)s is deciding this right now.", who=panel.held.who)
    last = decision_trace.last_decider(session, panel.action.id)
    state = state_word(panel.action.action_state) if not panel.is_waiting else _("Changed")
    if last is None:
        return _("%(state)s.", state=state)
    if last.minutes == 0:
        return _("%(state)s by %(who)s, just now.", state=state, who=last.name)
    return _("%(state)s by %(who)s, %(minutes)s min ago.", state=state, who=last.name, minutes=last.minutes)


@web.post("/review/<uuid:action_id>/claim")
def claim(action_id: uuid.UUID) -> Response:
    form = forms.posted(DecisionForm)
    try:
        with wired().database.writing() as session:
            claims.claim(session, auth.current_actor(), moderation.find(session, action_id))
    except Conflict as refusal:
        return moderation.done(action_id, sentence_end(refusal.detail), status=409, form=form)
    return moderation.done(action_id, _("Claimed. Yours for 10 minutes."), form=form)


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
    return moderation.done(action_id, _("Released. Others can claim it."), form=form)


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
                reason=Reason(form.handover.data or ""),
                version=version_of(form),
            )
    except Invalid as refusal:
        forms.explain(form, refusal, {"reason": "handover"})
        return moderation.show(action_id, form, decision, status=422)
    except Conflict as refusal:
        return moderation.show(action_id, form, decision, status=409, alert=sentence_end(refusal.detail))
    message = (
        _("Nobody is assigned now.") if name is None else _("Assigned to %(who)s", who=sentence_end(name))
    )
    is_given_away = form.wanted not in {None, auth.current_actor().account_id}
    went_on = moderation.go_on(action_id, message, decision) if is_given_away else None
    return went_on or moderation.done(action_id, message, form=decision)


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
    message = _("Snoozed. It returns to the queue by itself.") if form.wanted else _("Back in the queue.")
    went_on = moderation.go_on(action_id, message, decision) if form.wanted else None
    return went_on or moderation.done(action_id, message, form=decision)


@web.post("/review/stop")
@auth.needs(Permission.MODERATE)
def stop_for_today() -> Response:
    """Release all claims of the moderator, so that nothing waits for an absent colleague."""
    with wired().database.writing() as session:
        count = claims.release_all(session, auth.current_actor())
    released = ngettext("%(num)s claim is released.", "%(num)s claims are released.", count)
    return page.done(None, url_for("web.desk"), _("%(released)s Have a good rest.", released=released))
