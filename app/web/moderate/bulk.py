"""Decide, claim or assign several rows of a list: the ticked ones, or those that match the queue's filters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from flask import Response
from sqlalchemy.orm import Session

from app.core import limits, texts
from app.core.errors import IllegalMove, Invalid, NotFound, Refused
from app.core.history.reason import Reason
from app.core.models import Action
from app.core.permissions import Permission
from app.core.review import assignments, claims, holds, queue, waves
from app.core.review.queue_filters import SEARCHED, Sort
from app.core.texts import LazyText, lazy_gettext, ngettext
from app.core.texts import gettext as _
from app.core.vocabulary import ActionVerb
from app.web import auth, forms, page, veils
from app.web.blueprint import web
from app.web.filters import sentence_end, state_phrase
from app.web.item import decision_forms, pending_undo, verb_words
from app.web.moderate import decisions, queue_rows, row_lists
from app.web.moderate import review as review_page
from app.web.moderate.decisions import Done
from app.web.moderate.forms import BulkForm, Choice, SecondLookBulkForm
from app.web.moderate.row_lists import QUEUE, SECOND_LOOKS, RowList
from app.wiring import wired

FIRSTS: Mapping[Sort, LazyText] = {
    Sort.URGENT: lazy_gettext("Decide the %(count)s most urgent of those that match"),
    Sort.OLDEST: lazy_gettext("Decide the %(count)s oldest of those that match"),
    Sort.NEWEST: lazy_gettext("Decide the %(count)s newest of those that match"),
    Sort.SCORE: lazy_gettext("Decide the %(count)s with the highest scores of those that match"),
    Sort.RATINGS: lazy_gettext("Decide the %(count)s with the most ratings of those that match"),
}
"""The heading, in each order of the queue, if more match than can be decided at once."""


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

    return decisions.decide(TickedRows(QUEUE, form, again), form.wanted_verb, form, review_page.PAGE)


@web.post("/second-look/decide")
@auth.needs(Permission.MODERATE)
def decide_looks() -> Response:
    """Confirm, overturn or claim the ticked rows. Each gets its own decision, which can be undone."""
    form = forms.posted(SecondLookBulkForm)

    def again(*, status: int, done: str | None = None) -> Response:
        return review_page.show_second_looks(form, status=status, done=done)

    return decisions.decide(
        TickedRows(SECOND_LOOKS, form, again), form.wanted_verb, form, review_page.SECOND_LOOK_PAGE
    )


class Again(Protocol):
    """Shows the list again, with the form as it was sent, and with what was done about some of the items."""

    def __call__(self, *, status: int, done: str | None = None) -> Response: ...


@dataclass(frozen=True)
class TickedRows:
    """The ticked rows of a list, each decided, claimed or assigned by itself; ``again`` shows those that failed."""

    row_list: RowList
    form: BulkForm
    again: Again

    def decide(self, session: Session, verb: ActionVerb | None, form: BulkForm) -> Done | None:
        actor, community_id = auth.current_actor(), auth.current_community().id
        decision_forms.compose_reason(session, actor, community_id, form)
        ids = [choice.id for choice in form.item.data[: form.most]]
        items = queue.items(session, actor, community_id, ids)
        actions = {item.action.id: item.action for item in items}
        hidden = {action.id for action in actions.values() if form.decides and veils.hides(action)}
        form.hidden_ticked = len(hidden)
        is_valid = form.validate()
        if not form.says_unseen:
            form.ask_about_hidden()
        if not is_valid or not form.says_unseen:
            return None
        # Named before anything is tried: what is undone again loses what was loaded with it.
        named = {id_: pending_undo.in_words(action, 60) for id_, action in actions.items()}
        seconds = holds.undo_seconds(session, actor, community_id) if form.decides else None
        tried = [
            _try(
                session,
                actions.get(choice.id),
                named.get(choice.id, _("a post")),
                choice,
                form,
                verb,
                seconds,
                is_wave_row=row_lists.shows_waves(self.row_list),
            )
            for choice in form.item.data
        ]
        failures = {
            choice.id: done
            for choice, done in zip(form.item.data, tried, strict=True)
            if isinstance(done, str)
        }
        count = sum(done for done in tried if isinstance(done, int))
        message = _message(session, form, count)
        if not failures:
            last = form.item.data[-1].id
            return Done(message, self.row_list.url() if form.matching.data else self.row_list.url_at(last))
        form.item.data = [choice for choice in form.item.data if choice.id in failures]
        form.hidden_ticked = len(hidden & failures.keys())
        form.form_errors.extend(failures.values())
        return Done(message if count else "")

    def show(self, part: str, form: BulkForm, status: int, alert: str | None, asked: object) -> Response:
        return self.again(status=status)

    def done(self, part: str, done: Done) -> Response:
        if done.url is None:
            return self.again(status=409, done=done.message or None)
        return page.done(None, done.url, done.message)


def _message(session: Session, form: BulkForm, count: int) -> str:
    """Say what was done: "3 posts are assigned to Sam."."""
    if form.decides:
        return form.words.done(count)
    if form.claims:
        return ngettext(
            "%(num)s post is yours for 10 minutes.", "%(num)s posts are yours for 10 minutes.", count
        )
    if form.assignee_id is None:
        return ngettext(
            "%(num)s post is assigned to nobody in particular.",
            "%(num)s posts are assigned to nobody in particular.",
            count,
        )
    names = assignments.colleagues(session, auth.current_actor(), auth.current_community().id)
    name = names.get(form.assignee_id) or _("a colleague")
    return sentence_end(
        ngettext(
            "%(num)s post is assigned to %(name)s", "%(num)s posts are assigned to %(name)s", count, name=name
        )
    )


def _try(
    session: Session,
    action: Action | None,
    named: str,
    choice: Choice,
    form: BulkForm,
    verb: ActionVerb | None,
    seconds: float | None,
    *,
    is_wave_row: bool,
) -> int | str:
    """Decide, claim or assign a row. Return how many posts that was, or why it was refused, as a sentence."""
    actor = auth.current_actor()
    try:
        with session.begin_nested():
            if action is None:
                raise NotFound("item")
            if form.claims:
                claims.claim(session, actor, action)
            elif form.assigns:
                assignee_id, version = form.assignee_id, choice.version
                assignments.assign(session, actor, action, assignee_id, reason=Reason(""), version=version)
            elif verb is not None:
                reason, act_as = Reason(form.reason.data or ""), form.words.act_as
                is_wave = is_wave_row and action.wave_id is not None
                decided = (waves.hold if is_wave else holds.hold)(
                    session,
                    actor,
                    verb,
                    action=action,
                    reason=reason,
                    act_as=act_as,
                    version=choice.version,
                    seconds=seconds,
                )
                return decided if isinstance(decided, int) else 1
        return 1
    except IllegalMove as refusal:
        why_not = _("it is %(state)s", state=state_phrase(refusal.current))
    except Invalid as refusal:
        problem = refusal.problems[0]
        why_not = str(problem.msg)
        if problem.loc[-1] == "reason":
            why_not = _("the reason %(problem)s", problem=why_not)
        elif form.assigns:
            why_not = _("the colleague %(problem)s", problem=why_not)
    except Refused as refusal:
        why_not = refusal.detail
    post = pending_undo.capitalised(named)
    if form.claims:
        return sentence_end(_("%(post)s was not claimed: %(why)s", post=post, why=why_not))
    if form.assigns:
        return sentence_end(_("%(post)s was not assigned: %(why)s", post=post, why=why_not))
    return sentence_end(_("%(post)s was not decided: %(why)s", post=post, why=why_not))


def _heading(count: int, cut_by: Sort | None, *, is_all: bool) -> str:
    """``cut_by`` is the queue's order if more match than these."""
    if cut_by is not None:
        return _(FIRSTS[cut_by], count=texts.number(count))
    if is_all:
        return ngettext("Decide the %(num)s that matches", "Decide all %(num)s that match", count)
    return ngettext("Decide %(num)s that matches", "Decide %(num)s that match", count)


