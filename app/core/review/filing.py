"""The category that a decision is filed under, where a moderator names another than the score did."""

from sqlalchemy.orm import Session

from app.core.errors import Invalid
from app.core.history import chain as history
from app.core.history import facts
from app.core.models import Action
from app.core.permissions import Actor
from app.core.policies import policies


def checked(session: Session, action: Action, category: str, field: str) -> str | None:
    """The category if it is one of the community's; None if the action is in this category already.

    Raises:
        Invalid: the community has no such category; it names ``field``.
    """
    if category == (action.decided_category or action.category):
        return None
    known = {one.name for one in policies.current(session, action.community_id).categories}
    if category not in known:
        raise Invalid.field(field, "must be one of this community's categories", category[:50])
    return category


def file_under(session: Session, actor: Actor, action: Action, category: str) -> None:
    """Set the category of an action's decision and record it in history."""
    before = action.decided_category or action.category
    action.decided_category = category
    session.flush()
    facts.file_under(session, action, category)
    history.record(
        session,
        actor,
        action.community_id,
        "action.filed",
        "action",
        action.id,
        before={"category": before},
        after={"category": category},
    )
