"""The item's page as the answer to a moderator's form, and their messages and notes on it."""

import uuid

from flask import Response, make_response, redirect, url_for
from sqlalchemy.orm import Session
from wtforms import Form

from app.core.actions import actions, silences
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history.reason import Reason
from app.core.ids import parse_id
from app.core.models import Action
from app.core.permissions import Actor, Permission
from app.core.review import authors, claims, queue
from app.core.texts import gettext as _
from app.web import auth, forms, list_filters, page
from app.web.blueprint import web
from app.web.filter_forms import encoded, with_query
from app.web.filters import sentence_end
from app.web.item import answering, items, panel
from app.web.item.author import AuthorNoteForm, note_for
from app.web.item.decision_forms import CommentForm, DecisionForm, TextQuestion
from app.web.item.silence_forms import LiftForm
from app.web.moderate import queue_rows, row_lists
from app.web.moderate.row_lists import RowList
from app.wiring import wired

PART = "moderate/_moderator_panel.html"
TIMELINE = "moderate/_moderator_timeline.html"


def _release_left(session: Session, actor: Actor) -> Action | None:
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


@web.post("/review/<uuid:action_id>/message")
def write_message(action_id: uuid.UUID) -> Response:
    form = forms.posted(CommentForm)
    if not form.validate():
        return show(action_id, form, status=422)
    try:
        with wired().database.writing() as session:
            action = find(session, action_id)
            queue.comment(session, auth.current_actor(), action, form.message.data or "")
    except Invalid as refusal:
        forms.explain(form, refusal, {"comment": "message"})
        return show(action_id, form, status=422)
    return done(action_id, _("Your message is saved. Only moderators see it."), part=TIMELINE)


def find(session: Session, action_id: uuid.UUID) -> Action:
    """Return the action if the actor may moderate it; its community becomes the community of the page.

    Raises:
        NotFound: the action does not exist, or the actor is not in its community.
        Forbidden: the actor is in its community, but their role is too low.
    """
    action = answering.find(session, action_id)
    auth.require(Permission.MODERATE, action.community_id)
    return action


def item_url(action_id: uuid.UUID, **more: str) -> str:
    """URL of the item's page, with the filters of the list that it was opened from."""
    query = {**list_filters.origin_query(), **more}
    return with_query(url_for("web.item", action_id=action_id), query)


def claim_following(session: Session, action: Action) -> Action | None:
    """Claim the item that follows this one in the list that it was opened from, and return it."""
    row_list, actor = row_lists.origin(), auth.current_actor()
    return row_list.claim_next(session, actor, action.community_id, row_list.filters(), after=action)


def open_next(row_list: RowList) -> Response:
    """Claim the next item of the filtered list and open it; release the one that the moderator comes from."""
    actor, community_id = auth.current_actor(), auth.current_community().id
    with wired().database.writing() as session:
        after = _release_left(session, actor)
        action = row_list.claim_next(session, actor, community_id, row_list.filters(), after=after)
    if action is None:
        return page.done(None, row_list.url(), _("The queue has nothing that you could claim."))
    query = encoded({**row_list.query(), **row_list.origin, "next": "1"})
    return make_response(redirect(f"{url_for('web.item', action_id=action.id)}?{query}", 303))


def go_on(action_id: uuid.UUID, message: str, form: DecisionForm) -> Response | None:
    """Claim and open the next item after one that was handed over; None if the moderator does not work through a list,
    or has typed text that would be lost."""
    if not panel.opens_next() or form.typed_texts:
        return None
    with wired().database.writing() as session:
        following = claim_following(session, find(session, action_id))
    if following is None:
        return page.done(None, row_lists.origin().url(), _("%(done)s The queue is empty.", done=message))
    return page.done(None, item_url(following.id, next="1"), message)


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
        return show(action_id, kept, status=status)
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
        shown = panel.panel(session, auth.current_actor(), action, *([kept] if kept else []))
    return page.done(
        part,
        _back_url(action_id),
        message,
        status=status,
        panel=shown,
        focus_panel=True,
        swapped=True,
        focus_last=part == TIMELINE,
    )


def _back_url(action_id: uuid.UUID) -> str:
    return item_url(action_id, **({"next": "1"} if panel.opens_next() else {}))


def show(
    action_id: uuid.UUID,
    *sent: Form,
    status: int = 200,
    alert: str | None = None,
    asked: TextQuestion | None = None,
) -> Response:
    """Render the item's page, or for htmx only the part with the form, with the text that was typed.

    ``sent``: the forms that the request carried, the one that it is about first. ``asked``: the question about the text
    to the author that comes before the decision.
    """
    with wired().database.reading() as session:
        action = find(session, action_id)
        shown = panel.panel(
            session, auth.current_actor(), action, *sent, was_refused=status == 409, asked=asked
        )
        is_decision = any(isinstance(form, DecisionForm) for form in sent)
        typed_in = "decide" if is_decision and not page.wants_part() else None
        context = (
            {} if page.wants_part() else items.item_context(session, action, typed_in=typed_in, shown=shown)
        )
    context |= {"panel": shown, "swapped": page.wants_part()}
    if sent:
        context["form"] = sent[0]  # the page's title says that it has errors
    about_author = next((form for form in sent if isinstance(form, AuthorNoteForm)), None)
    if about_author is not None and context.get("author_note"):
        context["author_note"]["form"] = about_author
    is_message = any(isinstance(form, CommentForm) for form in sent)
    return page.render(
        "item/item.html", TIMELINE if is_message else PART, status=status, alert=alert, **context
    )


@web.post("/review/<uuid:action_id>/lift")
def lift(action_id: uuid.UUID) -> Response:
    """End a silence early."""
    form = forms.posted(LiftForm)
    if not form.validate():
        return show(action_id, form, status=422)
    try:
        with wired().database.writing() as session:
            action = find(session, action_id)
            silences.lift(session, auth.current_actor(), action, reason=Reason(form.lift_reason.data or ""))
    except Conflict as refusal:
        return done(action_id, sentence_end(refusal.detail), status=409)
    except Invalid as refusal:
        forms.explain(form, refusal, {"reason": "lift_reason"})
        return show(action_id, form, status=422)
    return done(action_id, _("The silence is lifted."))


AUTHOR_NOTE_PART = "moderate/_author_note.html"


@web.post("/review/<uuid:action_id>/author-note")
def write_author_note(action_id: uuid.UUID) -> Response:
    form = forms.posted(AuthorNoteForm)
    status, message = 200, _("The note about the author is saved. Only moderators see it.")
    try:
        if form.validate():
            with wired().database.writing() as session:
                action = find(session, action_id)
                text, author = form.about_author.data or "", action.platform_author_id
                authors.write_note(session, auth.current_actor(), action.community_id, author, text)
        else:
            status = 422
    except Invalid as refusal:
        forms.explain(form, refusal, {"text": "about_author"})
        status = 422
    if status == 200 and not page.wants_part():
        return page.done(None, item_url(action_id), message)
    with wired().database.reading() as session:
        action = find(session, action_id)
        view = note_for(session, auth.current_actor(), action, form if status != 200 else None)
    if status != 200:
        if not page.wants_part():
            return show(action_id, form, status=422)
        return page.render(AUTHOR_NOTE_PART, AUTHOR_NOTE_PART, status=422, author_note=view)
    return page.done(AUTHOR_NOTE_PART, item_url(action_id), message, author_note=view)
