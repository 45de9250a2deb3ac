"""AI drafts for moderators: have a note drafted on an item, or discard the draft. ``notes`` submits it."""

import uuid

from flask import Response, url_for

from app.core.errors import Unavailable
from app.core.notes import ai_drafts
from app.core.permissions import Permission
from app.web import auth, page
from app.web.blueprint import web
from app.web.item import items
from app.web.rate import answering
from app.wiring import wired

READY = "The draft is ready. Check it, then submit it as your own note, or discard it."


@web.post("/review/<uuid:action_id>/draft")
def draft_note(action_id: uuid.UUID) -> Response:
    actor = auth.current_actor()
    with wired().database.reading() as session:
        action = answering.find(session, action_id)
        auth.require(Permission.MODERATE, action.community_id)
        post, item = ai_drafts.prepare(session, actor, action.request)
    wired().throttle.hit("ai_notes", str(actor.account_id))
    try:
        # No session is open here, because the provider may take many seconds.
        draft = wired().note_writer.write(post, item)
    except Unavailable as failed:
        return _answer(action_id, f"No draft: {failed.detail}. Try again, or write the note yourself.", 409)
    with wired().database.writing() as session:
        ai_drafts.keep(session, actor, answering.find(session, action_id).request, draft, item)
    return _answer(action_id, READY)


@web.post("/review/<uuid:action_id>/draft/discard")
def discard_note_draft(action_id: uuid.UUID) -> Response:
    with wired().database.writing() as session:
        action = answering.find(session, action_id)
        auth.require(Permission.MODERATE, action.community_id)
        was_there = ai_drafts.discard(session, auth.current_actor(), action.request)
    return _answer(action_id, "The draft is discarded." if was_there else "There was no draft any more.")


def _answer(action_id: uuid.UUID, message: str, status: int = 200) -> Response:
    with wired().database.reading() as session:
        context = items.notes_context(session, answering.find(session, action_id))
    target = url_for("web.item", action_id=action_id, _anchor="notes")
    return page.done("item/_notes.html", target, message, status=status, **context)
