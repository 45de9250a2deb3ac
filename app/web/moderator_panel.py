"""The moderators' side of the item page: what ``templates/_moderator_panel.html`` shows."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import urlencode

from sqlalchemy.orm import Session

from app.core import clock, history, holds, policies
from app.core.errors import NotFound
from app.core.models import Account, Action, Hold, Policy
from app.core.permissions import Actor
from app.core.vocabulary import IN_REVIEW, ActionState, HeldVerb
from app.web import answering, auth, forms, pending_undo, reason_choice, timeline
from app.web.categories import category_name, is_veiled
from app.web.evidence import Evidence, evidence
from app.web.moderator_filters import QueueForm
from app.web.moderator_forms import CommentForm, DecisionForm
from app.web.pending_undo import PendingUndo, capitalised, outcome, seconds_left
from app.web.reason_choice import ReasonOption


@dataclass(frozen=True)
class VerbButton:
    """A decision that is open, as a button of the form."""

    verb: HeldVerb
    label: str
    kind: str
    key: str | None = None
    effect: str = ""


@dataclass(frozen=True)
class Claim:
    """Who holds the item. ``until`` and ``name`` are None while nobody does."""

    name: str | None = None
    until: datetime | None = None
    mine: bool = False


@dataclass(frozen=True)
class ModeratorPanel:
    """Everything the panel shows. ``held`` is the decision about this item that has not been carried out."""

    action: Action
    form: DecisionForm
    message_form: CommentForm
    buttons: Sequence[VerbButton]
    claim: Claim
    held: Hold | None
    held_by_me: bool
    outcome: str | None
    pending: PendingUndo | None
    evidence: Evidence
    decided: timeline.TimelineEvent | None
    events: Sequence[timeline.TimelineEvent]
    query: Mapping[str, str]
    goes_on: bool
    category: str
    ratings: int
    needed: int
    is_veiled: bool
    reasons: Sequence[ReasonOption]

    @property
    def is_waiting(self) -> bool:
        """Whether the item waits for somebody's decision; what is open later changes one."""
        return self.action.action_state in IN_REVIEW

    @property
    def may_reopen(self) -> bool:
        """Whether the community can be asked to look again: it was done, and nobody looks again yet."""
        return self.action.action_state is ActionState.APPLIED and bool(self.buttons)

    @property
    def address_query(self) -> str:
        """What every address of the panel carries along: the queue's filters, and whether to go on."""
        query = {**self.query, **({"next": "1"} if self.goes_on else {})}
        return f"?{urlencode(query)}" if query else ""

    @property
    def queue_url(self) -> str:
        """Back to the queue, with its filters."""
        return f"/review?{urlencode(self.query)}" if self.query else "/review"

    @property
    def held_seconds(self) -> int:
        """Seconds until the held decision is due, at least 1."""
        return seconds_left(self.held.due_at) if self.held else 0

    @property
    def undo_url(self) -> str:
        """Takes back the decision that ``pending`` is about, and leads to its item."""
        if self.pending is None:
            return ""
        query = urlencode(
            {**self.query, **({"next": "1"} if self.goes_on else {}), "item": str(self.pending.action_ids[0])}
        )
        return f"{self.pending.undo_path}?{query}"


_BUTTONS: Mapping[HeldVerb, VerbButton] = {
    HeldVerb.FORCE_PUBLISH: VerbButton(HeldVerb.FORCE_PUBLISH, "Force-publish", "destructive", "F"),
    HeldVerb.CONFIRM: VerbButton(HeldVerb.CONFIRM, "Confirm", "secondary"),
    HeldVerb.OVERTURN: VerbButton(HeldVerb.OVERTURN, "Overturn", "destructive"),
    HeldVerb.DISMISS: VerbButton(HeldVerb.DISMISS, "Dismiss", "secondary", "D"),
}


def panel(
    session: Session,
    actor: Actor,
    action: Action,
    *,
    form: DecisionForm | None = None,
    message_form: CommentForm | None = None,
) -> ModeratorPanel:
    """What the panel shows of this item; ``form`` keeps what was typed.

    ``action`` has request, note and hold loaded; the actor may moderate its community.
    """
    asked = forms.queried(QueueForm)
    decision = form or DecisionForm(next="1" if goes_on() else "")
    decision.version.data = str(action.version)
    policy = _policy(session, action.community_id)
    decision.offer(
        [one.name for one in policy.categories if one.enabled] if policy else [],
        action.decided_category or action.category,
    )
    events = timeline.told(history.of_item(session, actor, action))
    held = action.held
    mine = held is not None and held.account_id == actor.account_id
    return ModeratorPanel(
        action=action,
        form=decision,
        message_form=message_form or CommentForm(),
        buttons=[] if held else open_buttons(actor, action),
        claim=_claim(session, actor, action),
        held=held,
        held_by_me=mine,
        outcome=capitalised(outcome(held.verb, action, "this post")) if held else None,
        pending=pending_undo.undoable(session, actor, action.community_id, newest_only=True, here=action.id),
        evidence=evidence(policy, action),
        decided=next((event for event in reversed(events) if event.state == action.action_state), None),
        events=events,
        query=asked.query(),
        goes_on=goes_on() if form is None else bool(form.next.data),
        category=category_name(action.category),
        ratings=action.note.ratings_count if action.note else 0,
        needed=answering.needed(),
        is_veiled=is_veiled(action.category, warn=auth.current_reader().account.content_warnings),
        reasons=reason_choice.options(session, actor, action.community_id, action.category),
    )


def goes_on() -> bool:
    """Whether the item was opened from the queue's flow, so that a decision leads to the next one."""
    return forms.from_address("next") == "1"


def open_buttons(actor: Actor, action: Action) -> list[VerbButton]:
    """The decisions that are open to this actor, as buttons; the order is always the same."""
    verbs = holds.verbs_open_to(actor, action)
    return [
        replace(button, effect=outcome(verb, action, "the post"))
        for verb, button in _BUTTONS.items()
        if verb in verbs
    ]


def _claim(session: Session, actor: Actor, action: Action) -> Claim:
    until = action.claimed_until
    if action.claimed_by_id is None or until is None or until <= clock.now():
        return Claim()
    holder = session.get(Account, action.claimed_by_id)
    return Claim(
        holder.display_name if holder else "Somebody", until, mine=action.claimed_by_id == actor.account_id
    )


def _policy(session: Session, community_id: uuid.UUID) -> Policy | None:
    try:
        return policies.current(session, community_id)
    except NotFound:
        return None
