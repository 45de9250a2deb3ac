"""A moderator's views on one item: decide, undo, write to other moderators.

``claiming`` and ``reopening`` have the other views.
"""

import uuid
from dataclasses import replace
from typing import Any

from flask import Response, make_response, redirect, url_for
from sqlalchemy.orm import Session
from wtforms import Form

from app.core.actions import actions
from app.core.errors import Conflict, Invalid, NotFound, Refused
from app.core.history.why import Why
from app.core.ids import parse_id
from app.core.models import Action
from app.core.permissions import Actor, Permission
from app.core.review import claims, holds, queue, second_looks
from app.core.review.queue_filters import QueueFilter
from app.core.review.second_looks import LookFilter
from app.web import auth, community_choice, forms, origins, page, veils
from app.web.blueprint import web
from app.web.filter_forms import Query, encoded
from app.web.filters import sentence_end
from app.web.item import items
from app.web.moderate import author_text, panel, queue_rows, reason_choice, row_lists
from app.web.moderate.author_text import TextQuestion
from app.web.moderate.forms import CommentForm, DecisionForm, ReopenForm, UndoForm, refused, version_of
from app.web.moderate.hand_over import AssignForm, SnoozeForm
from app.web.rate import answering
from app.wiring import wired

PART = "moderate/_moderator_panel.html"
TIMELINE = "moderate/_moderator_timeline.html"


def release_left(session: Session, actor: Actor) -> Action | None:
    """Release the item that the moderator leaves for the next one, and return it; None if the address names none."""
    left = parse_id(forms.query_arg("after"))
    if left is None:
        return None
    try:
        action = actions.get(session, actor, left)
    except NotFound:
        return None
    claims.release(session, actor, action)
    return action


@web.get("/review/<uuid:action_id>/panel")
@auth.passive
def moderator_panel_part(action_id: uuid.UUID) -> Response:
    """The current panel; the page loads it when the time to undo is over."""
    return show(action_id)


@web.post("/review/<uuid:action_id>/decide")
def decide(action_id: uuid.UUID) -> Response:
    form = forms.posted(DecisionForm)
    verb = form.wanted_verb()
    if form.template.data:
        with wired().database.reading() as session:
            community_id = find(session, action_id).community_id
            reason_choice.compose(session, auth.current_actor(), community_id, form)
    if form.wording.data:
        with wired().database.reading() as session:
            community_id = find(session, action_id).community_id
            reason_choice.compose_text(session, auth.current_actor(), community_id, form)
    if veils.wants_shown() or form.back.data:
        return show(action_id, form=form)
    with wired().database.reading() as session:
        action = find(session, action_id)
        unseen, asked = veils.is_unseen(action), author_text.question(form, action)
    if not form.validate() or verb is None or unseen:
        if verb is None:
            form.form_errors.append("Choose what to decide with one of the buttons.")
        if unseen:
            form.form_errors.append(veils.UNSEEN)
        return show(action_id, status=422, form=form)
    if asked is not None:
        return show(action_id, status=422, form=form, asked=asked)
    try:
        with wired().database.writing() as session:
            action = find(session, action_id)
            is_carried = holds.carries_text(verb, action, form.wanted_action())
            holds.hold(
                session,
                auth.current_actor(),
                verb,
                action=action,
                why=form.why(),
                category=form.policy.data or None,
                act_as=form.wanted_action(),
                author_text=form.author_text.data if is_carried else None,
                version=version_of(form),
            )
            following = claim_following(session, action) if form.next.data else None
    except (Invalid, Conflict) as refusal:
        status, alert = refused(form, refusal)
        return show(action_id, status=status, form=form, alert=alert)
    if following is not None:
        return _go(item_url(following.id, next="1"))
    if form.next.data:
        return page.done(None, row_lists.origin().url(), "Decided. Nothing else waits here.")
    return done(action_id, "Decided. You can still undo it.")


