"""Requests without an item of their own: they wait for the item of another request of their post, and get its decision.

A duplicate waits for the request that it repeats; an edit waits for the review that is open when it was scored. A
request that waits marks the other one (``is_followed``) under the community's lock, and whatever changes that one from
then on has a job (``moves.FOLLOW_JOB``) look after all that wait for it. A request that is stored later finds the
change in its own job. So none is missed, and every step may be repeated (docs/integrate/changes.md).
"""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import bulk
from app.core.actions import actions, decisions, exemptions
from app.core.actions.moves import make_move, wake_reports
from app.core.db import serialise, serialise_and_reload
from app.core.history.reason import Reason
from app.core.models import Action, Decision, Request
from app.core.permissions import SYSTEM
from app.core.requests import edits, posts
from app.core.texts import lazy_gettext
from app.core.thresholds.routing import Route
from app.core.vocabulary import ActionState, ActionTier, RequestStatus, ReviewGroup

BATCH = 100
"""Requests that one transaction looks after."""
SAME_POST = lazy_gettext("the same post was submitted before")
_OVER = (RequestStatus.COMPLETED, RequestStatus.FAILED)
_REVERSED = (ActionState.OVERTURNED, ActionState.SCAN_EXEMPT)


@dataclass(frozen=True)
class Place:
    """Where a scored request goes that gets no item of its own: to an open ``review``, or to what was ``decided``.

    ``is_edit``: its text is shown in the review.
    """

    review: Action | None = None
    decided: Decision | None = None
    is_edit: bool = False


def keep_up(session: Session, request_id: uuid.UUID, ended: Request | None = None) -> bool:
    """Bring a request in line with the one that it waits for; return whether it is to be scored by itself now.

    ``ended``: the request of whose item the review has ended. A repeated call changes nothing.
    """
    request = session.get_one(Request, request_id)
    serialise_and_reload(session, request)
    if request.withdrawn_at is not None or request.status in _OVER:
        return False
    if request.scored_at is not None:
        _take_part(session, request, ended)
        return False
    if actions.live_for(session, request.id) is not None:
        return True  # staff were asked before it was scored
    posts.relate(session, request)
    earlier_id = request.duplicate_of or request.edit_of
    earlier = session.get(Request, earlier_id, populate_existing=True) if earlier_id is not None else None
    if earlier is None or earlier.withdrawn_at is not None or earlier.status is RequestStatus.FAILED:
        return True
    is_verbatim = request.duplicate_of is not None and request.content_sha256 == earlier.content_sha256
    if _is_unscored(session, earlier):
        _mark(session, earlier)
        if is_verbatim and earlier.status is not request.status:
            make_move(session, SYSTEM, request, RequestStatus.IN_PROGRESS, reason=Reason(cause=SAME_POST))
        return False
    if not is_verbatim or _was_observed(earlier) or exemptions.is_exempt(session, request):
        return True
    review = open_review(session, request)
    if review is not None:
        join(session, request, Place(review))
        return False
    decision = decisions.for_request(session, earlier.id)
    if decision is None and ended is not None:
        decision = decisions.for_request(session, ended.id)
    if decision is None and earlier.status is not RequestStatus.COMPLETED:
        _mark(session, earlier)
    else:
        take_over(session, request, decision)
    return False


def _take_part(session: Session, request: Request, ended: Request | None) -> None:
    """Keep a scored request waiting while its post is under review; when that has ended, give it the decision."""
    if actions.live_for(session, request.id) is not None:
        return
    review = open_review(session, request)
    if review is not None:
        _mark(session, session.get_one(Request, review.request_id))
    elif ended is not None:
        decision = decisions.for_request(session, ended.id)
        if decision is not None:
            take_over(session, request, decision)


