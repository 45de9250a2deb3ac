"""The moderators' side of the item page: what ``templates/moderate/_moderator_panel.html`` shows."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from app.core.actions import actions
from app.core.errors import NotFound
from app.core.history import chain as history
from app.core.models import Action, ThresholdSet
from app.core.permissions import Actor
from app.core.policies import policies
from app.core.review import claims, reopening, second_looks
from app.core.vocabulary import IN_REVIEW, ActionState, ActionVerb, ReopenTo
from app.web import forms, origins, veils
from app.web.categories import category_name
from app.web.filter_forms import Query, encoded
from app.web.item import done_to_post, missing, timeline
from app.web.item.done_to_post import DoneToPost
from app.web.item.evidence import Evidence, evidence
from app.web.item.missing import Missing
from app.web.moderate import pending_undo, reason_choice, verb_buttons
from app.web.moderate.forms import CommentForm, DecisionForm, ReopenForm
from app.web.moderate.pending_undo import PendingDecision, PendingUndo
from app.web.moderate.reason_choice import ReasonOption
from app.web.moderate.verb_buttons import VerbButton
from app.web.moderate.verb_words import outcome
from app.web.rate import answering
from app.web.veils import Veil


@dataclass(frozen=True)
class Claim:
    """Who holds the item. ``until`` and ``name`` are None while nobody does.

    ``taken_at``: when they took it over from the reader; None when they did not.
    """

    name: str | None = None
    until: datetime | None = None
    mine: bool = False
    taken_at: datetime | None = None


@dataclass(frozen=True)
class ModeratorPanel:
    """Everything the panel shows. ``held`` is the decision about this item that has not been carried out.

    ``done`` is what was done to the post and by whom, ``looking`` the entry that opened its second look,
    ``restoration`` the action that shows it again. ``reopen`` is the form to take up a dismissal, None when nobody
    can; ``reopened`` the action that did, ``reopens`` the dismissal that this one took up.
    """

    action: Action
    form: DecisionForm
    message_form: CommentForm
    buttons: Sequence[VerbButton]
    claim: Claim
    held: PendingDecision | None
    pending: PendingUndo | None
    evidence: Evidence
    decided: timeline.TimelineEvent | None
    done: DoneToPost | None
    looking: timeline.TimelineEvent | None
    restoration: Action | None
    reopen: ReopenForm | None
    kept: DecisionForm | ReopenForm
    reopened: Action | None
    reopens: Action | None
    dismissal: timeline.TimelineEvent | None
    may_ask_again: bool
    events: Sequence[timeline.TimelineEvent]
    query: Query
    goes_on: bool
    category: str
    ratings: int
    needed: int
    veil: Veil | None
    reasons: Sequence[ReasonOption]
    was_refused: bool = False
    missing: Sequence[Missing] = ()
    is_test: bool = False

    @property
    def chosen(self) -> ActionVerb | None:
        """The verb that came back with the form: Ctrl+Enter sends it, and nothing else is sent by accident."""
        return self.form.wanted_verb()

    @property
    def confirms(self) -> bool:
        """Whether Confirm is open, which has the key that Claim has otherwise."""
        return any(one.verb is ActionVerb.CONFIRM for one in self.buttons)

    @property
    def is_waiting(self) -> bool:
        """Whether the item waits for somebody's decision; what is open later changes one."""
        return self.action.action_state in IN_REVIEW

    @property
    def is_text_unused(self) -> bool:
        """Whether something was typed into a form that the panel no longer shows."""
        typed = bool(self.kept.reason.data or self.kept.comment.data)
        is_shown = bool(self.buttons) if self.kept is self.form else self.reopen is not None
        return typed and (self.held is not None or not is_shown)

    @property
    def decided_by(self) -> str:
        """Who decided, when that is no person: empty where time ran out, or nobody had to decide."""
        action, event = self.action, self.decided
        if event is None or event.by_somebody or event.reason or action.lapsed_at is not None:
            return ""
        if action.action_state is ActionState.PROPOSED:
            return "by the community" if event.is_change else "by its score alone"
        return "" if action.action_state is ActionState.SCAN_EXEMPT else "by the community"

    @property
    def address_query(self) -> str:
        """What every address of the panel carries along: the list's filters, and whether to go on."""
        query = {**self.query, **({"next": "1"} if self.goes_on else {})}
        return f"?{encoded(query)}" if query else ""

    @property
    def back(self) -> tuple[str, str]:
        """The address and the name of the list that the item was opened from."""
        return origins.back(str(self.action.id))

    @property
    def is_from_queue(self) -> bool:
        """Whether the queue's next item may follow this one."""
        return not origins.is_second_look()

    @property
    def is_held_by_me(self) -> bool:
        """Whether the reader made the decision that is held."""
        return self.held is not None and self.held.is_mine

    @property
    def undo_url(self) -> str:
        """Takes back the decision that ``pending`` is about, and leads to its item."""
        if self.pending is None:
            return ""
        query = encoded(
            {**self.query, **({"next": "1"} if self.goes_on else {}), "item": str(self.pending.action_ids[0])}
        )
        return f"{self.pending.undo_path}?{query}"


