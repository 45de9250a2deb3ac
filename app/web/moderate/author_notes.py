"""View that writes the moderators' lasting note about an author."""

import uuid

from flask import Response

from app.core.errors import Invalid
from app.core.review import author_notes
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.item.author_note import AuthorNoteForm, for_item
from app.web.moderate import moderation
from app.wiring import wired

PART = "moderate/_author_note.html"


@web.post("/review/<uuid:action_id>/author-note")
def write_author_note(action_id: uuid.UUID) -> Response:
    form = forms.posted(AuthorNoteForm)
    status, message = 200, "The note about the author is saved. Only moderators see it."
    try:
        if form.validate():
            with wired().database.writing() as session:
                action = moderation.find(session, action_id)
                author_notes.write(session, auth.current_actor(), action, form.about_author.data or "")
        else:
            status = 422
    except Invalid as refusal:
        forms.explain(form, refusal, {"text": "about_author"})
        status = 422
    if status == 200 and not page.wants_part():
        return page.done(None, moderation.item_url(action_id), message)
    with wired().database.reading() as session:
        action = moderation.find(session, action_id)
        view = for_item(session, auth.current_actor(), action, form if status != 200 else None)
    if status != 200:
        if not page.wants_part():
            return moderation.show(action_id, form, status=422)
        return page.render(PART, PART, status=422, author_note=view)
    return page.done(PART, moderation.item_url(action_id), message, author_note=view)
