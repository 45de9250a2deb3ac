"""The item page: the post, the question, the notes; for moderators also their panel."""

import uuid
from dataclasses import replace
from typing import Any

from flask import Response, make_response, redirect, url_for
from sqlalchemy.orm import Session

from app.core.actions import actions
from app.core.classify.language import UNKNOWN
from app.core.errors import Conflict, Forbidden, Settled
from app.core.factcheck import items
from app.core.models import Action, Request, SampledPost
from app.core.notes import ai_notes, notes, ratings
from app.core.notes.blindness import is_decided, is_for_raters
from app.core.permissions import Permission
from app.core.raters import samples
from app.core.raters.samples import Asked
from app.core.review import queue, reopening, second_looks
from app.core.texts import gettext as _
from app.web import auth, forms, list_filters, page, veils
from app.web.blueprint import web
from app.web.filter_forms import with_query
from app.web.item import answering, author, claim_view, note_forms, panel, reporting, versions, why_status
from app.web.item.answering import AnswerForm
from app.web.item.note_views import note_view
from app.web.item.panel import ModeratorPanel
from app.web.item.views import OPTIONS, Question, blind_item, question, sample_question, timeline
from app.web.languages import language_name
from app.web.list_filters import QueueForm, SecondLookForm
from app.wiring import wired