@web.post("/review/<uuid:action_id>/second-look")
def open_second_look(action_id: uuid.UUID) -> Response:
    """Ask the community to review the action again. There is no undo, because this is no decision."""
    form = forms.posted(DecisionForm)
    if form.template.data:
        with wired().database.reading() as session:
            community_id = find(session, action_id).community_id
            reason_choice.compose(session, auth.current_actor(), community_id, form)
    asked = TextQuestion("Ask for a second look", "web.open_second_look")
    asked_first = author_text.unless_dropped(form, asked)
    if not form.validate() or asked_first is not None:
        return show(action_id, status=422, form=form, asked=None if form.errors else asked_first)
    try:
        with wired().database.writing() as session:
            action = find(session, action_id)
            second_looks.ask_members(session, auth.current_actor(), action, why=Why(form.reason.data or ""))
    except (Invalid, Conflict) as refusal:
        status, alert = refused(form, refusal)
        return show(action_id, status=status, form=form, alert=alert)
    return done(action_id, "The community is asked to look again.")


@web.post("/review/<uuid:action_id>/message")
def write_message(action_id: uuid.UUID) -> Response:
    form = forms.posted(CommentForm)
    if not form.validate():
        return show(action_id, status=422, message_form=form)
    try:
        with wired().database.writing() as session:
            action = find(session, action_id)
            queue.comment(session, auth.current_actor(), action, form.message.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal, {"comment": "message"})
        return show(action_id, status=422, message_form=form)
    return done(action_id, "Your message is saved. Only moderators see it.", part=TIMELINE)


@web.post("/holds/<uuid:hold_id>/undo")
def undo(hold_id: uuid.UUID) -> Response:
    """Undo one decision. Return to its item, or to the queue if the moderator undid it there."""
    seen, note_id = parse_id(forms.query_arg("item")), parse_id(forms.query_arg("note"))
    try:
        with wired().database.writing() as session:
            held = holds.undo(session, auth.current_actor(), hold_id)
    except Conflict as refusal:
        if note_id is not None:
            return page.done(
                None, url_for("web.note", note_id=note_id), sentence_end(refusal.detail), status=409
            )
        if seen is None:
            raise
        return done(seen, sentence_end(refusal.detail), status=409)
    if held.action_id is None:
        return page.done(None, url_for("web.note", note_id=held.note_id), "Undone. Nothing was sent.")
    return done(held.action_id, "Undone. Nothing was sent.")


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
    message = f"{undone} {'decision' if undone == 1 else 'decisions'} undone. Nothing was sent."
    if late:
        message = f"{undone} undone. {late} could not be: too late, already carried out."
    return page.done(None, url, message, status=409 if late else 200)


def find(session: Session, action_id: uuid.UUID) -> Action:
    """Return the action if the actor may moderate it; its community becomes the community of the page.

    Raises:
        NotFound: the action does not exist, or the actor is not in its community.
        Forbidden: the actor is in its community, but their role is too low.
    """
    action = answering.find(session, action_id)
    auth.require(Permission.MODERATE, action.community_id)
    return action


def wanted_queue() -> QueueFilter:
    """Return the queue filter from the query string; if it is invalid, a filter that matches all items."""
    wanted: QueueFilter = row_lists.QUEUE.filters()
    return wanted


def item_url(action_id: uuid.UUID, **more: str) -> str:
    """URL of the item's page, with the filters of the list that it was opened from."""
    return _with_query(url_for("web.item", action_id=action_id), {**origins.query(), **more})


def queue_url() -> str:
    """URL of the queue, with the filters of the current query string."""
    return row_lists.QUEUE.url()


def cleared_queue_url() -> str:
    """URL of the queue of the same community, without filters."""
    return _with_query(url_for("web.review"), {**community_choice.carried()})


def _with_query(path: str, query: Query) -> str:
    return f"{path}?{encoded(query)}" if query else path


def wanted_looks() -> LookFilter:
    """Return the filter of second looks from the query string; if it is invalid, a filter that matches all items."""
    wanted: LookFilter = row_lists.LOOKS.filters()
    return wanted


