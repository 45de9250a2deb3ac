"""Waves: posts alike under review are one row of the queue, and one decision with one undo (docs/moderate/waves.md)."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import clock, limits, texts
from app.core.actions import actions
from app.core.communities import settings as community_settings
from app.core.db import serialise
from app.core.errors import NotFound, Refused
from app.core.history.reason import Reason
from app.core.models import Action, Hold, Wave
from app.core.people import accounts
from app.core.permissions import Actor, Permission, require
from app.core.review import holds
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ActionType, ActionVerb

JOINS_FOR = timedelta(days=1)
"""How long after its decision a wave decides later posts alike."""
ALIKE = lazy_gettext("Like posts that were decided together before")
STOPPED = "wave.stopped"
_REPEATED = (ActionVerb.FORCE_PUBLISH, ActionVerb.DISMISS)
"""The decisions that later posts can get too."""


@dataclass(frozen=True)
class Size:
    """How many posts of a wave are under review, how many there are in all, and by how many authors.

    ``authors``: of those under review, or of all if none is. ``later``: those that came after the decision.
    """

    open: int
    total: int
    authors: int
    later: int = 0


def sizes(session: Session, wave_ids: Collection[uuid.UUID]) -> Mapping[uuid.UUID, Size]:
    """The sizes of waves; one query."""
    if not wave_ids:
        return {}
    is_open = Action.action_state == ActionState.UNDER_REVIEW
    rows = session.execute(
        sa.select(
            Wave.id,
            sa.func.count(sa.case((is_open, 1))),
            sa.func.count(),
            sa.func.count(sa.distinct(sa.case((is_open, Action.platform_author_id)))),
            sa.func.count(sa.distinct(Action.platform_author_id)),
            sa.func.count(sa.case((Action.created_at > Wave.decided_at, 1))),
        )
        .join(Action, Action.wave_id == Wave.id)
        .where(Wave.id.in_(wave_ids))
        .group_by(Wave.id)
    )
    return {
        wave_id: Size(open_, total, open_authors if open_ else authors, later)
        for wave_id, open_, total, open_authors, authors, later in rows
    }


def posts(session: Session, actor: Actor, action: Action, *, limit: int) -> Sequence[Action]:
    """The posts alike of an item, those under review first, then the newest; without the item itself."""
    require(actor, Permission.SEE_QUEUE, action.community_id)
    if action.wave_id is None:
        return []
    is_open = Action.action_state == ActionState.UNDER_REVIEW
    return session.scalars(
        sa.select(Action)
        .where(Action.wave_id == action.wave_id, Action.id != action.id)
        .order_by(sa.case((is_open, 0), else_=1), Action.id.desc())
        .limit(limit)
        .options(selectinload(Action.request), selectinload(Action.newest))
    ).all()


def hold(
    session: Session,
    actor: Actor,
    verb: ActionVerb,
    *,
    action: Action,
    reason: Reason,
    version: int | None = None,
    **details: Any,
) -> int:
    """Hold one decision about a post and the posts alike that are under review; return about how many.

    They are undone together. A post that a colleague decides or has claimed is left out. Of a very large wave the
    oldest are decided, and the others stay in the queue. ``details``: as ``holds.hold`` takes them; raises the same.
    """
    first = holds.hold(session, actor, verb, action=action, reason=reason, version=version, **details)
    first.together_id = first.id
    count = 1
    for other in _others(session, action):
        try:
            with session.begin_nested():
                held = holds.hold(session, actor, verb, action=other, reason=reason, **details)
                held.together_id = first.id
        except Refused:
            continue
        count += 1
    _remember(session, actor, verb, action, reason, details)
    session.flush()
    return count


def _others(session: Session, action: Action) -> Sequence[Action]:
    held = sa.select(Hold.action_id).where(Hold.action_id.is_not(None))
    return session.scalars(
        sa.select(Action)
        .where(
            Action.wave_id == action.wave_id,
            Action.action_state == ActionState.UNDER_REVIEW,
            Action.id != action.id,
            Action.id.not_in(held),
        )
        .order_by(Action.id)
        .limit(limits.WAVE_MAX - 1)
    ).all()


def _remember(
    session: Session,
    actor: Actor,
    verb: ActionVerb,
    action: Action,
    reason: Reason,
    details: Mapping[str, Any],
) -> None:
    """Store the decision with the wave, so that later posts get it too where the community wants that."""
    wave = session.get_one(Wave, action.wave_id)
    wave.decided_at = clock.now()
    settings = community_settings.read(session, action.community_id)
    act_as: ActionType | None = details.get("act_as")
    wave.joins = (
        settings.wave_joins
        and verb in _REPEATED
        and (act_as or action.action_type) is not ActionType.SILENCE
        and details.get("category") in {None, action.category}
    )
    if wave.joins:
        wave.account_id, wave.verb, wave.act_as = actor.account_id, verb, act_as
        wave.reason, wave.author_text = reason.reason, details.get("author_text")


def decides_later_posts(wave: Wave, now: datetime) -> bool:
    """Whether a post alike that comes now is decided as the wave was."""
    return wave.joins and wave.decided_at is not None and now - wave.decided_at <= JOINS_FOR


def decide_later(session: Session, wave: Wave, action: Action) -> None:
    """Decide a post that joined a decided wave the same way, as the account that decided it; it can be undone.

    If one of the wave's decisions was overturned, or that account may not decide any more, the wave stops, and the post
    stays in the queue. The caller holds the community's lock.
    """
    overturned = (
        sa.select(Action.id).where(Action.wave_id == wave.id, Action.overturned_at.is_not(None)).limit(1)
    )
    if wave.account_id is None or wave.verb is None or session.scalar(overturned) is not None:
        wave.joins = False
        session.flush()
        return
    try:
        with session.begin_nested():
            actor = accounts.deferred_actor(session, wave.account_id, wave.community_id)
            language = community_settings.read(session, wave.community_id).language
            holds.hold(
                session,
                actor,
                wave.verb,
                action=action,
                reason=Reason(wave.reason or "", comment=texts.in_language(language, ALIKE)),
                act_as=wave.act_as,
                author_text=wave.author_text,
            )
    except Refused:
        wave.joins = False
        session.flush()


def stop(session: Session, actor: Actor, action: Action) -> None:
    """Let no later post be decided as this item's wave was.

    Raises:
        NotFound: the item belongs to no wave.
    """
    require(actor, Permission.MODERATE, action.community_id, "item")
    serialise(session, action.community_id)
    wave = session.get(Wave, action.wave_id, populate_existing=True) if action.wave_id is not None else None
    if wave is None:
        raise NotFound("wave")
    if wave.joins:
        wave.joins = False
        actions.record(session, actor, action, STOPPED)
    session.flush()
