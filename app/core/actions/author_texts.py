"""What the author of a post is told with a warning (docs/integrate/api.md).

It is the moderator's text, or else the community's for the category, or else a shipped one in the community's language.
"""

import uuid
from collections.abc import Mapping, Sequence

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import texts
from app.core.communities import settings as community_settings
from app.core.communities.settings import CommunitySettings
from app.core.models import Action, Category
from app.core.texts import lazy_gettext
from app.core.thresholds import threshold_sets
from app.core.thresholds.routing import STRIKES
from app.core.vocabulary import ActionType

SUPPORTED = "self_harm"
"""The category whose posts are answered with the community's support text, not reprimanded."""
_SHIPPED: Mapping[str, str] = {
    "toxicity": lazy_gettext("Your post reads as an insult. Please write without attacking anyone."),
    "hate": lazy_gettext(
        "Your post reads as an attack on people for what they are. Such posts are not welcome here."
    ),
    "threat": lazy_gettext(
        "Your post reads as a threat, or as wishing harm to someone. Please do not write such posts."
    ),
    "sexual": lazy_gettext("Your post has sexual content, which does not belong here. Please leave it out."),
    "spam": lazy_gettext("Your post looks like advertising. Please do not advertise here."),
    "pii": lazy_gettext(
        "Your post seems to contain private details, such as an address or a phone number. Please remove them."
    ),
    STRIKES: lazy_gettext(
        "Several of your posts did not follow the guidelines of this community. Please read them before you post "
        "again."
    ),
    "misinformation": lazy_gettext(
        "Your post may mislead readers. Please check it against sources that you trust."
    ),
}
_GENERAL = lazy_gettext(
    "Your post may not follow the guidelines of this community. Please read them before you post again."
)


def shipped(settings: CommunitySettings, category: str | None) -> str | None:
    """The text for a category for which the community has none of its own. None: no support text is wanted."""
    if category == SUPPORTED:
        return settings.support_text or None
    return texts.in_language(settings.language, _SHIPPED.get(category or "", _GENERAL))


def for_category(session: Session, community_id: uuid.UUID, category: str | None) -> str | None:
    """What an author is told with a warning about a post of this category, if the moderator writes nothing."""
    own = _own_texts(session, community_id)
    return own.get(category or "") or shipped(community_settings.read(session, community_id), category)


def add(session: Session, actions: Sequence[Action]) -> None:
    """Set the text of those warnings of one community that are to be proposed without one. One query for all."""
    silent = [action for action in actions if action.action_type is ActionType.WARN and not action.reason]
    if not silent:
        return
    own = _own_texts(session, silent[0].community_id)
    settings = community_settings.read(session, silent[0].community_id)
    for action in silent:
        action.reason = own.get(action.filed_under or "") or shipped(settings, action.filed_under)


def _own_texts(session: Session, community_id: uuid.UUID) -> dict[str, str]:
    """The community's own texts by category."""
    rows = session.execute(
        sa.select(Category.name, Category.author_text).where(
            Category.threshold_set_id == threshold_sets.in_force(community_id),
            Category.author_text.is_not(None),
        )
    )
    return {name: text for name, text in rows if text is not None}