def open_review(session: Session, request: Request) -> Action | None:
    """The open review of another request of this one's post, the oldest."""
    if request.platform_message_id is None:
        return None
    return session.scalars(
        sa.select(Action)
        .join(Request, Request.id == Action.request_id)
        .where(
            posts.others(request),
            Request.duplicate_of.is_(None),  # these have no item of their own
            Action.action_state == ActionState.UNDER_REVIEW,
            Action.strike_step.is_(None),  # it is about the author
        )
        .order_by(Action.created_at, Action.id)
        .limit(1)
        .execution_options(populate_existing=True)
    ).first()


def item_of(session: Session, request: Request) -> Request:
    """The request that has the item of this one's post: the first of its text, or the one that is under review."""
    if request.duplicate_of is not None:
        request = session.get_one(Request, request.duplicate_of)
    if actions.live_for(session, request.id) is not None:
        return request
    review = open_review(session, request)
    return request if review is None else session.get_one(Request, review.request_id)


def place(session: Session, request: Request, route: Route | None) -> Place | None:
    """Where a request goes whose scores lead to this route; None: it has an item of its own, or ends without one.

    What differs a little from an earlier text, and leads to more than that did, is an edit. The caller holds the lock.
    """
    posts.relate(session, request, is_scored=True)
    review = open_review(session, request)
    if review is not None:
        if route is not None and route.tier is ActionTier.IMMEDIATE:
            _make_edit(session, request)
            return None
        is_edit = request.duplicate_of is None or _leads_to_more(route, review)
        if is_edit:
            _make_edit(session, request)
        if route is not None and route.review_group is ReviewGroup.STAFF:
            actions.send_to_staff(session, SYSTEM, review, reason=Reason(cause=edits.CAUSE))
        return Place(review, is_edit=is_edit)
    if request.duplicate_of is None:
        return None
    decision = decisions.for_request(session, request.duplicate_of)
    action = session.get_one(Action, decision.action_id) if decision is not None else None
    if _leads_to_more(route, action):
        _make_edit(session, request)
        return None
    return Place(decided=decision)


def settle(session: Session, request: Request, where: Place, **changes: Any) -> None:
    """Let a scored request go to its place, with ``changes`` to other columns."""
    if where.review is not None:
        join(session, request, where, **changes)
    else:
        take_over(session, request, where.decided, **changes)


def _leads_to_more(route: Route | None, action: Action | None) -> bool:
    """Whether a route leads to more than what came of an earlier text: a higher tier, or another category.

    Also if people restored that text, and the community takes this one for too different to be exempt with it.
    """
    if route is None or action is None or action.action_state is ActionState.SCAN_EXEMPT:
        return route is not None
    if route.tier is ActionTier.IMMEDIATE and action.action_tier is not ActionTier.IMMEDIATE:
        return True
    return route.category not in (action.category, action.decided_category)


def _make_edit(session: Session, request: Request) -> None:
    if request.duplicate_of is not None:
        request.edit_of = request.edit_of or request.duplicate_of
        request.duplicate_of = None
        session.flush()


def join(session: Session, request: Request, where: Place, **changes: Any) -> None:
    """Let a request wait for the decision of an open review, which goes on over its text if that is another one."""
    review = where.review
    if review is None:
        raise RuntimeError("there is no review to join")
    owner = session.get_one(Request, review.request_id)
    _mark(session, owner)
    posts.move_reports(session, request.id, owner.id)
    changes["note_id"] = review.note_id
    if request.status is RequestStatus.IN_PROGRESS:
        for name, value in changes.items():
            setattr(request, name, value)
        session.flush()
    else:
        cause = Reason(cause=SAME_POST)
        make_move(session, SYSTEM, request, RequestStatus.IN_PROGRESS, reason=cause, **changes)
    shown = edits.shown(session, review)
    is_newer = (request.requested_at, request.id) > (shown.requested_at, shown.id)
    if is_newer and (where.is_edit or not posts.is_same(shown.content, request.content)):
        edits.show(session, review, request)


