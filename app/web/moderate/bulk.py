"""Decide, claim or assign several items of the queue: the ticked ones, or those that match the filters."""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from flask import Response
from sqlalchemy.orm import Session

from app.core import limits
from app.core.actions import actions
from app.core.errors import IllegalMove, Invalid, NotFound, Refused
from app.core.history.why import Why
from app.core.models import Action
from app.core.permissions import Permission
from app.core.review import assignments, claims, holds, queue
from app.core.review.queue_filters import SEARCHED
from app.core.review.queue_order import Sort
from app.web import auth, forms, page, veils
from app.web.blueprint import web
from app.web.filters import sentence_end, state_phrase
from app.web.moderate import moderation, pending_undo, queue_rows, reason_choice, verb_buttons
from app.web.moderate import review as review_page
from app.web.moderate.forms import BulkForm, Choice
from app.web.moderate.row_lists import QUEUE, RowList
from app.wiring import wired

FIRSTS: Mapping[Sort, str] = {
    Sort.URGENT: "the {} most urgent",
    Sort.OLDEST: "the {} oldest",
    Sort.NEWEST: "the {} newest",
    Sort.SCORE: "the {} with the highest scores",
    Sort.RATINGS: "the {} with the most ratings",
}
"""What the items are, in each order of the queue, if more match than can be decided at once."""


@dataclass(frozen=True)
class Failure:
    """An item that was left out, and why."""

    id: uuid.UUID
    text: str
    why: str


@web.get("/review/matching")
@auth.needs(Permission.MODERATE)
def matching() -> Response:
    """What deciding all items that match the filters would mean, before it is done."""
    return _show_matching(BulkForm())


@web.post("/review/dismiss")
@auth.needs(Permission.MODERATE)
def decide_selected() -> Response:
    """Decide the ticked rows for one reason, or claim or assign them. Each decision can be undone by itself."""
    form = forms.posted(BulkForm)

    def again(*, status: int, done: str | None = None) -> Response:
        if form.matching.data and status == 422:
            return _show_matching(form, status=status)
        return review_page.show(form, status=status, done=done)

    return decide_ticked(form, QUEUE, again)


class Again(Protocol):
    """Shows the list again, with the form as it was sent, and with what was done about some of the items."""

    def __call__(self, *, status: int, done: str | None = None) -> Response: ...


def decide_ticked(form: BulkForm, row_list: RowList, again: Again) -> Response:
    """Decide, claim or assign the ticked rows of a list; each that fails is named with the reason."""
    if form.template.data:
        with wired().database.reading() as session:
            reason_choice.compose(session, auth.current_actor(), auth.current_community().id, form)
    with wired().database.reading() as session:
        form.hidden_ticked = _hidden_among(session, form) if form.decides else 0
    is_valid = form.validate()
    if not form.says_unseen:
        form.ask_about_hidden()
    if not is_valid or not form.says_unseen:
        return again(status=422)
    one = _decide if form.decides else _claim if form.claims else _assign
    with wired().database.writing() as session:
        tried = [_try(session, choice, form, one) for choice in form.item.data]
    failures = [failure for failure in tried if failure is not None]
    count = len(tried) - len(failures)
    items = "1 item" if count == 1 else f"{count} items"
    message = _message(form, items, "is" if count == 1 else "are")
    if not failures:
        back = row_list.url() if form.matching.data else row_list.url_at(form.item.data[-1].id)
        return page.done(None, back, message)
    failed = {failure.id for failure in failures}
    form.item.data = [choice for choice in form.item.data if choice.id in failed]
    with wired().database.reading() as session:
        form.hidden_ticked = _hidden_among(session, form) if form.decides else 0
    done = form.words.done if form.decides else "claimed" if form.claims else "assigned"
    for failure in failures:
        form.form_errors.append(
            sentence_end(f"{failure.text[:1].upper()}{failure.text[1:]} was not {done}: {failure.why}")
        )
    return again(status=409, done=message if count else None)