def panel(
    session: Session,
    actor: Actor,
    action: Action,
    *,
    form: DecisionForm | None = None,
    message_form: CommentForm | None = None,
    reopen_form: ReopenForm | None = None,
    was_refused: bool = False,
) -> ModeratorPanel:
    """What the panel shows of this item; the forms keep what was typed, ``form`` also which verb was chosen.

    ``was_refused``: somebody was first, so focus goes to the panel's heading.
    ``action`` has request, note and hold loaded; the actor may moderate its community.
    """
    decision = form or DecisionForm(next="1" if goes_on() else "")
    decision.version.data = str(action.version)
    thresholds = _thresholds(session, action.community_id)
    decision.offer(
        [one.name for one in thresholds.categories if one.enabled] if thresholds else [],
        action.decided_category or action.category,
    )
    siblings = actions.siblings(session, action)
    restoring = {one.id for one in siblings if one.restores_id is not None}
    restoring |= {action.id} if action.restores_id is not None else set()
    events = timeline.events(history.of_item(session, actor, action), restoring=restoring)
    held = pending_undo.of_action(actor, action, action.held)
    return ModeratorPanel(
        action=action,
        form=decision,
        message_form=message_form or CommentForm(),
        buttons=[] if held else verb_buttons.for_action(actor, action),
        claim=_claim(session, actor, action),
        held=held,
        pending=pending_undo.undoable(session, actor, action.community_id, newest_only=True, here=action.id),
        evidence=evidence(thresholds, action),
        decided=_last(events, action.id, action.action_state),
        done=_done(session, action),
        looking=_last(events, action.id, ActionState.RETRO_REVIEW) if action.retro_review_at else None,
        restoration=next((one for one in siblings if one.restores_id == action.id), None),
        reopen=None if held else _reopen(session, actor, action, reopen_form),
        kept=reopen_form or decision,
        reopened=next((one for one in siblings if one.reopens_id == action.id), None),
        reopens=next((one for one in siblings if one.id == action.reopens_id), None),
        dismissal=_last(events, action.reopens_id, ActionState.DISMISSED) if action.reopens_id else None,
        may_ask_again=held is None and second_looks.is_answerable(action, action.request),
        events=events,
        query=origins.query(),
        goes_on=goes_on() if form is None else bool(form.next.data),
        category=category_name(action.category),
        ratings=action.note.ratings_count if action.note else 0,
        needed=answering.ratings_needed(),
        veil=veils.for_action(action, f"/review/{action.id}"),
        reasons=reason_choice.options(session, actor, action.community_id, action.category),
        was_refused=was_refused,
        missing=missing.for_item(session, action),
        is_test=action.request.is_test,
    )


def goes_on() -> bool:
    """Whether the item was opened from the queue's flow, so that a decision leads to the next one."""
    return forms.query_arg("next") == "1"


def _last(
    events: Sequence[timeline.TimelineEvent], action_id: uuid.UUID, state: ActionState
) -> timeline.TimelineEvent | None:
    """The newest entry that brought this action into this state."""
    return next((one for one in reversed(events) if one.about == action_id and one.state == state), None)


def _done(session: Session, action: Action) -> DoneToPost | None:
    """What was done to the post, once the platform was to do it; of a proposal the state tells all there is."""
    if action.applied_at is None:
        return None
    return done_to_post.for_action(action, second_looks.deciding(session, [action]).get(action.id))


def _reopen(session: Session, actor: Actor, action: Action, given: ReopenForm | None) -> ReopenForm | None:
    """The form to take up a dismissal, with what was typed; None where that would be refused."""
    if not reopening.is_offered(actor, action, action.request):
        return None
    if reopening.refusal(session, action, action.request) is not None:
        return None
    form = given or ReopenForm()
    form.version.data = str(action.version)
    form.offer(outcome(ActionVerb.REOPEN, action, "the post", ReopenTo.ACT))
    return form


def _claim(session: Session, actor: Actor, action: Action) -> Claim:
    if claims.is_held_by(actor, action):
        return Claim("You", action.claimed_until, mine=True)
    holder = claims.held_by_other(session, actor, action)
    if holder is None:
        return Claim()
    lost = claims.lost(session, actor, action)
    return Claim(holder.display_name, action.claimed_until, taken_at=lost.at if lost else None)


def _thresholds(session: Session, community_id: uuid.UUID) -> ThresholdSet | None:
    try:
        return policies.current(session, community_id)
    except NotFound:
        return None
