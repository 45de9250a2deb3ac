"""The moderators' lasting note about an author, as the page of each of the author's posts shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import url_for
from sqlalchemy.orm import Session
from wtforms import Form, TextAreaField

from app.core import limits
from app.core.models import Action, AuthorNote
from app.core.permissions import Actor
from app.core.review import author_notes
from app.web.forms import at_most, whole_lines


class AuthorNoteForm(Form):
    """The text of the note; empty to take it back."""

    about_author = TextAreaField(
        "Note about the author",
        [at_most(limits.REASON_MAX, "Note about the author")],
        filters=[whole_lines],
    )


@dataclass(frozen=True)
class AuthorNoteView:
    """The note in force (None if there is none), its earlier versions, and the form that writes another."""

    url: str
    current: AuthorNote | None
    earlier: Sequence[AuthorNote]
    form: AuthorNoteForm


def for_item(
    session: Session, actor: Actor, action: Action, form: AuthorNoteForm | None = None
) -> AuthorNoteView | None:
    """Return the note about this item's author; None if the platform named no author."""
    if action.platform_author_id is None:
        return None
    versions = author_notes.versions(session, actor, action.community_id, action.platform_author_id)
    current = versions[0] if versions and versions[0].text else None
    return AuthorNoteView(
        url=url_for("web.write_author_note", action_id=action.id),
        current=current,
        earlier=versions[1:] if current is not None else versions,
        form=form or AuthorNoteForm(about_author=current.text if current is not None else ""),
    )
