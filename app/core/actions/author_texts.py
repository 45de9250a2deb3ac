"""Default texts to the author of a post, where no moderator has written one."""

from sqlalchemy.orm import Session

from app.core.communities import settings as community_settings
from app.core.models import Action
from app.core.vocabulary import ActionType

SUPPORTED = "self_harm"
"""The category whose posts are answered with the community's support text, not reprimanded."""


def add_support_text(session: Session, action: Action) -> None:
    """Set the text of a notice to the author of a post about self-harm that is proposed without one."""
    category = action.decided_category or action.category
    if action.action_type is ActionType.WARN and category == SUPPORTED and not action.reason:
        settings = community_settings.read(session, action.community_id)
        action.reason = settings.support_text or None
