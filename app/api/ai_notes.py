"""AI notes: request a draft and store it as a note (docs/integrate/api.md, docs/run/datasets.md)."""

from flask import Response
from sqlalchemy.orm import Session

from app.api import auth
from app.api.blueprints import public
from app.api.notes import created, show
from app.api.parse import JSON_API
from app.api.schemas.notes import NoteDocument
from app.core.models import Request
from app.core.notes import ai_notes
from app.core.notes.ai_notes import Draft, Post
from app.core.requests import submitting
from app.wiring import wired


@public.post("/requests/<any_id:reference>/ai-notes")
@public.output(NoteDocument, 201, content_type=JSON_API)
@public.doc(responses=[400, 404, 502, 503, 504])
def create_ai_note(reference: str) -> Response:
    """Have an AI note drafted for a request. It starts unrated; people decide whether it is shown. No body."""
    caller = auth.caller()
    with wired().database.reading() as session:
        post, item = ai_notes.prepare(session, caller.actor, _find(session, reference))
    auth.count("ai_notes", str(caller.key_id))
    # No session is open here, because the provider may take many seconds.
    draft = wired().note_writer.write(post, item)
    with wired().database.writing() as session:
        note = ai_notes.keep(session, caller.actor, _find(session, reference), draft, item)
        shown = show(note)
    return created(shown, meta={"language": language(post, draft)})


def language(post: Post, draft: Draft) -> dict[str, str]:
    """The languages of the post and of the note (BCP 47), and why they differ if they do."""
    languages = {"post": post.language, "note": draft.language}
    return languages | ({"reason": draft.language_gap} if draft.language_gap else {})


def _find(session: Session, reference: str) -> Request:
    caller = auth.caller()
    return submitting.find(session, caller.actor, reference, scope=caller.scope_id)
