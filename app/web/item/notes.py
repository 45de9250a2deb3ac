"""Notes: write one on an item, rate it, edit it; and the page of one note."""

import uuid
from typing import Any

from flask import Response, make_response, redirect, url_for
from sqlalchemy.orm import Session

from app.core.actions import actions
from app.core.errors import Conflict, Forbidden, Invalid, NotFound, Unavailable
from app.core.models import Action, Note, Profile
from app.core.notes import ai_notes, notes, ratings
from app.core.permissions import Permission
from app.core.raters import samples
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import HelpfulnessLevel
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.item import answering, items, note_panel, why_status
from app.web.item.decision_forms import DecisionForm
from app.web.item.note_forms import NoteForm, RatingForm, filled_from, form_for, rating_form
from app.web.item.note_views import WHY_MISLEADING, WHY_NOT_MISLEADING, classified, note_view
from app.wiring import wired


@web.post("/review/<uuid:action_id>/notes")
def write_note(action_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        action = answering.find_asked(session, action_id)
        form = forms.posted(
            form_for(action, ai_notes.find_draft(session, auth.current_actor(), action.request))
        )
    wants_preview = form.preview.data is not None
    is_valid = form.validate()
    status, alert = 200 if is_valid else 422, None
    if is_valid and not wants_preview:
        try:
            return _keep_note(action_id, form)
        except Conflict as refusal:
            status, alert = 409, _("%(why)s. Your text is kept below.", why=refusal.detail)
        except Invalid as refusal:
            forms.explain(form, refusal)
            status = 422
    with wired().database.reading() as session:
        action = answering.find_asked(session, action_id)
        context = items.item_context(session, action)
        preview = _previewed(form, action) if is_valid and wants_preview else None
    context |= {"form": form, "note_form": form, "writing": True, "may_write": True, "preview": preview}
    return page.render("item/item.html", "item/_notes.html", status=status, alert=alert, **context)


def _keep_note(action_id: uuid.UUID, form: NoteForm) -> Response:
    with wired().database.writing() as session:
        action = answering.find_asked(session, action_id)
        actor = auth.current_actor()
        draft = ai_notes.find_draft(session, actor, action.request)
        note = notes.write(
            session,
            actor,
            action.community_id,
            session.get_one(Profile, auth.current_profile_id()),
            form.summary.data or "",
            form.says,
            request=action.request,
            reasons=form.reasons,
            sources=form.source_list,
        )
        if draft is not None and form.draft.data == str(draft.id):
            ai_notes.use_draft(session, actor, draft, note)
        context = items.notes_context(session, action) | {"written": note.id}
    target = url_for("web.item", action_id=action_id, _anchor=f"note-{note.id}")
    return page.done("item/_notes.html", target, _("Your note is saved. Others can rate it now."), **context)


def _previewed(form: NoteForm, action: Asked) -> dict[str, Any]:
    words = WHY_MISLEADING | WHY_NOT_MISLEADING
    return {
        "summary": form.summary.data or "",
        "classification": classified(form.says, action),
        "reasons": [words[reason] for reason in form.reasons],
        "sources": form.source_list,
    }


@web.get("/notes/<uuid:note_id>")
def note(note_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        row = find(session, note_id)
        action = action_of(session, row)
        if row.rationale:
            # The rationale is rated by answering the item's question, on the page with the post.
            target = url_for("web.item", action_id=action.id) if action else "/"
            return make_response(redirect(target, 303))
        context = note_context(session, row, action)
    return page.render("item/note.html", **context)


@web.post("/notes/<uuid:note_id>/rating")
def rate_note(note_id: uuid.UUID) -> Response:
    form = rating_form(note_id, posted=True)
    on_item = form.on.data == "item"
    if not form.validate():
        with wired().database.reading() as session:
            row = find(session, note_id)
            action = action_of(session, row)
            if on_item and action is not None and not page.wants_part():
                context = items.item_context(session, answering.find_asked(session, action.id))
                context["rating_forms"] = {**context["rating_forms"], note_id: form}
                context["form"] = form
                return page.render("item/item.html", status=422, **context)
            context = note_context(session, row, action) | {"rating_form": form, "form": form}
        context["on"] = "item" if on_item else "note"
        return page.render("item/note.html", "item/_note.html", status=422, **context)
    answering.count_rating()
    with wired().database.writing() as session:
        row = find(session, note_id)
        if row.rationale:
            raise NotFound("note")
        status, message = 200, _("Your rating is saved.")
        if row.locked:
            # Decided while the rater was reading: typed text is kept, and the note shows its new status.
            status, message = 409, _("%(why)s. Your rating was not needed any more.", why=ratings.LOCKED)
        else:
            ratings.rate(
                session,
                auth.current_actor(),
                row,
                session.get_one(Profile, auth.current_profile_id()),
                HelpfulnessLevel(form.level.data),
                reasons=form.reasons,
            )
    return _rated(note_id, message, status, on_item=on_item)


@web.post("/notes/<uuid:note_id>/rating/undo")
def undo_rating(note_id: uuid.UUID) -> Response:
    status, message = 200, _("Undone. Your rating is taken back.")
    with wired().database.writing() as session:
        row = find(session, note_id)
        if row.rationale:
            raise NotFound("note")
        try:
            answering.withdraw_rating(session, note_id)
        except Forbidden as refusal:
            status, message = 409, f"{refusal.detail}."
    return _rated(note_id, message, status, on_item=rating_form(note_id, posted=True).on.data == "item")


def _rated(note_id: uuid.UUID, message: str, status: int, *, on_item: bool) -> Response:
    """Render the note after the reader's rating changed, or could not be changed."""
    # After the commit: other raters wait for it, and need not wait for this page.
    with wired().database.reading() as session:
        row = find(session, note_id)
        action = action_of(session, row)
        context = note_context(session, row, action)
    context |= {"on": "item" if on_item else "note", "focus": True, "swapped_why": not on_item}
    target = (
        url_for("web.item", action_id=action.id, _anchor=f"note-{note_id}")
        if on_item and action is not None
        else url_for("web.note", note_id=note_id)
    )
    return page.done("item/_note.html", target, message, status=status, **context)


@web.get("/notes/<uuid:note_id>/edit")
def edit_note(note_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        row = _own(session, note_id)
        form, rated = filled_from(row, action_of(session, row)), row.ratings_count > 0
    return page.render("item/edit_note.html", form=form, note_id=note_id, rated=rated)


@web.post("/notes/<uuid:note_id>/edit")
def edit_note_submit(note_id: uuid.UUID) -> Response:
    with wired().database.reading() as session:
        row = _own(session, note_id, locked=True)
        form = forms.posted(form_for(action_of(session, row), row))
    is_valid = form.validate()
    status, alert = 422, None
    with wired().database.writing() as session:
        row = _own(session, note_id, locked=True)
        rated = row.ratings_count > 0
        if row.locked:
            status, alert, is_valid = 409, _("%(why)s. Your text is kept below.", why=ratings.LOCKED), False
        if is_valid:
            try:
                notes.edit(
                    session,
                    auth.current_actor(),
                    row,
                    form.summary.data or "",
                    form.says,
                    reasons=form.reasons,
                    sources=form.source_list,
                )
            except Invalid as refusal:
                forms.explain(form, refusal)
                is_valid = False
    if not is_valid:
        return page.render(
            "item/edit_note.html", status=status, alert=alert, form=form, note_id=note_id, rated=rated
        )
    return page.done(None, url_for("web.note", note_id=note_id), _("Your note is changed."))


def find(session: Session, note_id: uuid.UUID) -> Note:
    """Return the note and make its community the current one. Raises NotFound if the reader may not see it."""
    row = notes.get(session, auth.current_actor(), note_id)
    auth.enter(row.community_id)
    return row


def _own(session: Session, note_id: uuid.UUID, *, locked: bool = False) -> Note:
    """Return the reader's own note; with ``locked`` also one that a moderator has locked."""
    row = find(session, note_id)
    if row.author_id not in answering.own_profiles(session) or row.rationale:
        raise Forbidden(_("Only its author can edit this note"))
    if row.locked and not locked:
        raise Forbidden(ratings.LOCKED)
    return row


def action_of(session: Session, row: Note) -> Asked | None:
    """Return the item that a note belongs to, or else the sample that the reader is asked about, or None."""
    if row.rationale:
        return actions.of_note(session, row.id)
    if row.request_id is None:
        return None
    return actions.live_for(session, row.request_id) or samples.for_request(
        session, auth.current_actor(), row.request_id
    )


def note_context(
    session: Session, row: Note, action: Asked | None, decision: DecisionForm | None = None
) -> dict[str, Any]:
    """Return the context of ``note.html`` and ``_note.html``, with a moderator's decision as it was sent."""
    actor = auth.current_actor()
    own = ratings.by_rater(session, row.id, auth.current_profile_id())
    view = note_view(
        row, action, mine=answering.own_profiles(session), own=own, needed=answering.ratings_needed()
    )
    moderates = auth.may(Permission.MODERATE, row.community_id)
    form: RatingForm = rating_form(row.id, own)
    return {
        "note": view,
        "rating_form": form,
        "form": form,
        "on": "note",
        "focus": False,
        "item_url": url_for("web.item", action_id=action.id) if action else None,
        "moderates": moderates,
        "panel": note_panel.panel(session, actor, row, form=decision) if moderates else None,
        "why": why_status.why(session, row, action if isinstance(action, Action) else None, own),
    }


READY = lazy_gettext("The draft is ready. Check it, then submit it as your own note, or discard it.")


@web.post("/review/<uuid:action_id>/draft")
def draft_note(action_id: uuid.UUID) -> Response:
    actor = auth.current_actor()
    with wired().database.reading() as session:
        action = answering.find(session, action_id)
        auth.require(Permission.MODERATE, action.community_id)
        post, item = ai_notes.prepare_draft(session, actor, action.request)
    wired().throttle.hit("ai_notes", str(actor.account_id))
    try:
        # No session is open here, because the provider may take many seconds.
        draft = wired().note_writer.write(post, item)
    except Unavailable as failed:
        return _drafted(
            action_id, _("No draft: %(why)s. Try again, or write the note yourself.", why=failed.detail), 409
        )
    with wired().database.writing() as session:
        ai_notes.keep_draft(session, actor, answering.find(session, action_id).request, draft, item)
    return _drafted(action_id, READY)


@web.post("/review/<uuid:action_id>/draft/discard")
def discard_note_draft(action_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        action = answering.find(session, action_id)
        auth.require(Permission.MODERATE, action.community_id)
        was_there = ai_notes.discard_draft(session, auth.current_actor(), action.request)
    return _drafted(
        action_id, _("The draft is discarded.") if was_there else _("There was no draft any more.")
    )


def _drafted(action_id: uuid.UUID, message: str, status: int = 200) -> Response:
    with wired().database.reading() as session:
        context = items.notes_context(session, answering.find(session, action_id))
    target = url_for("web.item", action_id=action_id, _anchor="notes")
    return page.done("item/_notes.html", target, message, status=status, **context)
