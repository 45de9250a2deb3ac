"""The moderators' side of the item page: what ``templates/_moderator_panel.html`` shows."""

import math
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import sqlalchemy as sa
from sqlalchemy.orm import Session, selectinload

from app.core import clock, history, holds, policies
from app.core.errors import NotFound
from app.core.models import Account, Action, Hold, Policy
from app.core.permissions import Actor
from app.core.vocabulary import ActionState, ActionType, HeldVerb
from app.web import answering, auth, forms, reason_choice, timeline
from app.web.filters import excerpt
from app.web.moderator_forms import CommentForm, DecisionForm, QueueForm
from app.web.reason_choice import ReasonOption
from app.web.view_models import category_name, is_veiled

SHOWN_MATCHES = 8


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
class Evidence:
    """Why the item is here. Scores and thresholds 0.0–1.0; ``others`` are further categories with a score."""

    score: float | None
    tier2: float | None
    tier1: float | None
    version: int | None
    routed_by: int | None
    classifiers: Sequence[str]
    passages: Sequence[tuple[str, str]]
    others: Sequence[tuple[str, float]]
    held_back: str | None


@dataclass(frozen=True)
class PendingUndo:
    """The reader's decisions that can still be undone, newest first; ``seconds`` is what is left of the newest."""

    message: str
    hold_ids: Sequence[uuid.UUID]
    action_ids: Sequence[uuid.UUID]
    seconds: int

    @property
    def undo_path(self) -> str:
        """Where to take the newest back."""
        return f"/holds/{self.hold_ids[0]}/undo"


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
        return self.action.action_state in {ActionState.UNDER_REVIEW, ActionState.RETRO_REVIEW}

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

_DONE_TO_POST: Mapping[ActionType, str] = {
    ActionType.HIDE: "will be hidden",
    ActionType.UNHIDE: "will be shown again",
    ActionType.WARN: "will get a warning",
    ActionType.SILENCE: "will get its author silenced",
    ActionType.DELETE: "will be deleted",
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
        outcome=_capitalised(outcome(held.verb, action, "this post")) if held else None,
        pending=pending_undo(session, actor, action.community_id, newest_only=True, here=action.id),
        evidence=_evidence(policy, action),
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


def outcome(verb: HeldVerb, action: Action, subject: str) -> str:
    """What a decision does to ``subject``, as a sentence that may begin with it."""
    if verb is HeldVerb.FORCE_PUBLISH:
        return f"{subject} {_DONE_TO_POST[action.action_type]}."
    if verb is HeldVerb.CONFIRM:
        return f"what was done to {subject} stands."
    if verb is HeldVerb.OVERTURN:
        restored = action.action_type is ActionType.HIDE
        return f"{subject} will be shown again." if restored else f"what was done to {subject} is revoked."
    if action.action_state is ActionState.PROPOSED:
        return f"the platform is told not to act on {subject}."
    return f"{subject} stays as it is."


def seconds_left(due_at: datetime) -> int:
    """Whole seconds until then, at least 1."""
    return max(1, math.ceil((due_at - clock.now()).total_seconds()))


def pending_undo(
    session: Session,
    actor: Actor,
    community_id: uuid.UUID,
    *,
    newest_only: bool = False,
    here: uuid.UUID | None = None,
) -> PendingUndo | None:
    """The actor's own decisions in this community that can still be undone; three queries at most."""
    held = [one for one in holds.by(session, actor) if one.community_id == community_id and one.action_id]
    if newest_only:
        held = held[:1]
    if not held:
        return None
    found = session.scalars(
        sa.select(Action)
        .where(Action.id.in_([one.action_id for one in held]))
        .options(selectinload(Action.request))
    )
    known = {action.id: action for action in found}
    action = known[held[0].action_id or here or uuid.UUID(int=0)]
    named = "this post" if action.id == here else in_words(action, 50)
    message = _capitalised(outcome(held[0].verb, action, named))
    if len(held) > 1:
        message = f"{len(held)} decisions can still be undone. The newest: {message}"
    return PendingUndo(
        message=message,
        hold_ids=[one.id for one in held],
        action_ids=[one.action_id for one in held if one.action_id is not None],
        seconds=seconds_left(held[0].due_at),
    )


def in_words(action: Action, length: int) -> str:
    """A post within a sentence: its beginning, or only its category when the reader wants to be warned."""
    if is_veiled(action.category, warn=auth.current_reader().account.content_warnings):
        return f"a post ({category_name(action.category).lower()})"
    return f"“{excerpt(action.request.content, length)}”"


def _capitalised(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


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


def _evidence(policy: Policy | None, action: Action) -> Evidence:
    found: dict[str, Any] = action.evidence or {}
    details: dict[str, Any] = found.get("details") or {}
    rule = next((c for c in policy.categories if c.name == action.category), None) if policy else None
    text = action.request.content
    passages: dict[str, str] = {}
    for match in details.get("matches", ()):
        passages.setdefault(text[match["start"] : match["end"]], str(match.get("rule", "")))
    scores: dict[str, float] = found.get("scores") or {}
    return Evidence(
        score=action.score,
        tier2=rule.tier2 if rule else None,
        tier1=rule.tier1 if rule else None,
        version=policy.version if policy else None,
        routed_by=details.get("config_version"),
        classifiers=[f"{one['name']} {one['version']}" for one in details.get("classifiers", ())],
        passages=[(passage, rule_name) for passage, rule_name in passages.items()][:SHOWN_MATCHES],
        others=sorted(
            (
                (category_name(name), value)
                for name, value in scores.items()
                if name != action.category and value > 0
            ),
            key=lambda one: -one[1],
        ),
        held_back=(details.get("held_back") or {}).get("why"),
    )
