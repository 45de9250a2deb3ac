"""Moderation actions: proposed, acknowledged, overturned, restored (docs/integrate/api.md).

These functions move one action. ``notes.verdicts`` changes its rationale note.
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session, contains_eager, joinedload, selectinload

from app.core import bulk, clock
from app.core.actions import author_texts, decisions, moves, strikes
from app.core.actions.moves import begin, make_move
from app.core.errors import Invalid
from app.core.history import chain as history
from app.core.history.reason import NO_REASON, Reason
from app.core.ids import new_id
from app.core.models import Action, HistoryEntry, Request
from app.core.paging import Page, Slice, paginate
from app.core.permissions import SYSTEM, Actor, Permission, require_found
from app.core.texts import gettext as _
from app.core.vocabulary import UNDONE_BY, ActionState, ActionTier, ActionType, ReviewGroup, UndoState


def get(session: Session, actor: Actor, action_id: uuid.UUID) -> Action:
    """The action. Raises NotFound if it is unknown or belongs to another community."""
    return require_found(actor, Permission.READ, session.get(Action, action_id), "moderation action")


READ_OPTIONS = (joinedload(Action.request).load_only(Request.request_id),)
"""Load options for the related columns that a response shows: one query whatever the number of rows."""


def read(session: Session, actor: Actor, action_id: uuid.UUID) -> Action:
    """The action, read from the database with ``READ_OPTIONS``. Raises NotFound as ``get`` does."""
    action = session.get(Action, action_id, options=READ_OPTIONS, populate_existing=True)
    return require_found(actor, Permission.READ, action, "moderation action")


def of_note(session: Session, note_id: uuid.UUID) -> Action | None:
    """The action whose rationale this note is, or None. Read again: others may have moved it since it was loaded."""
    return session.scalars(
        sa.select(Action)
        .where(Action.note_id == note_id, Action.restores_id.is_(None))
        .order_by(Action.created_at.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()


def matching(
    actor: Actor,
    *,
    communities: Collection[uuid.UUID | None] = (),
    states: Collection[ActionState | None] = (),
    tiers: Collection[ActionTier | None] = (),
    updated_from: datetime | None = None,
    undo_state: UndoState | None = None,
) -> sa.Select[Any]:
    """The actions in the actor's communities that match all of these; None values are ignored."""
    visible = actor.seen_of(communities)
    statement = sa.select(Action)
    if visible is not None:
        statement = statement.where(Action.community_id.in_(visible))
    for column, values in (
        (Action.action_state, states),
        (Action.action_tier, tiers),
        (Action.undo_state, (undo_state,)),
    ):
        statement = statement.where(*(column == value for value in values if value is not None))
    return statement if updated_from is None else statement.where(Action.updated_at >= updated_from)


def listed(
    session: Session, statement: sa.Select[Any], part: Slice, *, by_change: bool = False
) -> Page[Action]:
    """A page of the actions that ``matching`` selects, newest first, with what a document shows of them.

    ``by_change``: those that changed first come first.
    """
    return paginate(
        session,
        statement.options(*READ_OPTIONS),
        Action.updated_at if by_change else Action.created_at,
        Action.id,
        part,
        descending=not by_change,
        narrow=statement.with_only_columns(Action.id),
    )


def decide_act(
    session: Session, actor: Actor, action: Action, *, confidence: float, reason: Reason = NO_REASON
) -> None:
    """End a review with the decision to act: propose the action to the platform."""
    author_texts.add(session, [action])
    make_move(
        session, actor, action, ActionState.PROPOSED, reason=reason, proposed_at=clock.now(), **unclaimed()
    )
    decide(session, action, action.decided_verb, confidence, reason.cause)


def decide_none(
    session: Session,
    actor: Actor,
    action: Action,
    *,
    confidence: float,
    reason: Reason = NO_REASON,
    lapsed: bool = False,
) -> None:
    """End a review without action, or withdraw a proposal before the platform acts.

    ``lapsed``: the review ended without a decision in time.
    """
    now = clock.now()
    make_move(
        session,
        actor,
        action,
        ActionState.DISMISSED,
        reason=reason,
        dismissed_at=now,
        lapsed_at=now if lapsed else None,
        **unclaimed(),
    )
    decide(session, action, decisions.NO_ACTION, confidence, reason.cause)


