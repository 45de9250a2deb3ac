"""Data of the moderator panel on the item page (``templates/moderate/_moderator_panel.html``)."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from flask import url_for
from sqlalchemy.orm import Session
from wtforms import Form

from app.core.actions import actions, author_texts, undoing
from app.core.errors import NotFound
from app.core.history import pages
from app.core.models import Action, ThresholdSet
from app.core.panels import results
from app.core.permissions import Actor
from app.core.requests import score_rows
from app.core.review import assignments, decision_trace, reopening, second_looks
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.core.thresholds import routing, threshold_sets
from app.core.vocabulary import IN_REVIEW, ActionState, ActionTier, ActionType, ActionVerb, ReopenTo
from app.web import forms, list_filters, veils
from app.web.categories import category_name
from app.web.filter_forms import Query, encoded
from app.web.filters import full_time
from app.web.forms import AnyForm
from app.web.item import (
    answering,
    claim_view,
    decision_forms,
    pending_undo,
    reporting,
    timeline,
    verb_words,
    why_status,
)
from app.web.item.claim_view import Claim
from app.web.item.decision_forms import (
    AssignForm,
    CommentForm,
    DecisionForm,
    HandOver,
    ReasonOption,
    ReopenForm,
    SnoozeForm,
    TextQuestion,
    hand_over,
)
from app.web.item.evidence import Evidence, evidence
from app.web.item.pending_undo import PendingDecision, PendingUndo
from app.web.item.precedents import like_before
from app.web.item.silence_forms import LiftForm, length_words, lift_form
from app.web.item.timeline import DoneToPost
from app.web.item.verb_words import VerbButton, outcome
from app.web.item.wave import wave_of
from app.web.item.why_status import Missing
from app.web.veils import Veil


@dataclass(frozen=True)
class ModeratorPanel:
    """Everything the panel shows. ``held`` is the decision on this item that is not carried out yet.

    ``done`` says what was done to the post and by whom. ``second_look`` is the entry that opened the second look,
    ``restoration`` the action that shows the post again, ``undone`` the platform's answer whether it has undone
    another. ``lift`` is the form to lift a silence early, None if there is none in force. ``standard_text`` is what a
    warning tells the author unless the moderator writes something else. ``reopen``
    is the form to reopen a dismissal, None if that is not possible. ``reopened`` is the action that reopened this one,
    ``reopens`` the dismissal this one reopened. ``drawn_closes_at``: until when a drawn panel can decide, None without
    an open one. ``seen`` is a digest of what the page shows and colleagues may change. ``asked``: what to ask about the
    text to the author. ``wave``: the posts alike, None without any. ``hints``: whether the fields explain themselves,
    as they do until this person has decided some. ``severity`` of the category is a level, 1 to 4. ``precedents``:
    posts alike that were decided, None without any.
    """

    action: Action
    form: DecisionForm
    message_form: CommentForm
    buttons: Sequence[VerbButton]
    others: Sequence[VerbButton]
    claim: Claim
    held: PendingDecision | None
    pending: PendingUndo | None
    evidence: Evidence
    decided: timeline.TimelineEvent | None
    done: DoneToPost | None
    second_look: timeline.TimelineEvent | None
    restoration: Action | None
    undone: timeline.TimelineEvent | None
    lift: LiftForm | None
    reopen: ReopenForm | None
    kept: DecisionForm | ReopenForm
    reopened: Action | None
    reopens: Action | None
    dismissal: timeline.TimelineEvent | None
    may_ask_again: bool
    events: Sequence[timeline.TimelineEvent]
    query: Query
    opens_next: bool
    category: str
    ratings: int
    needed: int
    veil: Veil | None
    reasons: Sequence[ReasonOption]
    reasons_name: str
    hand_over: HandOver | None
    standard_text: str | None
    asked: TextQuestion | None = None
    was_refused: bool = False
    missing: Sequence[Missing] = ()
    is_test: bool = False
    drawn_closes_at: datetime | None = None
    reports: Mapping[str, Any] | None = None
    seen: str = ""
    wave: Mapping[str, Any] | None = None
    hints: bool = True
    severity: int = 1
    precedents: tuple[str, Sequence[Mapping[str, Any]]] | None = None

    @property
    def decides_alike(self) -> bool:
        """Whether a decision can be about the posts alike too."""
        is_open = self.action.action_state is ActionState.UNDER_REVIEW
        return is_open and self.wave is not None and self.wave["open"] > 1

    @property
    def poll_url(self) -> str:
        """URL that the open page asks for what changed since (``claiming.claim_part``)."""
        known = {"community": str(self.action.community_id), "seen": self.seen}
        return f"{url_for('web.claim_part', action_id=self.action.id)}?{encoded({**self._kept, **known})}"

    @property
    def _kept(self) -> Query:
        """Parameters for every URL of the panel: the filters of the list, and whether the next item follows."""
        return {**self.query, **({"next": "1"} if self.opens_next else {})}

    @property
    def silence(self) -> str:
        """Until when its author is silenced, as a sentence; empty if the action is no silence or never began."""
        action = self.action
        if action.action_type is not ActionType.SILENCE or (
            action.proposed_at is None and not action.applied_at
        ):
            return ""
        if action.ended_at is not None:
            return _("The silence ended %(at)s.", at=full_time(action.ended_at))
        return _("Silenced %(until)s.", until=length_words(action.until))

    @property
    def chosen(self) -> str | None:
        """The button that sent the form. Ctrl+Enter sends only this one, so no other verb is sent by accident."""
        return self.form.verb.data if self.form.wanted_verb() else None

    @property
    def is_changing(self) -> bool:
        """Whether the form that changes a decision came back."""
        return bool(self.form.errors) or self.asked is not None or self.chosen is not None

    @property
    def opens_more(self) -> bool:
        """Whether the form came back with something in the fields that are folded away."""
        form, over = self.form, self.hand_over
        is_typed = form.wanted_action() is not None or form.author_text.data or form.comment.data
        is_refused = {"policy", "comment", "author_text", "silence_for", "until"} & form.errors.keys()
        is_handed = over is not None and (
            over.assign.errors or over.snooze.errors or over.assign.handover.data
        )
        return bool(is_typed or is_refused or is_handed)

    @property
    def may_escalate(self) -> bool:
        return self.held is None and assignments.may_escalate(self.action)

    @property
    def confirms(self) -> bool:
        """Whether the actor may confirm. Confirm then uses the key that Claim has otherwise."""
        return any(button.verb is ActionVerb.CONFIRM for button in self.buttons)

    @property
    def is_waiting(self) -> bool:
        """Whether the item waits for a decision. Verbs offered later change a decision that was made.

        What a score did alone waits too, for a moderator who works through the second looks.
        """
        action = self.action
        did_alone = action.action_state is ActionState.APPLIED and action.action_tier is ActionTier.IMMEDIATE
        return action.action_state in IN_REVIEW or (did_alone and list_filters.is_second_look())

    @property
    def is_text_unused(self) -> bool:
        """Whether the moderator typed text into a form that the panel no longer shows."""
        is_shown = bool(self.buttons) if self.kept is self.form else self.reopen is not None
        return bool(self.kept.typed_texts) and (self.held is not None or not is_shown)

    @property
    def decided_by(self) -> str:
        """Who decided if no person did; empty if a person decided, the time ran out, or no decision was needed."""
        action, event = self.action, self.decided
        if event is None or event.by_person or event.reason or action.lapsed_at is not None:
            return ""
        if action.action_state is ActionState.PROPOSED:
            return _("by the community") if event.is_change else _("by its score alone")
        return "" if action.action_state is ActionState.SCAN_EXEMPT else _("by the community")

    @property
    def address_query(self) -> str:
        return f"?{encoded(self._kept)}" if self._kept else ""

    @property
    def back(self) -> tuple[str, str]:
        """URL and name of the list that the item was opened from."""
        return list_filters.origin_link(str(self.action.id))

    @property
    def is_from_queue(self) -> bool:
        return not list_filters.is_second_look()

    @property
    def is_held_by_me(self) -> bool:
        return self.held is not None and self.held.is_mine

    @property
    def is_newest(self) -> bool:
        return (
            self.is_held_by_me and self.pending is not None and self.pending.action_ids[0] == self.action.id
        )

    @property
    def undo_url(self) -> str:
        """URL that undoes the newest decision in ``pending`` and returns to its item; empty if there is none."""
        if self.pending is None:
            return ""
        return f"{self.pending.newest.undo_path}?{encoded({**self._kept, 'item': str(self.pending.action_ids[0])})}"


def panel(
    session: Session,
    actor: Actor,
    action: Action,
    *sent: Form,
    was_refused: bool = False,
    asked: TextQuestion | None = None,
) -> ModeratorPanel:
    """Return the panel of this item. The forms that were ``sent`` keep their text, a decision also its chosen verb.

    ``was_refused``: another person decided first, so focus goes to the panel's heading.
    ``action`` has request, note and hold loaded. The caller has checked that the actor may moderate its community.
    """
    posted, reopen_form = _sent(sent, DecisionForm), _sent(sent, ReopenForm)
    decision = posted or DecisionForm(next="1" if opens_next() else "")
    decision.version.data = str(action.version)
    thresholds = _thresholds(session, action.community_id)
    decision.offer(
        [category.name for category in thresholds.categories if category.enabled] if thresholds else [],
        action.filed_under,
    )
    decision.offer_length(action.strike_step)
    siblings = actions.siblings(session, action)
    restoring = {sibling.id for sibling in siblings if sibling.restores_id is not None}
    restoring |= {action.id} if action.restores_id is not None else set()
    events = timeline.events(pages.of_item(session, actor, action), restoring=restoring)
    held = pending_undo.of_action(actor, action, action.held)
    claim = claim_view.claim_of(session, actor, action)
    precedents = like_before(session, actor, action, decision if posted is None else None)
    found_wave = wave_of(session, actor, action)
    if found_wave is not None:
        decision.alike.label.text = ngettext(
            "Decide %(num)s post alike", "Decide all %(num)s posts alike", found_wave["open"]
        )
    return ModeratorPanel(
        action=action,
        form=decision,
        message_form=_sent(sent, CommentForm) or CommentForm(),
        buttons=[] if held else verb_words.buttons_for_action(actor, action),
        others=[] if held else verb_words.other_buttons(actor, action),
        claim=claim,
        held=held,
        pending=pending_undo.undoable(session, actor, action.community_id, newest_only=True, here=action.id),
        evidence=evidence(thresholds, action, score_rows.scores_of(session, action.request_id)),
        decided=_last(events, action.id, action.action_state),
        done=_done(session, action),
        second_look=_last(events, action.id, ActionState.RETRO_REVIEW) if action.retro_review_at else None,
        restoration=next((sibling for sibling in siblings if sibling.restores_id == action.id), None),
        undone=next((event for event in reversed(events) if _is_answer(event, action)), None),
        lift=None if held else lift_form(action, _sent(sent, LiftForm)),
        reopen=None if held else _reopen(session, actor, action, reopen_form),
        kept=reopen_form or decision,
        reopened=next((sibling for sibling in siblings if sibling.reopens_id == action.id), None),
        reopens=next((sibling for sibling in siblings if sibling.id == action.reopens_id), None),
        dismissal=_last(events, action.reopens_id, ActionState.DISMISSED) if action.reopens_id else None,
        may_ask_again=held is None and second_looks.is_answerable(action, action.request),
        events=events,
        query=list_filters.origin_query(),
        opens_next=opens_next() if posted is None else bool(posted.next.data),
        category=category_name(action.category),
        drawn_closes_at=results.closes_at(session, action),
        ratings=action.note.ratings_count if action.note else 0,
        needed=answering.ratings_needed(),
        veil=veils.for_action(action, url_for("web.item", action_id=action.id)),
        reasons=decision_forms.reason_options(session, actor, action.community_id, action.category),
        reasons_name=decision_forms.remembered_as(actor, action.community_id, action.category),
        hand_over=hand_over(session, actor, action, _sent(sent, AssignForm), _sent(sent, SnoozeForm)),
        standard_text=author_texts.for_category(session, action.community_id, action.filed_under),
        asked=asked,
        was_refused=was_refused,
        missing=why_status.missing_for(session, action),
        is_test=action.request.is_test,
        reports=reporting.for_moderators(session, action.request_id),
        seen=claim_view.seen(actor, action, claim.lookers),
        wave=found_wave,
        hints=not decision_trace.is_practised(session, actor),
        severity=_severity(thresholds, action),
        precedents=precedents,
    )


def _sent(sent: Sequence[Form], kind: type[AnyForm]) -> AnyForm | None:
    """Return the form of this kind among those that the request carried, or None."""
    return next((form for form in sent if isinstance(form, kind)), None)


def opens_next() -> bool:
    """Whether the moderator works through the queue, so that the next item follows each decision."""
    return forms.query_arg("next") == "1"


def _last(
    events: Sequence[timeline.TimelineEvent], action_id: uuid.UUID, state: ActionState
) -> timeline.TimelineEvent | None:
    """Return the newest event that moved this action into this state, or None."""
    return next(
        (event for event in reversed(events) if event.about == action_id and event.state == state), None
    )


def _is_answer(event: timeline.TimelineEvent, action: Action) -> bool:
    return event.about == action.id and event.what == undoing.ANSWERED


def _done(session: Session, action: Action) -> DoneToPost | None:
    """Return what was done to the post, or None before the action was applied: then its state says enough."""
    if action.applied_at is None:
        return None
    return timeline.done_to_post(action, second_looks.deciding(session, [action]).get(action.id))


def _reopen(session: Session, actor: Actor, action: Action, posted: ReopenForm | None) -> ReopenForm | None:
    """Return the form to reopen a dismissal, with the text that was typed; None if reopening would be refused."""
    if not reopening.is_offered(actor, action, action.request):
        return None
    if reopening.refusal(session, action, action.request) is not None:
        return None
    form = posted or ReopenForm()
    form.version.data = str(action.version)
    form.offer(outcome(ActionVerb.REOPEN, action, _("the post"), ReopenTo.ACT))
    return form


def _severity(thresholds: ThresholdSet | None, action: Action) -> int:
    categories = thresholds.categories if thresholds is not None else []
    severity = next((one.severity for one in categories if one.name == action.filed_under), 0)
    return routing.severity_level(severity)


def _thresholds(session: Session, community_id: uuid.UUID) -> ThresholdSet | None:
    try:
        return threshold_sets.current(session, community_id)
    except NotFound:
        return None
