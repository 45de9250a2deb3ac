"""Reviews that should have a panel and have none, in communities where panels decide every review."""

import uuid
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core.db import serialise
from app.core.history import chain as history
from app.core.models import Action, Community, Panel, Request
from app.core.panels import panels
from app.core.vocabulary import IN_REVIEW, ActionState, ReviewGroup, WhoDecides

BATCH = 100
"""The most panels that one transaction opens."""


def communities_without(session: Session) -> Sequence[uuid.UUID]:
    """The communities where panels decide every review, and some review has none."""
    return session.scalars(_without_panel(sa.select(Action.community_id)).distinct()).all()


def open_missing(session: Session, community_id: uuid.UUID, *, limit: int = BATCH) -> int:
    """Open the panels of reviews that have none, in a community where panels decide every review."""
    serialise(session, community_id)
    # Held, so that the session reads it once, and not for each panel.
    community = session.get_one(Community, community_id)
    waiting = _without_panel(sa.select(Action)).where(Action.community_id == community.id)
    # With the facts of their posts that history copies, which it would else read one by one.
    posts = selectinload(Action.request).load_only(Request.platform_author_id, Request.language)
    found = session.scalars(waiting.order_by(Action.id).limit(limit).options(posts)).all()
    newest = panels.newest_of(session, [action.id for action in found]) if found else {}
    with history.gathered(session):
        for action in found:
            panels.open_for(session, action, panels.ALWAYS, earlier=newest.get(action.id))
        session.flush()
    return len(found)


def _without_panel(statement: sa.Select[Any]) -> sa.Select[Any]:
    is_second = Action.action_state == ActionState.RETRO_REVIEW
    began = sa.case((is_second, Action.retro_review_at), else_=Action.proposed_at)
    has_one = sa.exists().where(
        Panel.action_id == Action.id,
        Panel.review == Action.action_state,
        sa.or_(began.is_(None), Panel.opened_at >= began),
    )
    return statement.join(Community, Community.id == Action.community_id).where(
        Community.settings["who_decides"].as_string() == WhoDecides.PANEL.value,
        Community.archived_at.is_(None),
        Action.action_state.in_(IN_REVIEW),
        Action.review_group != ReviewGroup.STAFF,
        Action.restores_id.is_(None),
        Action.note_id.is_not(None),
        sa.not_(has_one),
    )