def make_moot(session: Session, action: Action, *, reason: Reason) -> None:
    """End a review without a decision of its own: another action decides the post."""
    now = clock.now()
    make_move(session, SYSTEM, action, ActionState.DISMISSED, reason=reason, dismissed_at=now, **unclaimed())


def overturn(
    session: Session, actor: Actor, action: Action, *, reason: Reason, restore: bool = True
) -> Action | None:
    """Overturn an applied action, and ask the platform to undo it unless ``restore`` is false.

    If it hid a post, an ``unhide`` is proposed and returned. Any other action says itself that it is to be undone.
    """
    make_move(
        session,
        actor,
        action,
        ActionState.OVERTURNED,
        reason=reason,
        overturned_at=clock.now(),
        overturned_reason=reason.reason or None,
        undo_state=UndoState.PROPOSED if restore and action.action_type in UNDONE_BY else None,
        **unclaimed(),
    )
    strikes.take_back(session, action)
    if action.action_type is not ActionType.HIDE or not restore:
        return None
    unhide = Action(
        id=new_id(),
        community_id=action.community_id,
        request_id=action.request_id,
        action_type=ActionType.UNHIDE,
        action_tier=action.action_tier,
        action_state=ActionState.PROPOSED,
        review_group=action.review_group,
        category=action.category,
        score=action.score,
        evidence=action.evidence,
        decided_verb=ActionType.UNHIDE.value,
        note_id=action.note_id,
        restores_id=action.id,
        platform_author_id=action.platform_author_id,
        platform_channel_id=action.platform_channel_id,
        language=action.language,
        reason=reason.reason or None,
        proposed_at=clock.now(),
    )
    begin(session, SYSTEM, unhide, reason=Reason(cause=f"overturned {action.id}"))
    return unhide


def is_wanted_again(session: Session, action: Action) -> bool:
    """Whether this action's dismissal was reopened and a later action of the same type is in force."""
    in_force = (ActionState.PROPOSED, ActionState.APPLIED, ActionState.RETRO_REVIEW, ActionState.CONFIRMED)
    later = sa.select(Action.id).where(
        Action.request_id == action.request_id,
        Action.id != action.id,
        Action.reopens_id.is_not(None),
        Action.action_type == action.action_type,
        Action.action_state.in_(in_force),
    )
    return session.scalar(later.limit(1)) is not None


def lapse(session: Session, action: Action, *, reason: Reason) -> None:
    """End a review without a decision in time: dismiss a queued one, confirm after a second look.

    See docs/integrate/api.md.
    """
    if action.action_state is ActionState.UNDER_REVIEW:
        decide_none(session, SYSTEM, action, confidence=0.5, reason=reason, lapsed=True)
    else:
        confirm(session, SYSTEM, action, reason=reason, lapsed=True)


def confirm(
    session: Session, actor: Actor, action: Action, *, reason: Reason = NO_REASON, lapsed: bool = False
) -> None:
    """End a second look by upholding the action. ``lapsed``: it ended without a decision in time."""
    now = clock.now()
    make_move(
        session,
        actor,
        action,
        ActionState.CONFIRMED,
        reason=reason,
        confirmed_at=now,
        lapsed_at=now if lapsed else None,
        **unclaimed(),
    )


def open_second_look(session: Session, actor: Actor, action: Action, *, reason: Reason = NO_REASON) -> None:
    """Open a second look of an applied action: for an appeal, a moderator or a rating.

    Raises:
        Invalid: an appeal by an integration's key without a reason.
    """
    if actor.kind == "key" and not actor.staff and not reason.reason.strip():
        raise Invalid.field("reason", _("is required to appeal"), type="missing")
    make_move(session, actor, action, ActionState.RETRO_REVIEW, reason=reason, retro_review_at=clock.now())


def return_to_review(session: Session, actor: Actor, action: Action, *, reason: Reason = NO_REASON) -> None:
    """Return a proposal to review before the platform acts. It has the whole time of a review from now on."""
    make_move(
        session,
        actor,
        action,
        ActionState.UNDER_REVIEW,
        reason=reason,
        review_opened_at=clock.now(),
        **due_again(action),
    )


