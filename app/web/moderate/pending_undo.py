"""Decisions that can still be undone: what they do, in words, and how long there is left."""

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import clock
from app.core.models import Action
from app.core.permissions import Actor
from app.core.review import holds
from app.web import auth
from app.web.categories import category_name, is_veiled
from app.web.filters import excerpt
from app.web.moderate.verb_words import outcome


@dataclass(frozen=True)
class PendingUndo:
    """The reader's decisions that can still be undone, newest first; ``seconds`` is what is left of the newest."""

    message: str
    hold_ids: Sequence[uuid.UUID]
    action_ids: Sequence[uuid.UUID]
    seconds: int

    @property
    def undo_path(self) -> str:
        """Where to take the newest back."""
        return f"/holds/{self.hold_ids[0]}/undo"


def seconds_left(due_at: datetime) -> int:
    """Whole seconds until then, at least 1."""
    return max(1, math.ceil((due_at - clock.now()).total_seconds()))


def undoable(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    *,
    newest_only: bool = False,
    here: uuid.UUID | None = None,
) -> PendingUndo | None:
    """The actor's own decisions in this community that can still be undone; three queries at most."""
    held = [
        one for one in holds.held_by(session, actor) if one.community_id == community_id and one.action_id
    ]
    if newest_only:
        held = held[:1]
    if not held:
        return None
    action_ids = [one.action_id for one in held if one.action_id is not None]
    found = session.scalars(
        sa.select(Action).where(Action.id.in_(action_ids)).options(selectinload(Action.request))
    )
    known = {action.id: action for action in found}
    newest = known[action_ids[0]]
    named = "this post" if newest.id == here else in_words(newest, 50)
    message = capitalised(outcome(held[0].verb, newest, named, held[0].reopen_to))
    if len(held) > 1:
        message = f"{len(held)} decisions can still be undone. The newest: {message}"
    return PendingUndo(
        message=message,
        hold_ids=[one.id for one in held],
        action_ids=action_ids,
        seconds=seconds_left(held[0].due_at),
    )


def in_words(action: Action, length: int) -> str:
    """A post within a sentence: its beginning; else whose it is, and of a sensitive one its category."""
    author = action.request.platform_author_id
    whose = f" by {author}" if author else ""
    if is_veiled(action.category, warn=auth.current_reader().account.content_warnings):
        return f"a post{whose} ({category_name(action.category).lower()})"
    words = excerpt(action.request.content, length)
    return f"“{words}”" if words else f"a post without text{whose}"


def capitalised(sentence: str) -> str:
    """The sentence with its first letter large, and the others as they are."""
    return sentence[:1].upper() + sentence[1:]
