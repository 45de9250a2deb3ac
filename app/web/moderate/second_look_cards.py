"""Second looks as cards: the post, what was done to it, and the decisions that are open."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from flask import url_for
from sqlalchemy.orm import Session

from app.core.models import Action
from app.core.permissions import Actor
from app.core.review import claims, second_looks
from app.core.vocabulary import ActionState, ActionVerb, ReviewGroup
from app.web import forms, origins
from app.web.filter_forms import encoded
from app.web.filters import full_time
from app.web.item import done_to_post
from app.web.item.done_to_post import DoneToPost
from app.web.item.timeline import cause_words
from app.web.item.views import BlindItem, blind_item
from app.web.moderate import pending_undo, row_names, verb_buttons
from app.web.moderate.filters import LookForm
from app.web.moderate.forms import DecisionForm
from app.web.moderate.pending_undo import PendingDecision
from app.web.moderate.row_names import RowName
from app.web.moderate.verb_buttons import VerbButton
from app.web.rate import answering
from app.wiring import wired

PART = "moderate/_second_look_card.html"
AT = "second-look"
"""Value of ``at`` in the URL of the undo form: the answer is then the card again."""


@dataclass(frozen=True)
class SecondLookCard:
    """One second look. ``score`` and ``threshold`` are 0.0–1.0; at ``ends_at`` it is confirmed without consensus.

    ``done`` says what was done, by whom and why. ``held`` is the decision that is not carried out yet;
    ``claimant`` is a colleague who has claimed it.
    """

    id: uuid.UUID
    item: BlindItem
    state: str
    done: DoneToPost | None
    done_words: str
    score: float | None
    threshold: float | None
    why_again: str
    again_at: datetime | None
    ends_at: datetime | None
    ratings: int
    needed: int
    is_staffs: bool
    form: DecisionForm
    buttons: Sequence[VerbButton]
    held: PendingDecision | None
    claimant: str
    focus: bool = False
    apart: str = ""
    """Text that makes the card's name unique on the page."""

    @property
    def chosen(self) -> ActionVerb | None:
        """The verb of the form that was sent."""
        return self.form.wanted_verb()

    @property
    def name(self) -> str:
        """A short name of the card, for the names of its buttons."""
        return f"{self.item.category.lower()}, {self.done_words.lower()}{self.apart}"

    @property
    def row_name(self) -> RowName:
        """The name with the facts that may distinguish it from other cards."""
        item = self.item
        facts = (
            f"by {item.author}" if item.author else "",
            f"in {item.channel}" if item.channel else "",
            full_time(item.posted_at),
        )
        return RowName(self.name, facts, self.id)


def form_of(action_id: uuid.UUID, *, posted: bool = False) -> DecisionForm:
    """Return the form of one card. Its field names contain the action's id, because a page shows several cards."""
    prefix = f"look-{action_id}-"
    return forms.posted(DecisionForm, prefix=prefix) if posted else DecisionForm(prefix=prefix)


def cards(
    session: Session,
    actor: Actor,
    actions: Sequence[Action],
    *,
    posted: Mapping[uuid.UUID, DecisionForm] | None = None,
    focus: bool = False,
) -> list[SecondLookCard]:
    """Return the cards of these actions. ``posted`` forms keep their text. Three queries for any number of actions."""
    why = second_looks.openings(session, actions)
    decided = second_looks.deciding(session, actions)
    holders = claims.holders(session, actor, actions)
    cards = [
        _card(
            actor,
            action,
            why.get(action.id, ""),
            (posted or {}).get(action.id),
            focus,
            done_to_post.for_action(action, decided.get(action.id)),
            holders.get(action.id, ""),
        )
        for action in actions
    ]
    apart = row_names.told_apart([card.row_name for card in cards])
    return [replace(card, apart=more) for card, more in zip(cards, apart, strict=True)]


def card(
    session: Session, actor: Actor, action: Action, *, form: DecisionForm | None = None, focus: bool = False
) -> SecondLookCard:
    """Return the card of one action, in any state."""
    (card,) = cards(session, actor, [action], posted={action.id: form} if form else None, focus=focus)
    return replace(card, apart=card.row_name.whole)


def url(action_id: uuid.UUID | None = None, **more: str) -> str:
    """URL of the list with the current filters; with ``action_id``, an anchor to that card."""
    query = {**forms.queried(LookForm).query(), **more}
    return (
        url_for("web.second_look")
        + (f"?{encoded(query)}" if query else "")
        + (f"#look-{action_id}" if action_id else "")
    )


def context() -> dict[str, Any]:
    """Template variables for every card: query strings with the current filters."""
    query = forms.queried(LookForm).query()
    return {
        "query": f"?{encoded(query)}" if query else "",
        "undo_query": "?" + encoded({**query, "at": AT}),
        "item_query": "?" + encoded({**query, "from": origins.SECOND_LOOK}),
    }


def _card(
    actor: Actor,
    action: Action,
    why: str,
    form: DecisionForm | None,
    focus: bool,
    done: DoneToPost | None,
    claimant: str,
) -> SecondLookCard:
    held = pending_undo.of_action(actor, action, action.held)
    details = (action.evidence or {}).get("details") or {}
    shown = form or form_of(action.id)
    shown.version.data = str(action.version)
    is_open = action.action_state is ActionState.RETRO_REVIEW
    days = wired().settings.review_days
    return SecondLookCard(
        id=action.id,
        item=blind_item(
            action,
            url_for("web.second_look", _anchor=f"look-{action.id}"),
            form=f"look-form-{action.id}" if form is not None else None,
        ),
        state=action.action_state.value,
        done=done,
        done_words=done_to_post.DONE[action.action_type][0],
        score=action.score,
        threshold=details.get("threshold"),
        why_again=cause_words(why),
        again_at=action.retro_review_at,
        ends_at=action.retro_review_at + timedelta(days=days)
        if is_open and action.retro_review_at is not None
        else None,
        ratings=action.note.ratings_count if action.note else 0,
        needed=answering.ratings_needed(),
        is_staffs=action.review_group is ReviewGroup.STAFF,
        form=shown,
        buttons=[] if held else verb_buttons.for_action(actor, action),
        held=held,
        claimant=claimant,
        focus=focus,
    )