def due_again(action: Action) -> dict[str, datetime]:
    """Column values that give a review the target time and the head start of the action's last one, from now on."""
    now = clock.now()
    opened_at = action.review_opened_at or action.created_at
    return {
        "due_at": now + ((action.due_at or opened_at) - opened_at),
        "urgent_at": now + ((action.urgent_at or opened_at) - opened_at),
    }


def send_to_staff(session: Session, actor: Actor, action: Action, *, reason: Reason) -> HistoryEntry | None:
    """Send an open review to the community's staff; return the history entry. Already there: nothing changes."""
    if action.review_group is ReviewGroup.STAFF:
        return None
    before, action.review_group = action.review_group, ReviewGroup.STAFF
    action.version += 1
    session.flush()
    moves.wake_panel(session, action)
    return record(
        session,
        actor,
        action,
        "action.escalated",
        before={"review_group": before.value if before else None},
        after={"review_group": ReviewGroup.STAFF.value},
        reason=reason,
    )


def record(
    session: Session,
    actor: Actor,
    action: Action,
    what: str,
    *,
    reason: Reason = NO_REASON,
    **values: Mapping[str, Any],
) -> HistoryEntry:
    """Write an entry about an action into the history; ``values`` are ``before`` and ``after``."""
    return history.record(
        session, actor, action.community_id, what, "action", action.id, reason=reason, **values
    )


_OWN = (Action.restores_id.is_(None), Action.strike_step.is_(None))
"""Actions about the post itself: neither restorations nor steps that follow from its author's strikes."""


def live_for(session: Session, request_id: uuid.UUID) -> Action | None:
    """The newest action of a request that is no restoration and no step, read again from the database."""
    return session.scalars(
        sa.select(Action)
        .where(Action.request_id == request_id, *_OWN)
        .order_by(Action.created_at.desc(), Action.id.desc())
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()


def newest_of(session: Session, request_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, Action]:
    """The newest action of each of these requests that ``live_for`` returns, by request id, with its request."""
    rows = session.scalars(
        sa.select(Action)
        .join(Action.request)
        .options(contains_eager(Action.request))
        .where(Action.request_id.in_(request_ids), *_OWN)
        .order_by(Action.created_at, Action.id)
    )
    return {action.request_id: action for action in rows}


def siblings(session: Session, action: Action) -> Sequence[Action]:
    """The other actions on the same request, oldest first: its restoration, reopened and earlier ones."""
    return session.scalars(
        sa.select(Action)
        .where(Action.request_id == action.request_id, Action.id != action.id)
        .order_by(Action.created_at, Action.id)
    ).all()


def with_content(session: Session, actor: Actor, action_id: uuid.UUID) -> Action:
    """The action with its request, note and hold loaded, for a page. Raises NotFound as ``get`` does."""
    action = session.scalars(
        sa.select(Action)
        .where(Action.id == action_id)
        .options(
            joinedload(Action.request).joinedload(Request.decision),
            joinedload(Action.request).selectinload(Request.attachments),
            selectinload(Action.newest).selectinload(Request.attachments),
            joinedload(Action.note),
            joinedload(Action.held),
        )
    ).first()
    return require_found(actor, Permission.READ, action, "item")


def decide(session: Session, action: Action, decision: str, confidence: float, cause: str) -> None:
    """Record the decision of a move: ``decision`` is a verb or ``decisions.NO_ACTION``. A step decides no request."""
    if action.strike_step is not None:
        return
    tier = action.action_tier.number if action.action_tier else 2
    decisions.record(session, action, decision, tier=tier, confidence=confidence, cause=cause)


def set_columns(session: Session, action: Action, *where: sa.ColumnElement[bool], **values: Any) -> bool:
    """Change columns that are not part of an action's state, so that ``updated_at`` stays.

    Returns False, and changes nothing, if ``where`` does not hold.
    """
    changed = bulk.change(
        session,
        sa.update(Action)
        .where(Action.id == action.id, *where)
        .values(**values, updated_at=Action.updated_at),
    )
    session.refresh(action, list(values))
    return bool(changed)


def unclaimed() -> dict[str, Any]:
    """Column values that clear an action's claim."""
    return {"claimed_by_id": None, "claimed_until": None}