def take_over(session: Session, request: Request, decision: Decision | None, **changes: Any) -> None:
    """Complete a request with the decision about its post; without one if there was none, or people reversed it."""
    serialise(session, request.community_id)
    if decisions.for_request(session, request.id) is not None:
        return
    action = session.get_one(Action, decision.action_id) if decision is not None else None
    if decision is None or action is None or action.action_state in _REVERSED:
        decisions.complete(session, request, SAME_POST, None, **changes)
        return
    posts.move_reports(session, request.id, action.request_id)
    wake_reports(session, request.community_id, action.request_id)
    new = decisions.New(action, decision.decision, decision.tier, decision.confidence, request.id)
    (made,) = decisions.add(session, [new])
    decisions.announce(session, request, made, SAME_POST, **{"note_id": action.note_id, **changes})


def end_others(session: Session, request: Request) -> None:
    """End the open review of a post in which a score decided the newest text: its request gets the same decision.

    Its reports go on with the newest text, whose action says what becomes of them. So ends a review of the request
    itself that was opened before it was scored.
    """
    decision = decisions.for_request(session, request.id)
    if decision is None:
        return
    review = _own_review(session, request) or open_review(session, request)
    if review is None:
        return
    cause = (
        lazy_gettext("a score decided the post")
        if review.request_id == request.id
        else lazy_gettext("a score decided a newer text of the post")
    )
    posts.move_reports(session, review.request_id, request.id)
    actions.make_moot(session, review, reason=Reason(cause=cause))
    take_over(session, session.get_one(Request, review.request_id), decision)


def _own_review(session: Session, request: Request) -> Action | None:
    return session.scalars(
        sa.select(Action).where(
            Action.request_id == request.id,
            Action.action_state == ActionState.UNDER_REVIEW,
            Action.strike_step.is_(None),
        )
    ).first()


def waiting_on(session: Session, request: Request, after: uuid.UUID | None) -> Sequence[uuid.UUID]:
    """The next ``BATCH`` requests of a post, in the order of their ids, that may wait for this one."""
    own = sa.exists().where(
        Action.request_id == Request.id,
        Action.action_state == ActionState.UNDER_REVIEW,
        Action.strike_step.is_(None),
    )
    rest = [] if after is None else [Request.id > after]
    return session.scalars(
        sa.select(Request.id)
        .where(
            posts.others(request),
            Request.status.in_([RequestStatus.PENDING, RequestStatus.IN_PROGRESS]),
            sa.not_(own),
            *rest,
        )
        .order_by(Request.id)
        .limit(BATCH)
    ).all()


def hand_over(session: Session, request: Request, review: Action) -> None:
    """Before a request under review is withdrawn: the next one that waits for its review gets one of its own.

    The reports of the post go there too.
    """
    if not request.is_followed:
        return
    waiting = session.scalars(
        sa.select(Request)
        .where(
            posts.others(request),
            Request.status == RequestStatus.IN_PROGRESS,
            Request.note_id == review.note_id,
        )
        .order_by(Request.id)
        .limit(1)
    ).first()
    if waiting is not None:
        edits.carry_on(session, waiting, review)
        posts.move_reports(session, request.id, waiting.id)


def _was_observed(request: Request) -> bool:
    """Whether a request is of the past and was only observed (``requests.observing``): nothing was decided about it."""
    return request.completed_at is not None and request.completed_at == request.requested_at


def _is_unscored(session: Session, request: Request) -> bool:
    """Whether nothing is known about a request yet: it is to be scored, or waits for one that is."""
    if request.status is RequestStatus.PENDING:
        return True
    if request.status is not RequestStatus.IN_PROGRESS or request.scored_at is not None:
        return False
    return actions.live_for(session, request.id) is None


def _mark(session: Session, request: Request) -> None:
    """Note that others wait for this request. The caller holds the lock."""
    if not request.is_followed:
        bulk.change(
            session,
            sa.update(Request)
            .where(Request.id == request.id)
            .values(is_followed=True, updated_at=Request.updated_at),
        )
        session.refresh(request, ["is_followed"])
