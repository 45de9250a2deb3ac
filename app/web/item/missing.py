"""What blocks an item's progress, shown on the item page with links to fix it."""

from collections.abc import Sequence
from dataclasses import dataclass

from flask import url_for
from sqlalchemy.orm import Session

from app.core.communities import getting_started
from app.core.communities.getting_started import Hearing, Raters
from app.core.models import Action, Community
from app.core.permissions import Permission
from app.core.vocabulary import IN_REVIEW, ActionState, ReviewGroup
from app.web import auth


@dataclass(frozen=True)
class Missing:
    """An explanation, and links as (label, URL) to pages that the reader may open."""

    text: str
    links: Sequence[tuple[str, str]] = ()


def for_item(session: Session, action: Action) -> Sequence[Missing]:
    """Return what blocks this item: too few raters to decide it, or no integration to carry out the decision."""
    if action.action_state is ActionState.PROPOSED:
        hearing = getting_started.hearing(session, action.community_id)
        return () if hearing.is_heard else (_unheard(hearing, action),)
    if action.action_state in IN_REVIEW and action.review_group is ReviewGroup.COMMUNITY:
        community = session.get_one(Community, action.community_id)
        raters = getting_started.raters(session, community)
        return () if raters.are_enough else (_too_few(raters, action),)
    return ()


def _unheard(hearing: Hearing, action: Action) -> Missing:
    what = "The webhook is disabled" if hearing.webhooks else "No webhook is registered"
    mend = "enable it" if hearing.webhooks else "register one"
    links = [("How to poll", url_for("docs_page.read_docs"))]
    if auth.may(Permission.MANAGE_WEBHOOKS, action.community_id):
        links.insert(0, ("Webhooks" if hearing.webhooks else "Register a webhook", url_for("web.endpoints")))
        return Missing(
            f"{what} and nobody polls: {mend} or poll. Until then the platform does nothing.", links
        )
    return Missing(f"{what} and nobody polls, so the platform does nothing. An operator can {mend}.", links)


def _too_few(raters: Raters, action: Action) -> Missing:
    here = {0: "nobody can", 1: "only 1 person can"}.get(raters.count, f"only {raters.count} people can")
    text = f"{raters.needed} ratings are needed, and {here} rate here: invite raters, or decide it yourself."
    if auth.may(Permission.MANAGE_PEOPLE, action.community_id):
        return Missing(text, [("Invite raters", url_for("web.people"))])
    return Missing(text.replace("invite raters", "ask an admin to invite raters"))
