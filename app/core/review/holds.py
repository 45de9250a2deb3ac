"""Holds: decisions made in the dashboard wait until they can no longer be undone.

While a decision is held, only its row in ``holds`` exists: the API still shows the former state, and no webhook is
sent. Undo deletes the row. When the row is due, a job carries out the decision.
"""

import uuid
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core import bulk, clock, limits, outbox
from app.core.actions import actions, silences
from app.core.actions.moves import may, moves_open_to
from app.core.communities import settings as community_settings
from app.core.db import serialise, serialise_and_reload
from app.core.errors import Conflict, Forbidden, IllegalMove, Invalid, NotFound, Refused
from app.core.history import notices
from app.core.history.reason import Reason
from app.core.ids import new_id
from app.core.models import Account, Action, Community, HistoryEntry, Hold, Note, Wave
from app.core.notes import verdicts
from app.core.people import accounts
from app.core.permissions import Actor, Permission, require
from app.core.review import claims, decision_trace, reopening, verbs
from app.core.review.verbs import Details
from app.core.states import ACTION, NOTE
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import HELD_VERBS, ActionState, ActionType, ActionVerb, ReopenTo

CARRY_OUT_JOB = "carry_out_hold"
NOTE_VERBS = tuple(dict.fromkeys(row.verb for row in NOTE.moves if row.verb is not None))
"""The verbs for decisions about a note that is not a rationale."""


def hold(
    session: Session,
    actor: Actor,
    verb: ActionVerb,
    *,
    action: Action | None = None,
    note: Note | None = None,
    reason: Reason,
    category: str | None = None,
    reopen_to: ReopenTo | None = None,
    act_as: ActionType | None = None,
    author_text: str | None = None,
    until: datetime | None = None,
    without_end: bool = False,
    version: int | None = None,
    seconds: float | None = None,
) -> Hold:
    """Hold a decision about an action, or about a note that is not a rationale, for ``seconds`` (None: the moderator's
    own setting, or else the community's).

    ``version`` is the version that the moderator's page showed, ``category`` the one to file the action under if it
    is not the category of its score, ``reopen_to`` where a reopened dismissal goes. ``act_as`` is what the platform
    does instead of what is configured, ``author_text`` what it tells the author (``carries_text``); both only to
    force-publish an action. ``until`` and ``without_end`` are of a silence, as in ``verbs.Details``.

    Raises:
        Forbidden: the actor is not a signed-in moderator.
        Invalid: the reason is missing, the community has no such category, or nothing carries the text to the author.
        Conflict: a colleague decided, is deciding or has claimed the item; the detail says who.
    """
    if note is not None and note.rationale:
        action = actions.of_note(session, note.id)
        note = None if action is not None else note
    subject = action if action is not None else note
    if subject is None or actor.account_id is None:
        raise Forbidden(_("Only a signed-in moderator's decision can be held"))
    require(actor, Permission.MODERATE, subject.community_id, "item")
    limits.text(reason.reason, "reason", limits.REASON_MAX)
    if reason.comment:
        limits.text(reason.comment, "comment", limits.REASON_MAX)
    act_as, author_text = verbs.checked_choice(verb, action, act_as, author_text)
    until = _checked_until(verb, action, act_as, until, without_end=without_end)
    if category is not None and action is not None:
        category = verbs.checked_category(session, action, category, "policy")
    serialise_and_reload(session, subject)
    holder = for_subject(session, action_id=action.id if action else None, note_id=note.id if note else None)
    claims.check_not_held(actor, holder)
    if action is not None:
        _check_open(session, actor, action, verb, version, reopen_to)
        claims.check_free(session, actor, action)
    elif note is not None and verb not in NOTE_VERBS:
        raise Invalid.field("verb", _("does not apply to notes"), verb.value)
    elif note is not None and note.locked:
        raise Conflict(decision_trace.already_decided(session, note.id), note.id)
    elif note is not None and version is not None and note.version != version:
        raise Conflict(_("The note's text was changed meanwhile; read it again"), note.id)
    if seconds is None:
        seconds = undo_seconds(session, actor, subject.community_id)
    due = clock.now() + timedelta(seconds=seconds)
    held = Hold(
        id=new_id(),
        community_id=subject.community_id,
        action_id=action.id if action else None,
        note_id=note.id if note else None,
        verb=verb,
        account_id=actor.account_id,
        account_name=actor.name,
        reason=reason.reason,
        comment=reason.comment or None,
        category=category if action is not None else None,
        reopen_to=reopen_to if verb is ActionVerb.REOPEN else None,
        act_as=act_as,
        author_text=author_text,
        until=until,
        due_at=due,
    )
    try:
        with session.begin_nested():
            session.add(held)
    except IntegrityError as error:
        raise Conflict(_("A colleague is deciding this right now"), subject.id) from error
    decision_trace.held(session, actor, held)
    args, key = {"hold_id": str(held.id)}, f"hold:{held.id}"
    outbox.enqueue(session, CARRY_OUT_JOB, args, community_id=held.community_id, key=key, delay=seconds)
    return held