def _show_matching(form: BulkForm, *, status: int = 200) -> Response:
    """Render the preview: of the items that it showed when it was sent, or at first of those that match now."""
    actor, community, filters = auth.current_actor(), auth.current_community(), QUEUE.filters()
    with wired().database.reading() as session:
        is_first = not form.shown.data and not form.item.data
        if is_first:
            found = claims.free(session, actor, community.id, filters, limit=limits.MATCHING_MAX + 1)
            form.shown.data = [Choice(action.id, action.version) for action in found[: limits.MATCHING_MAX]]
            form.item.data = form.shown.data if status == 200 else []
            form.cut.data = "1" if len(found) > limits.MATCHING_MAX else ""
        ids = [choice.id for choice in (form.shown.data or form.item.data)[: limits.MATCHING_MAX]]
        shown = queue.items(session, actor, community.id, ids)
        if is_first and status == 200:
            form.hidden_ticked = sum(veils.hides(item.action) for item in shown)
        rows = queue_rows.rows(session, shown, actor)
        reasons = decision_forms.reason_options(session, actor, community.id)
        may_lack = queue.queue(session, actor, community.id, filters, size=1).may_lack
    return page.render(
        "moderate/matching.html",
        status=status,
        form=form,
        rows=rows,
        ticked={choice.id for choice in form.item.data},
        count=len(ids),
        heading=_heading(len(ids), filters.sort if form.cut.data else None, is_all=not may_lack),
        searched=SEARCHED if may_lack else None,
        reasons=reasons,
        reasons_name=decision_forms.remembered_as(actor, community.id),
        buttons=verb_words.buttons_for_several(BulkForm.VERBS, len(form.item.data)),
        chosen=form.verb.data if form.wanted_verb else None,
        back_url=QUEUE.url(),
        **QUEUE.context(),
    )
