"""The table from each verb of ``states.ACTION`` to the function that carries it out.

The API calls ``change_action`` with a target state. ``decide`` carries out a moderator's decision in the dashboard.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.actions import acknowledgements, actions, silences
from app.core.actions.moves import condition_holds
from app.core.db import serialise_and_reload
from app.core.errors import IllegalMove, Invalid
from app.core.history import facts
from app.core.history.reason import NO_REASON, Reason
from app.core.models import Action, Note
from app.core.notes import verdicts
from app.core.permissions import Actor
from app.core.review import reopening
from app.core.states import ACTION
from app.core.texts import gettext as _
from app.core.thresholds import threshold_sets
from app.core.vocabulary import (
    CARRY_TEXT,
    CHOOSABLE,
    HELD_VERBS,
    ActionState,
    ActionType,
    ActionVerb,
    ReopenTo,
    decision_word,
)


@dataclass(frozen=True)
class Details:
    """Arguments of a verb: ``reason`` for every verb, ``platform_action_id`` for *acknowledge*, for *reopen*
    ``reopen_to``, where the item goes, and for *force_publish* ``act_as``, another action than the configured one, with
    ``author_text``, the message to the author. ``category`` is what a decision is filed under, if not under the
    action's category; that of a reopened dismissal is for the new action. ``until`` is when a silence ends; None: as
    its step says (``Action.strike_step``), or never, and with ``without_end`` never."""

    reason: Reason = NO_REASON
    platform_action_id: str | None = None
    reopen_to: ReopenTo | None = None
    act_as: ActionType | None = None
    author_text: str | None = None
    category: str | None = None
    until: datetime | None = None
    without_end: bool = False


class ToNote(Protocol):
    """The function of a verb for a note."""

    def __call__(self, session: Session, actor: Actor, note: Note, *, reason: Reason) -> None: ...


@dataclass(frozen=True)
class Functions:
    """The functions of a verb: for an action, which it returns, and for a note that is no rationale (or None)."""

    to_action: Callable[[Session, Actor, Action, Details], Action]
    to_note: ToNote | None = None


def change_action(
    session: Session,
    actor: Actor,
    action: Action,
    target: ActionState,
    *,
    platform_action_id: str | None = None,
    reason: Reason = NO_REASON,
    category: str | None = None,
    until: datetime | None = None,
    without_end: bool = False,
) -> Action:
    """Move ``action`` to ``target`` by the verb that leads there. If it is there already, nothing changes.

    ``category`` is what the decision is filed under; None leaves the category as it is.

    Raises:
        Invalid: the community has no such category, or the move decides nothing.
        IllegalMove: no verb leads there from the action's current state.
        Forbidden, NotFound: this actor may not make the move.
    """
    verb = ACTION.verb_to(target)
    if verb is None or verb not in FUNCTIONS:
        session.refresh(action)
        if action.action_state is target:
            return action
        raise IllegalMove("action_state", action.action_state, target)
    if category is not None:
        if verb not in _DECIDING:
            raise Invalid.field("category", _("can only be named with a move that decides"), category)
        category = checked_category(session, action, category, "category")
    if until is not None:
        if verb not in _TAKE_UNTIL:
            raise Invalid.field("until", _("cannot be set with this move"), clock.iso(until))
        silences.check_until(action.action_type, until)
    details = Details(reason, platform_action_id, category=category, until=until, without_end=without_end)
    return carry_out(session, actor, action, verb, details)


def decide(session: Session, actor: Actor, action: Action, verb: ActionVerb, details: Details) -> Action:
    """Carry out a moderator's decision, in two moves if its row has a state in between (``through``).

    Returns the action that was decided, or the new one when a dismissal was reopened.
    """
    rows = [row for row in ACTION.by_verb(verb) if row.source == action.action_state]
    row = next((row for row in rows if condition_holds(row, action)), None)
    if row is not None and row.through is not None:
        change_action(session, actor, action, ActionState(row.through), reason=Reason(details.reason.reason))
    return carry_out(session, actor, action, verb, details)


def decide_note(session: Session, actor: Actor, note: Note, verb: ActionVerb, reason: Reason) -> None:
    """Carry out a moderator's decision about a note.

    Raises:
        Invalid: the verb has no function for notes.
    """
    function = FUNCTIONS[verb].to_note
    if function is None:
        raise Invalid.field("verb", _("does not apply to notes"), verb.value)
    function(session, actor, note, reason=reason)


def carry_out(session: Session, actor: Actor, action: Action, verb: ActionVerb, details: Details) -> Action:
    """Carry out a verb on an action and return the action it led to. If it is done already, nothing changes."""
    serialise_and_reload(session, action)
    # ``acknowledge`` checks itself for repeated calls, because later moves do not undo an acknowledgement.
    if verb is not ActionVerb.ACKNOWLEDGE and action.action_state is ACTION.target_of(verb):
        return action
    is_reopening = verb is ActionVerb.REOPEN
    if details.category is not None and not is_reopening:
        _file_under(session, actor, action, details.category)
    result = FUNCTIONS[verb].to_action(session, actor, action, details)
    if details.category is not None and is_reopening:
        _file_under(session, actor, result, details.category)
    session.refresh(result)
    return result


def _force_publish(session: Session, actor: Actor, action: Action, details: Details) -> Action:
    _refuse_unless_open(action, ActionState.PROPOSED)
    rationale = _rationale(session, action)
    if rationale is None and action.strike_step is None:
        raise IllegalMove("action_state", action.action_state, ActionState.PROPOSED)
    if details.act_as is not None or details.author_text:
        chosen = details.act_as or action.action_type
        _act_instead(session, actor, action, chosen, details.author_text)
    if action.action_type is ActionType.SILENCE:
        action.until = details.until
        if details.until is None and not details.without_end:
            action.until = default_until(action)
        session.flush()
    if rationale is None:
        actions.decide_act(session, actor, action, confidence=1.0, reason=details.reason)
    else:
        verdicts.force_publish(session, actor, rationale, reason=details.reason)
    return action


def _dismiss(session: Session, actor: Actor, action: Action, details: Details) -> Action:
    _refuse_unless_open(action, ActionState.DISMISSED)
    rationale = _rationale(session, action)
    if rationale is not None:
        verdicts.dismiss(session, actor, rationale, reason=details.reason)
    else:
        actions.decide_none(session, actor, action, confidence=1.0, reason=details.reason)
    return action


def _acknowledge(session: Session, actor: Actor, action: Action, details: Details) -> Action:
    return acknowledgements.acknowledge(
        session, actor, action, details.platform_action_id, until=details.until
    )


def _reopen(session: Session, actor: Actor, action: Action, details: Details) -> Action:
    return reopening.reopen(session, actor, action, details.reopen_to, reason=details.reason)


def _plain(function: Callable[..., object]) -> Functions:
    """A verb that takes no more than a reason, and moves the action itself."""

    def to_action(session: Session, actor: Actor, action: Action, details: Details) -> Action:
        function(session, actor, action, reason=details.reason)
        return action

    return Functions(to_action)


FUNCTIONS: Mapping[ActionVerb, Functions] = {
    ActionVerb.FORCE_PUBLISH: Functions(_force_publish, verdicts.force_publish),
    ActionVerb.DISMISS: Functions(_dismiss, verdicts.dismiss),
    ActionVerb.ACKNOWLEDGE: Functions(_acknowledge),
    ActionVerb.RETURN_TO_REVIEW: _plain(actions.return_to_review),
    ActionVerb.OPEN_SECOND_LOOK: _plain(actions.open_second_look),
    ActionVerb.CONFIRM: _plain(actions.confirm),
    ActionVerb.OVERTURN: _plain(actions.overturn),
    ActionVerb.REOPEN: Functions(_reopen),
}
"""Verbs that cannot be requested are left out: a score or a submission opens an action, and the service makes some
moves by itself."""


_DECIDING = frozenset(HELD_VERBS) - {ActionVerb.REOPEN}
"""The verbs by which the API decides, and can name a category."""


_TAKE_UNTIL = frozenset({ActionVerb.FORCE_PUBLISH, ActionVerb.ACKNOWLEDGE})


def default_until(action: Action) -> datetime | None:
    """When a silence ends that begins now, if the moderator says nothing: as its step says; None: never."""
    return silences.for_days(action.strike_step.days) if action.strike_step is not None else None


def _rationale(session: Session, action: Action) -> Note | None:
    """The rationale note that is decided with the action, or None. A restoration has no rationale of its own."""
    return session.get(Note, action.note_id) if action.note_id and not action.restores_id else None


def _refuse_unless_open(action: Action, target: ActionState) -> None:
    if ACTION.find(action.action_state, target) is None:
        raise IllegalMove("action_state", action.action_state, target)


def checked_category(session: Session, action: Action, category: str, field: str) -> str | None:
    """The category if it is one of the community's; None if the action is in this category already.

    Raises:
        Invalid: the community has no such category; it names ``field``.
    """
    if category == action.filed_under:
        return None
    known = {one.name for one in threshold_sets.current(session, action.community_id).categories}
    if category not in known:
        raise Invalid.field(field, _("must be one of this community's categories"), category[:50])
    return category


def _file_under(session: Session, actor: Actor, action: Action, category: str) -> None:
    before = action.filed_under
    action.decided_category = category
    session.flush()
    facts.file_under(session, action, category)
    actions.record(
        session, actor, action, "action.filed", before={"category": before}, after={"category": category}
    )


def _act_instead(
    session: Session, actor: Actor, action: Action, action_type: ActionType, author_text: str | None
) -> None:
    """Have the platform do something else than what the category is configured for, with a message to the author.

    The caller decides the action afterwards, in the same transaction. Recorded in history if the action changes.
    """
    action.reason = author_text or action.reason
    before = action.action_type
    if before is not action_type:
        action.action_type, action.decided_verb = action_type, decision_word(action_type)
    session.flush()
    if before is not action_type:
        facts.act_as(session, action)
        actions.record(
            session,
            actor,
            action,
            "action.chosen",
            before={"action_type": before.value},
            after={"action_type": action_type.value},
        )


def carries_text(verb: ActionVerb, action: Action, act_as: ActionType | None) -> bool:
    """Whether a moderator's text reaches the author with this decision."""
    return verb is ActionVerb.FORCE_PUBLISH and (act_as or action.action_type) in CARRY_TEXT


def choosable(action: Action) -> Collection[ActionType]:
    """What a moderator may have the platform do: with the post, or for a step of strikes with its author alone."""
    return CHOOSABLE if action.strike_step is None else CARRY_TEXT


def checked_choice(
    verb: ActionVerb, action: Action | None, act_as: ActionType | None, author_text: str | None
) -> tuple[ActionType | None, str | None]:
    """The chosen action and the text to the author, each None if there is none.

    Raises:
        Invalid: the verb leads to no action of the platform, this action cannot be chosen, or it carries no text.
    """
    text = (author_text or "").strip() or None
    if text is not None:
        limits.text(text, "author_text", limits.REASON_MAX)
        if action is None or not carries_text(verb, action, act_as):
            raise Invalid.field("author_text", _("goes only with a warning or a silence"))
    if act_as is not None and action is not None and act_as not in choosable(action):
        raise Invalid.field("verb", _("leads to nothing that can be chosen here"), act_as.value)
    if verb is not ActionVerb.FORCE_PUBLISH or action is None:
        if act_as is not None:
            raise Invalid.field("verb", _("leads to no action of the platform"), verb.value)
        return None, None
    return None if act_as is action.action_type else act_as, text
