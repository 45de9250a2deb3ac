"""Second looks: actions that a score carried out without review, and actions under review again."""

from flask import Response, make_response, redirect, url_for

from app.core import clock
from app.core.permissions import Permission
from app.core.review import queue, second_looks
from app.core.review.second_looks import LookFilter, LookPage
from app.web import auth, community_choice, forms, page
from app.web.blueprint import web
from app.web.filter_forms import encoded
from app.web.moderate import (
    decisions,
    live_rows,
    moderation,
    pending_undo,
    queue_rows,
    reason_choice,
    verb_buttons,
)
from app.web.moderate.bulk import TickedRows
from app.web.moderate.filters import LookForm, page_number
from app.web.moderate.forms import LookBulkForm
from app.web.moderate.row_lists import LOOKS
from app.wiring import wired

PAGE = "moderate/second_look.html"
PAGE_SIZE = 50


@web.get("/second-look")
@auth.needs(Permission.SEE_QUEUE)
def second_look() -> Response:
    return _show(LookBulkForm())


@web.post("/second-look/decide")
@auth.needs(Permission.MODERATE)
def decide_looks() -> Response:
    """Confirm, overturn or claim the ticked rows. Each gets its own decision, which can be undone."""
    form = forms.posted(LookBulkForm)

    def again(*, status: int, done: str | None = None) -> Response:
        return _show(form, status=status, done=done)

    return decisions.decide(TickedRows(LOOKS, form, again), form.wanted_verb, form, PAGE)


@web.post("/second-look/next")
@auth.needs(Permission.MODERATE)
def next_look() -> Response:
    """Claim the next second look of the filtered list and open it; release the one the moderator comes from."""
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.writing() as session:
        after = moderation.release_left(session, actor)
        wanted = moderation.wanted_looks()
        action = second_looks.claim_next(session, actor, community.id, wanted, after=after)
    if action is None:
        return page.done(None, LOOKS.url(), "Nothing else waits here that you could claim.")
    query = encoded({**LOOKS.query(), **LOOKS.origin, "next": "1"})
    return make_response(redirect(f"{url_for('web.item', action_id=action.id)}?{query}", 303))


def _show(form: LookBulkForm, *, status: int = 200, done: str | None = None) -> Response:
    filter_form = forms.queried(LookForm)
    filters = filter_form.wanted() if filter_form.validate() else LookFilter()
    actor, community = auth.current_actor(), auth.current_community()
    number = page_number(forms.query_arg("page"))
    ticked = frozenset(choice.id for choice in form.item.data)
    now = clock.now()
    with wired().database.reading() as session:
        while True:
            offset = (number - 1) * PAGE_SIZE
            found = second_looks.waiting(
                session, actor, community.id, filters, limit=PAGE_SIZE, offset=offset
            )
            if found.ids or not found.count:
                break
            number = -(-found.count // PAGE_SIZE)
        filter_form.offer(second_looks.categories(session, community.id))
        items = {item.action.id: item for item in queue.items(session, actor, community.id, found.ids)}
        rows = queue_rows.rows(
            session, [items[id_] for id_ in found.ids if id_ in items], actor, ticked, LOOKS
        )
        pending = pending_undo.undoable(session, actor, community.id)
        reasons = reason_choice.options(session, actor, community.id) if rows else []
    return page.render(
        PAGE,
        status=422 if filter_form.errors and status == 200 else status,
        rows=rows,
        count=found.count,
        is_more=found.is_more,
        searched=second_looks.WALKED if found.may_lack else None,
        filters=filter_form,
        is_narrowed=filter_form.is_narrowed,
        clear_url=url_for("web.second_look", **community_choice.carried()),
        form=form,
        bulk=form,
        bulk_buttons=verb_buttons.for_several(LookBulkForm.VERBS),
        bulk_chosen=form.verb.data if form.wanted_verb else None,
        bulk_url=url_for("web.decide_looks"),
        matching_url=None,
        reasons=reasons,
        reasons_name=reason_choice.remembered_as(actor, community.id),
        done=done,
        pending=pending,
        links=_links(number, found),
        **live_rows.context(LOOKS, 0, now.isoformat()),
        **LOOKS.context(),
    )


def _links(number: int, found: LookPage) -> page.PageLinks:
    first, last = (number - 1) * PAGE_SIZE + 1, (number - 1) * PAGE_SIZE + len(found.ids)
    return page.PageLinks(
        previous=LOOKS.url(page=str(number - 1)) if number > 1 else None,
        next=LOOKS.url(page=str(number + 1)) if last < found.count or found.is_more else None,
        summary=f"{first:,} to {last:,} of {'more than ' if found.is_more else ''}{found.count:,}",
    )