def _message(form: BulkForm, items: str, are: str) -> str:
    """Say what was done: "3 items are assigned to Sam."."""
    if form.decides:
        return f"{items} will be {form.words.done}."
    if form.claims:
        return f"{items} {are} yours for 10 minutes."
    if form.assignee_id is None:
        return f"{items} {are} assigned to nobody in particular."
    with wired().database.reading() as session:
        names = assignments.colleagues(session, auth.current_actor(), auth.current_community().id)
    return f"{items} {are} assigned to {sentence_end(names.get(form.assignee_id, 'a colleague'))}"


def _hidden_among(session: Session, form: BulkForm) -> int:
    """Count the rows whose content the list hid from the reader."""
    ids = [choice.id for choice in form.item.data[: form.most]]
    items = queue.items(session, auth.current_actor(), auth.current_community().id, ids)
    return sum(veils.hides(item.action) for item in items)


def _try(
    session: Session,
    choice: Choice,
    form: BulkForm,
    one: Callable[[Session, Action, Choice, BulkForm], None],
) -> Failure | None:
    text = "an item"
    try:
        with session.begin_nested():
            action = actions.with_content(session, auth.current_actor(), choice.id)
            if action.community_id != auth.current_community().id:
                raise NotFound("item")
            text = pending_undo.in_words(action, 60)
            one(session, action, choice, form)
    except IllegalMove as refusal:
        return Failure(choice.id, text, f"it is {state_phrase(refusal.current)}")
    except Invalid as refusal:
        problem = refusal.problems[0]
        return Failure(choice.id, text, f"the {problem.loc[-1]} {problem.msg}")
    except Refused as refusal:
        return Failure(choice.id, text, refusal.detail)
    return None


def _decide(session: Session, action: Action, choice: Choice, form: BulkForm) -> None:
    verb = form.wanted_verb
    if verb is None:
        return
    holds.hold(
        session,
        auth.current_actor(),
        verb,
        action=action,
        why=Why(form.reason.data or ""),
        act_as=form.words.act_as,
        version=choice.version,
    )


def _claim(session: Session, action: Action, choice: Choice, form: BulkForm) -> None:
    claims.claim(session, auth.current_actor(), action)


def _assign(session: Session, action: Action, choice: Choice, form: BulkForm) -> None:
    assignments.assign(
        session, auth.current_actor(), action, form.assignee_id, why=Why(""), version=choice.version
    )


def _show_matching(form: BulkForm, *, status: int = 200) -> Response:
    """Render the preview: of the items that it showed when it was sent, or at first of those that match now."""
    actor, community, filters = auth.current_actor(), auth.current_community(), moderation.wanted_queue()
    with wired().database.reading() as session:
        if not form.shown.data and not form.item.data:
            found = claims.free(session, actor, community.id, filters, limit=limits.MATCHING_MAX + 1)
            form.shown.data = [Choice(action.id, action.version) for action in found[: limits.MATCHING_MAX]]
            form.item.data = form.shown.data if status == 200 else []
            form.cut.data = "1" if len(found) > limits.MATCHING_MAX else ""
            form.hidden_ticked = _hidden_among(session, form)
        ids = [choice.id for choice in (form.shown.data or form.item.data)[: limits.MATCHING_MAX]]
        known = {item.action.id: item for item in queue.items(session, actor, community.id, ids)}
        shown: Sequence[queue.QueueItem] = [known[item_id] for item_id in ids if item_id in known]
        rows = queue_rows.rows(session, shown, actor)
        reasons = reason_choice.options(session, actor, community.id)
        may_lack = queue.search_may_lack(session, actor, community.id, filters)
    return page.render(
        "moderate/matching.html",
        status=status,
        form=form,
        rows=rows,
        ticked={choice.id for choice in form.item.data},
        count=len(ids),
        first_of_all=FIRSTS[filters.sort] if form.cut.data else "",
        searched=SEARCHED if may_lack else None,
        reasons=reasons,
        reasons_name=reason_choice.remembered_as(actor, community.id),
        buttons=verb_buttons.for_several(BulkForm.VERBS, len(form.item.data)),
        chosen=form.verb.data if form.wanted_verb else None,
        back_url=moderation.queue_url(),
        **QUEUE.context(),
    )
