"""Reason templates in forms that ask for a reason. JavaScript fills in the Reason field; without it the server does."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session
from wtforms import Form

from app.core.ids import parse_id
from app.core.permissions import Actor
from app.core.review import reason_templates


@dataclass(frozen=True)
class ReasonOption:
    """One reason template: its title in the list, and the text that it inserts.

    ``default_for`` is the verb whose form begins with it, an empty string for none.
    """

    id: uuid.UUID
    title: str
    text: str
    default_for: str = ""


def options(
    session: Session, actor: Actor, community_id: uuid.UUID, category: str | None = None
) -> Sequence[ReasonOption]:
    """Return the templates in use, those with a category first; if ``category`` is given, without other categories.

    Without a category, only a template for all categories is a default: the form may be about several items.
    """
    templates = [
        template
        for template in reason_templates.in_use(session, actor, community_id)
        if category is None or template.category in (None, category)
    ]
    templates.sort(key=lambda template: template.category is None)
    return [
        ReasonOption(
            template.id,
            template.title,
            template.text,
            template.verb or "" if category is not None or template.category is None else "",
        )
        for template in templates
    ]


def remembered_as(actor: Actor, community_id: uuid.UUID, category: str | None = None) -> str:
    """Under which name the browser's tab remembers the reason that this moderator gave last."""
    return f"{actor.account_id} {community_id} {category or '*'}"


def compose(
    session: Session, actor: Actor, community_id: uuid.UUID, form: Form, *, with_text: bool = False
) -> None:
    """Put the text of the chosen template before the typed reason, unless JavaScript has already inserted it.

    A template that is no longer in use adds nothing. The choice is cleared, because the reason now has its text.
    ``with_text``: the same with the text to the author.
    """
    for choice, name in (("template", "reason"), ("wording", "author_text"))[: 1 + with_text]:
        chosen = parse_id(form[choice].data or "")
        form[choice].data = ""
        if chosen is None:
            continue
        templates = reason_templates.in_use(session, actor, community_id)
        text = next((template.text for template in templates if template.id == chosen), "")
        field = form[name]
        typed = field.data or ""
        if text and text not in typed:
            whole = f"{text}\n{typed}" if typed.strip() else text
            field.data, field.raw_data = whole, [whole]
