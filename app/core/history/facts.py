"""What an action's history entries repeat of the action and its post, so that a filter reads entries alone.

The copies are set when an entry is written. The few verbs that change one of them afterwards call a function of
this module: another category or type, a language that was
found later, an erased author.
"""

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.models import Action, HistoryEntry, HistoryText, Request

FACTS = ("action_type", "category", "author", "language")
_OF_ACTION = HistoryEntry.object_type == sa.literal("action", literal_execute=True)


def of_object(session: Session, object_type: str, object_id: uuid.UUID) -> dict[str, Any]:
    """The columns of an entry about this object; each is None unless it is an action.

    Verbs have loaded the action and its post already, so that this sends no query.
    """
    action = session.get(Action, object_id) if object_type == "action" else None
    if action is None:
        return dict.fromkeys(FACTS)
    request = session.get_one(Request, action.request_id)
    return {
        "action_type": action.action_type.value,
        "category": action.filed_under,
        "author": request.platform_author_id,
        "language": request.language,
    }


def with_objects(entries: sa.Select[HistoryEntry, HistoryText]) -> sa.Select[Any]:
    """Add to a selection of entries what their copies should be, as the last columns (``FACTS``)."""
    return (
        entries.add_columns(
            Action.action_type,
            sa.func.coalesce(Action.decided_category, Action.category),
            Request.platform_author_id,
            Request.language,
        )
        .outerjoin(Action, sa.and_(_OF_ACTION, Action.id == HistoryEntry.object_id))
        .outerjoin(Request, Request.id == Action.request_id)
    )


def fault(entry: HistoryEntry, of_object: Sequence[str | None]) -> str | None:
    """What an entry says of its action other than the action and its post do (``with_objects``), or None."""
    for name, value in zip(FACTS, of_object, strict=True):
        copy = getattr(entry, name)
        # Earlier versions did not complete it where it was found after the entry was written.
        is_unknown = name == "language" and copy is None and value is not None
        if copy != value and not is_unknown:
            return f"its {name.replace('_', ' ')} is not that of its object"
    return None


def file_under(session: Session, action: Action, category: str) -> None:
    """Give all entries of the action the category that a moderator decided on."""
    _update(session, [action.id], category=category)


def write_language(session: Session, action_ids: Sequence[uuid.UUID], language: str) -> None:
    """Give all entries of the actions the language that was found in their post."""
    _update(session, action_ids, language=language)


def act_as(session: Session, action: Action) -> None:
    """Give all entries of the action the type that a moderator chose instead of the configured one."""
    _update(session, [action.id], action_type=action.action_type.value)


def forget_authors(session: Session, request_ids: Sequence[uuid.UUID]) -> None:
    """Remove the author from the entries about these posts."""
    actions = session.scalars(sa.select(Action.id).where(Action.request_id.in_(request_ids))).all()
    _update(session, actions, author=None)


def rename_author(session: Session, in_communities: sa.Select[Any], author: str, pseudonym: str) -> None:
    """Replace an author's id in the entries of these communities."""
    bulk.change(
        session,
        sa.update(HistoryEntry)
        .where(_OF_ACTION, HistoryEntry.community_id.in_(in_communities), HistoryEntry.author == author)
        .values(author=pseudonym),
    )


def _update(session: Session, action_ids: Sequence[uuid.UUID], **values: Any) -> None:
    bulk.change(
        session,
        sa.update(HistoryEntry).where(_OF_ACTION, HistoryEntry.object_id.in_(action_ids)).values(**values),
    )
