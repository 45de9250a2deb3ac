"""Tells integrations which of their users were drawn (docs/moderate/panels.md)."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.models import Community, Profile
from app.core.panels.work import Work
from app.core.people import profiles
from app.core.vocabulary import EventName
from app.core.webhooks import events


def announce(session: Session, community_id: uuid.UUID, drawing: Sequence[Work]) -> None:
    """Tell integrations that subscribed which of their users were drawn."""
    drawn = [(work, person) for work in drawing for person in work.drawn]
    if not drawn or not events.is_subscribed(session, community_id, EventName.PANEL_DRAWN):
        return
    community = session.get_one(Community, community_id)
    names = _platform_names(session, community, {person for _, person in drawn})
    with events.gathered(session):
        for work in drawing:
            raters = sorted(names[person] for person in work.drawn if person in names)
            if raters:
                expires_at = clock.now() + timedelta(hours=work.panel.hours)
                events.emit_panel(session, work.panel, work.action, raters, expires_at)


def _platform_names(
    session: Session, community: Community, people: set[uuid.UUID]
) -> Mapping[uuid.UUID, str]:
    """The people's user ids on the community's platform; people without one are left out."""
    linked = sa.orm.aliased(Profile)
    scope = profiles.scope_in(community.platform, community)
    is_theirs = sa.or_(linked.id == Profile.id, linked.account_id == Profile.account_id)
    rows = session.execute(
        sa.select(Profile.id, linked.platform_user_id)
        .join(linked, is_theirs)
        .where(
            Profile.id.in_(people),
            linked.platform == community.platform,
            linked.provider_scope.in_((scope, "")),
        )
        .order_by(linked.created_at.desc())
    )
    return {profile_id: name for profile_id, name in rows}