def undo_seconds(session: Session, actor: Actor, community_id: uuid.UUID) -> float:
    """For how long this moderator can undo a decision: their own setting, or else the community's."""
    chosen = session.get_one(Account, actor.account_id).undo_seconds if actor.account_id is not None else None
    return chosen if chosen is not None else community_settings.read(session, community_id).undo_seconds


def verbs_open_to(actor: Actor, subject: Action | Note) -> list[ActionVerb]:
    """The decisions that the actor can make about this action, or about this note that is not a rationale.

    A restoration is not decided: it follows from the overturned action. A locked note is decided already.
    """
    if isinstance(subject, Note):
        # Any row of the verb allows it: the status may be the same already, and only the lock changes.
        rows = [row for row in NOTE.moves if may(actor, row, subject.community_id)]
        return (
            [] if subject.locked else [verb for verb in NOTE_VERBS if any(row.verb is verb for row in rows)]
        )
    if subject.restores_id is not None:
        return []
    open_verbs = {move.verb for move in moves_open_to(actor, subject)}
    return [verb for verb in HELD_VERBS if verb in open_verbs]


def for_subject(
    session: Session, *, action_id: uuid.UUID | None = None, note_id: uuid.UUID | None = None
) -> Hold | None:
    """The hold on this action or note, or None."""
    clause = Hold.action_id == action_id if action_id is not None else Hold.note_id == note_id
    return session.scalars(sa.select(Hold).where(clause)).first()


def held_by(session: Session, actor: Actor) -> list[Hold]:
    """The actor's decisions that can still be undone, newest first."""
    return list(
        session.scalars(
            sa.select(Hold)
            .where(Hold.account_id == actor.account_id, Hold.due_at > clock.now())
            .order_by(Hold.created_at.desc())
        )
    )


def undo(session: Session, actor: Actor, hold_id: uuid.UUID) -> Hold:
    """Undo a held decision: the actor's own, or any if the service is the actor. History records it.

    Ratings that were given meanwhile count now. Decisions that were held together are undone together, and the wave of
    the post no longer decides later posts (``review.waves``).

    Raises:
        Conflict: the decision has been carried out already.
        Forbidden: the decision is another account's.
    """
    held = session.get(Hold, hold_id)
    if held is None:
        raise Conflict(_("Too late to undo: the decision has been carried out"))
    require(actor, Permission.MODERATE, held.community_id, "item")
    if actor.kind != "system" and held.account_id != actor.account_id:
        raise Forbidden(_("Only %(name)s can undo this", name=held.account_name))
    serialise(session, held.community_id)
    if not _take(session, held):
        raise Conflict(_("Too late to undo: the decision has been carried out"))
    for one in (held, *_held_with(session, held)):
        decision_trace.undone(session, actor, one)
        _settle(session, one, cause=lazy_gettext("a held decision was undone"))
    if held.action_id is not None:
        wave_id = sa.select(Action.wave_id).where(Action.id == held.action_id).scalar_subquery()
        bulk.change(session, sa.update(Wave).where(Wave.id == wave_id).values(joins=False))
    return held


def _held_with(session: Session, held: Hold) -> list[Hold]:
    """Delete the other decisions that were held together with this one, and return them."""
    if held.together_id is None:
        return []
    others = session.scalars(sa.select(Hold).where(Hold.together_id == held.together_id)).all()
    return [other for other in others if _take(session, other)]


def carry_out(session: Session, hold_id: uuid.UUID) -> None:
    """Carry out a due decision as the moderator who made it. A repeated call does nothing.

    If the moderator may not decide it any more, or the item changed, it lapses: ratings given meanwhile count then.
    """
    held = session.get(Hold, hold_id)
    if held is None:
        return
    serialise(session, held.community_id)
    if not _take(session, held):
        return
    try:
        # A refusal is recorded.
        with community_settings.in_language(session, held.community_id), session.begin_nested():
            actor = accounts.deferred_actor(session, held.account_id, held.community_id)
            _carry_out(session, actor, held)
    except Refused as refusal:
        # Something changed meanwhile (the platform acted, the role was removed): record it, do not retry.
        _record_lapsed(session, held, refusal.detail)
        if session.get_one(Community, held.community_id).archived_at is None:
            _settle(session, held, cause=lazy_gettext("a held decision lapsed"))


