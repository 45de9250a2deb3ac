"""Reasons to choose from, in a form that asks for one. Script fills the Reason field; without it the server does."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.orm import Session
from wtforms import Field

from app.core.ids import parse_id
from app.core.permissions import Actor
from app.core.review import reason_templates


class AsksForReason(Protocol):
    """A form with a Reason, and the id of the template that was chosen for it."""

    @property
    def reason(self) -> Field: ...

    @property
    def template(self) -> Field: ...


@dataclass(frozen=True)
class ReasonOption:
    """One reason: its title in the list, and the text that it stands for."""

    id: uuid.UUID
    title: str
    text: str


def options(
    session: Session, actor: Actor, community_id: uuid.UUID, category: str | None = None
) -> Sequence[ReasonOption]:
    """The reasons in use, those for this category first; those for others are left out when one is given."""
    found = [
        one
        for one in reason_templates.in_use(session, actor, community_id)
        if category is None or one.category in (None, category)
    ]
    found.sort(key=lambda one: one.category is None)
    return [ReasonOption(one.id, one.title, one.text) for one in found]


def compose(session: Session, actor: Actor, community_id: uuid.UUID, form: AsksForReason) -> None:
    """Put the chosen template's text before what was typed, unless it stands there already: script had filled it in.

    A template that is not in use any more adds nothing; the choice is not kept, because its text now stands there.
    """
    chosen = parse_id(form.template.data or "")
    form.template.data = ""
    if chosen is None:
        return
    text = next(
        (one.text for one in reason_templates.in_use(session, actor, community_id) if one.id == chosen), ""
    )
    typed = form.reason.data or ""
    if text and text not in typed:
        whole = f"{text}\n{typed}" if typed.strip() else text
        form.reason.data, form.reason.raw_data = whole, [whole]