def claim_following(session: Session, action: Action) -> Action | None:
    """Claim the item that follows this one in the list that it was opened from, and return it."""
    actor, community_id = auth.current_actor(), action.community_id
    if origins.is_second_look():
        return second_looks.claim_next(session, actor, community_id, wanted_looks(), after=action)
    return claims.claim_next(session, actor, community_id, wanted_queue(), after=action)


def go_on(action_id: uuid.UUID, message: str, form: DecisionForm) -> Response | None:
    """Claim and open the next item after one that was handed over; None if the moderator does not work through a list,
    or has typed text that would be lost."""
    if not panel.goes_on() or form.typed_texts:
        return None
    with wired().database.writing() as session:
        following = claim_following(session, find(session, action_id))
    if following is None:
        return page.done(None, row_lists.origin().url(), f"{message} Nothing else waits here.")
    return page.done(None, item_url(following.id, next="1"), message)


def _go(url: str) -> Response:
    """Redirect to another page without a message: that page shows what happened."""
    if page.wants_part():
        response = make_response("", 200)
        response.headers["HX-Redirect"] = url
        return response
    return make_response(redirect(url, 303))


def done(
    action_id: uuid.UUID,
    message: str,
    *,
    status: int = 200,
    part: str = PART,
    form: DecisionForm | None = None,
) -> Response:
    """Answer a POST with the row if the queue or the second looks sent it, else with a part of the item's page.

    ``form``: the decision form, if the POST was not a decision; the answer keeps the text typed into it.
    """
    row_list = row_lists.sent_from()
    kept = form if form is not None and form.version.raw_data and row_list is None else None
    if not page.wants_part() and kept is not None and kept.typed_texts:
        page.say(message, failed=status >= 400)
        return show(action_id, status=status, form=kept)
    if not page.wants_part():
        back = row_list.url_at(action_id) if row_list is not None else _back_url(action_id)
        return page.done(None, back, message, status=status)
    with wired().database.reading() as session:
        action = find(session, action_id)
        if row_list is not None:
            row = queue_rows.row(session, auth.current_actor(), action, row_list)
            return page.done(
                queue_rows.PART, row_list.url(), message, status=status, row=row, **row_list.context()
            )
        context = _panel_context(session, action, kept) | {"focus_last": part == TIMELINE}
    return page.done(part, _back_url(action_id), message, status=status, **context)


def _back_url(action_id: uuid.UUID) -> str:
    return item_url(action_id, **({"next": "1"} if panel.goes_on() else {}))


def _panel_context(session: Session, action: Action, form: DecisionForm | None = None) -> dict[str, Any]:
    return {
        "panel": panel.panel(session, auth.current_actor(), action, form=form),
        "focus_panel": True,
        "swapped": True,
    }


def show(
    action_id: uuid.UUID,
    *,
    status: int = 200,
    alert: str | None = None,
    form: DecisionForm | None = None,
    message_form: CommentForm | None = None,
    reopen_form: ReopenForm | None = None,
    author_note_form: Form | None = None,
    hand_over: AssignForm | SnoozeForm | None = None,
    asked: TextQuestion | None = None,
) -> Response:
    """Render the item's page, or for htmx only the part with the form, with the text that was typed.

    ``asked``: the question about the text to the author that comes before the decision.
    """
    with wired().database.reading() as session:
        action = find(session, action_id)
        item_panel = panel.panel(
            session,
            auth.current_actor(),
            action,
            form=form,
            message_form=message_form,
            reopen_form=reopen_form,
            hand_over=hand_over,
            was_refused=status == 409,
            asked=asked,
        )
        typed_in = "decide" if form is not None and not page.wants_part() else None
        context = {} if page.wants_part() else items.item_context(session, action, typed_in=typed_in)
    context |= {"panel": item_panel, "swapped": page.wants_part()}
    typed = hand_over or form or message_form or reopen_form or author_note_form
    if typed:
        context["form"] = typed  # the page's title says that it has errors
    if author_note_form is not None and context.get("author_note"):
        context["author_note"] = replace(context["author_note"], form=author_note_form)
    part = TIMELINE if message_form else PART
    return page.render("item/item.html", part, status=status, alert=alert, **context)