@web.get("/review/<uuid:action_id>")
def item(action_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        action = answering.find_asked(session, action_id)
        moderates = auth.may(Permission.MODERATE, action.community_id)
        if isinstance(action, Action) and action.reopened_at is not None and not moderates:
            # Members review it again: the outcome of the first review would influence them.
            again = reopening.under_review_again(session, action)
            if again is not None:
                return make_response(redirect(url_for("web.item", action_id=again), 303))
        if isinstance(action, SampledPost):
            # A report has opened an item since: that is what members are asked about.
            opened = actions.live_for(session, action.request_id)
            if opened is not None and is_for_raters(opened):
                return make_response(redirect(url_for("web.item", action_id=opened.id), 303))
        context = item_context(session, action)
    if context["panel"] is not None:
        claim_view.mark_looking(action_id)
    return page.render("item/item.html", **context)


@web.post("/review/<uuid:action_id>/answer")
def answer_item(action_id: uuid.UUID) -> Response:
    form = forms.posted(AnswerForm)
    with wired().database.reading() as session:
        unseen = veils.is_unseen(answering.find_asked(session, action_id))
    if not form.validate() or unseen:
        if unseen:
            form.form_errors.append(veils.UNSEEN)
        with wired().database.reading() as session:
            context = item_context(session, answering.find_asked(session, action_id))
        context |= {"form": form, "answer_form": form}
        return page.render("item/item.html", "item/_question.html", status=422, **context)
    answering.count_rating()
    status, message = 200, _("Your answer is saved.")
    with wired().database.writing() as session:
        try:
            asked = answering.find_asked(session, action_id)
            answering.record_answer(session, asked, form.answer.data, form.edit.data or "")
        except (Conflict, Settled) as refusal:
            status = 409 if isinstance(refusal, Conflict) else 422
            message = f"{refusal.detail}."
    # After the commit: other raters wait for it, and need not wait for this page.
    with wired().database.reading() as session:
        action = answering.find_asked(session, action_id, was_answered=True)
        item_question = ask(session, action)
        moderates = auth.may(Permission.MODERATE, action.community_id)
    return _asked_again(action_id, message, status, item_question, moderates=moderates)


@web.post("/review/<uuid:action_id>/answer/undo")
def undo_item_answer(action_id: uuid.UUID) -> Response:
    status, message = 200, _("Undone. Your answer is taken back.")
    with wired().database.writing() as session:
        action = answering.find_asked(session, action_id)
        try:
            answering.take_back(session, action)
        except Forbidden as refusal:
            status, message = 409, f"{refusal.detail}."
        item_question = ask(session, answering.find_asked(session, action_id))
        moderates = auth.may(Permission.MODERATE, action.community_id)
    return _asked_again(action_id, message, status, item_question, moderates=moderates)


def _asked_again(
    action_id: uuid.UUID, message: str, status: int, item_question: Question, *, moderates: bool
) -> Response:
    """Render the question after the reader's answer changed, or could not be changed."""
    return page.done(
        "item/_question.html",
        url_for("web.item", action_id=action_id),
        message,
        status=status,
        question=item_question,
        options=OPTIONS,
        answer_form=AnswerForm(),
        moderates=moderates,
        focus=True,
    )


def ask(session: Session, action: Asked, *, typed_in: str | None = None) -> Question:
    """Return the question for the reader. The counts are read only if the reader may see them.

    ``typed_in`` is the id of a form with typed text, which must be kept when the content is shown.
    """
    blind = blind_item(action, url_for("web.item", action_id=action.id), whole=True, form=typed_in)
    if isinstance(action, SampledPost):
        answer = samples.by_rater(session, action, auth.current_profile_id())
        # As of an item, whatever the sample itself needs: another number would tell them apart.
        needed = answering.ratings_needed()
        asked = sample_question(action, blind, answer, needed, is_open=samples.is_open(session, action))
        return _with_reports(session, action, asked)
    note = action.note
    if note is None:
        return question(action, blind, None, None, answering.ratings_needed())
    own = ratings.by_rater(session, note.id, auth.current_profile_id())
    counts = ratings.stats(session, note) if is_decided(action) else None
    return _with_reports(session, action, question(action, blind, own, counts, answering.ratings_needed()))


def _with_reports(session: Session, action: Asked, asked: Question) -> Question:
    """Add why the post was reported, once the reader has answered or it is decided."""
    if asked.answer is None and asked.outcome is None:
        return asked
    return replace(asked, reported_as=reporting.reported_as(session, action.request_id))


def item_context(
    session: Session, action: Asked, *, typed_in: str | None = None, shown: ModeratorPanel | None = None
) -> dict[str, Any]:
    """Return the context of ``item.html`` and its parts. The note parts use it too, so page and parts always agree.

    ``shown``: the moderators' panel with what was typed into it, instead of a fresh one.
    """
    moderates = auth.may(Permission.MODERATE, action.community_id)
    item_question, answer_form = ask(session, action, typed_in=typed_in), AnswerForm()
    # Moderators are not asked about samples, so with a sample there is never a panel.
    item = None if isinstance(action, SampledPost) else action
    return {
        "question": item_question,
        "item": item_question.item,
        "options": OPTIONS,
        "form": answer_form,
        "answer_form": answer_form,
        "focus": False,
        "steps": timeline(action, action.request, answered=item_question.answer is not None),
        "moderates": moderates,
        "panel": shown or (panel.panel(session, auth.current_actor(), item) if item and moderates else None),
        "neighbours": _neighbours(session, item) if item and moderates else (None, None),
        "author_note": author.note_for(session, auth.current_actor(), item) if item and moderates else None,
        "changes": versions.changes(session, item) if item and moderates else [],
        "past": author.past_posts(session, auth.current_actor(), item) if item and moderates else None,
        "fact_check": items.referenced(session, action.request),
        "reporting": reporting.form_for(session, action),
        "why": why_status.why(session, item.note, item, None) if item and item.note else None,
        **notes_context(session, action),
    }


def _neighbours(session: Session, action: Action) -> tuple[str | None, str | None]:
    """Return the URLs of the items before and after this one in the list that it was opened from."""
    actor, query = auth.current_actor(), list_filters.origin_query()
    if list_filters.is_second_look():
        ids = second_looks.neighbours(session, actor, action, forms.queried(SecondLookForm).wanted())
    else:
        ids = queue.neighbours(session, actor, action, forms.queried(QueueForm).wanted())
    before, after = (
        with_query(url_for("web.item", action_id=found), query) if found else None for found in ids
    )
    return before, after


def notes_context(session: Session, action: Asked) -> dict[str, Any]:
    """Return the context of ``_notes.html``: the notes on the post, and a form if the reader has written none yet."""
    profile_ids, needed = answering.own_profiles(session), answering.ratings_needed()
    actor = auth.current_actor()
    rows = notes.on_request(session, action.request_id)
    own_ratings = ratings.by_rater_for_notes(session, [note.id for note in rows], auth.current_profile_id())
    views = [
        note_view(note, action, mine=profile_ids, own=own_ratings.get(note.id), needed=needed)
        for note in rows
    ]
    may_write = auth.may(Permission.WRITE_NOTE, action.community_id) and not any(
        view.is_own for view in views
    )
    request = session.get_one(Request, action.request_id)
    draft = ai_notes.find_draft(session, actor, request) if may_write else None
    return {
        "action_id": action.id,
        "notes": views,
        "rating_forms": {
            view.id: note_forms.rating_form(view.id, own_ratings.get(view.id)) for view in views
        },
        "note_form": note_forms.filled_from_draft(draft, action) if draft else note_forms.form_for(action)(),
        "preview": None,
        "may_write": may_write,
        "draft": draft,
        "draft_language": language_name(request.language or UNKNOWN),
        "may_draft": may_write and draft is None and ai_notes.may_ask_for_draft(session, actor, request),
        "writing": draft is not None,
        "written": None,
    }