def lapse(session: Session, held: Hold, why: str) -> None:
    """End a held decision that no longer fits what it is about; its moderator is notified.

    The caller holds the lock.
    """
    if _take(session, held):
        _record_lapsed(session, held, why)


def _record_lapsed(session: Session, held: Hold, why: str) -> None:
    decider = accounts.actor_for(accounts.get(session, held.account_id))
    entry = decision_trace.lapsed(session, decider, held, why)
    notices.notify_lapsed(session, held, entry)


def overdue(session: Session) -> list[uuid.UUID]:
    """Ids of holds that are past their time, for the sweeper that replaces lost jobs."""
    late = clock.now() - timedelta(seconds=5)
    return list(session.scalars(sa.select(Hold.id).where(Hold.due_at < late).limit(100)))


def _carry_out(session: Session, actor: Actor, held: Hold) -> None:
    reason = decision_trace.reason_of(held)
    if held.action_id is not None:
        action = session.get_one(Action, held.action_id, populate_existing=True)
        details = Details(
            reason,
            reopen_to=held.reopen_to,
            act_as=held.act_as,
            author_text=held.author_text,
            category=held.category,
            until=held.until,
            without_end=held.until is None,
        )
        verbs.decide(session, actor, action, held.verb, details)
        return
    note = session.get(Note, held.note_id)
    if note is None or note.deleted_at is not None:
        raise NotFound("note")
    if _was_edited(session, note, held):
        raise Conflict(_("the note's text was changed after the decision"), note.id)
    verbs.decide_note(session, actor, note, held.verb, reason)


def _checked_until(
    verb: ActionVerb,
    action: Action | None,
    act_as: ActionType | None,
    until: datetime | None,
    *,
    without_end: bool,
) -> datetime | None:
    """When the silence ends that this decision leads to; None: never, or it leads to none."""
    if verb is not ActionVerb.FORCE_PUBLISH or action is None:
        if until is not None:
            raise Invalid.field("until", _("belongs to a silence only"), clock.iso(until))
        return None
    chosen = act_as or action.action_type
    silences.check_until(chosen, until)
    if chosen is not ActionType.SILENCE or without_end or until is not None:
        return until
    return verbs.default_until(action)


def _settle(session: Session, held: Hold, cause: str) -> None:
    """Let the ratings count that were given while the decision was held."""
    note_id = held.note_id
    if held.action_id is not None:
        note_id = session.get_one(Action, held.action_id).note_id
    note = session.get(Note, note_id) if note_id is not None else None
    if note is not None and note.deleted_at is None:
        verdicts.settle(session, note, cause=cause)


def _was_edited(session: Session, note: Note, held: Hold) -> bool:
    """Whether the note's author changed it after the moderator had read it."""
    edits = sa.select(HistoryEntry.id).where(
        HistoryEntry.object_type == "note",
        HistoryEntry.object_id == note.id,
        HistoryEntry.what == "note.edited",
        HistoryEntry.at >= held.created_at,
    )
    return session.scalar(edits.limit(1)) is not None


def _take(session: Session, held: Hold) -> bool:
    """Delete the row. Return False if undo or the job deleted it first."""
    changed = bulk.change(session, sa.delete(Hold).where(Hold.id == held.id))
    session.expunge(held)
    return bool(changed)


def _check_open(
    session: Session,
    actor: Actor,
    action: Action,
    verb: ActionVerb,
    version: int | None,
    reopen_to: ReopenTo | None,
) -> None:
    if verb is ActionVerb.REOPEN:
        reopening.check(session, actor, action, reopen_to)
        return
    is_open = verb in verbs_open_to(actor, action)
    if version is not None and action.version != version and not is_open:
        raise Conflict(decision_trace.already_decided(session, action.id), action.id)
    claims.check_version(session, action, version)
    if not is_open:
        if action.action_state is ActionState.UNDER_REVIEW:
            raise IllegalMove("action_state", action.action_state, ACTION.target_of(verb) or verb)
        raise Conflict(decision_trace.already_decided(session, action.id), action.id)
