"""Second looks: actions that a score carried out without review, and actions under review again."""

from flask import Response, url_for

from app.core import clock
from app.core.permissions import Permission
from app.core.review import queue, second_looks
from app.core.review.second_looks import SecondLookPage
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.list_filters import SecondLookForm, page_number
from app.web.moderate import decisions, live_rows, moderation, queue_rows
from app.web.moderate.bulk import TickedRows
from app.web.moderate.forms import SecondLookBulkForm
from app.web.moderate.row_lists import SECOND_LOOKS
from app.wiring import wired

PAGE = "moderate/second_look.html"
PAGE_SIZE = 50


@web.get("/second-look")
@auth.needs(Permission.SEE_QUEUE)
def second_look() -> Response:
    return _show(SecondLookBulkForm())


@web.post("/second-look/decide")
@auth.needs(Permission.MODERATE)
def decide_looks() -> Response:
    """Confirm, overturn or claim the ticked rows. Each gets its own decision, which can be undone."""
    form = forms.posted(SecondLookBulkForm)

    def again(*, status: int, done: str | None = None) -> Response:
        return _show(form, status=status, done=done)

    return decisions.decide(TickedRows(SECOND_LOOKS, form, again), form.wanted_verb, form, PAGE)


@web.post("/second-look/next")
@auth.needs(Permission.MODERATE)
def next_look() -> Response:
    """Claim the next second look of the filtered list and open it."""
    return moderation.open_next(SECOND_LOOKS)


def _show(form: SecondLookBulkForm, *, status: int = 200, done: str | None = None) -> Response:
    filter_form = forms.queried(SecondLookForm)
    filters = filter_form.wanted()
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
            session, [items[id_] for id_ in found.ids if id_ in items], actor, ticked, SECOND_LOOKS
        )
        shared = live_rows.list_context(session, SECOND_LOOKS, form, filter_form, rows)
    return page.render(
        PAGE,
        status=422 if filter_form.errors and status == 200 else status,
        count=found.count,
        is_more=found.is_more,
        searched=second_looks.WALKED if found.may_lack else None,
        form=form,
        bulk_url=url_for("web.decide_looks"),
        matching_url=None,
        done=done,
        links=_links(number, found),
        **shared,
        **live_rows.context(SECOND_LOOKS, 0, now.isoformat()),
    )


def _links(number: int, found: SecondLookPage) -> page.PageLinks:
    first, last = (number - 1) * PAGE_SIZE + 1, (number - 1) * PAGE_SIZE + len(found.ids)
    return page.PageLinks(
        previous=SECOND_LOOKS.url(page=str(number - 1)) if number > 1 else None,
        next=SECOND_LOOKS.url(page=str(number + 1)) if last < found.count or found.is_more else None,
        summary=f"{first:,} to {last:,} of {'more than ' if found.is_more else ''}{found.count:,}",
    )
