"""The moderators' lists: the review queue with saved filters, and the second looks.

Second looks are actions that a score carried out without review, and actions under review again. ``bulk`` decides
several rows of a list.
"""

import uuid

from flask import Response, url_for

from app.core import clock
from app.core.communities import getting_started
from app.core.errors import Invalid
from app.core.ids import parse_id
from app.core.people import dashboard
from app.core.permissions import Permission
from app.core.review import assignments, post_search, queue, saved_filters, second_looks
from app.core.review.queue import QueuePage
from app.core.review.queue_filters import SEARCHED
from app.core.review.second_looks import SecondLookPage
from app.core.texts import gettext as _
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.filter_forms import encoded
from app.web.list_filters import QueueForm, SecondLookForm, page_number
from app.web.moderate import desk, live_rows, moderation, queue_rows, row_lists
from app.web.moderate import saved_filters as filter_links
from app.web.moderate.forms import BulkForm, QueueSettingsForm, SaveFilterForm, SecondLookBulkForm
from app.web.moderate.row_lists import QUEUE, SECOND_LOOKS
from app.wiring import wired

PAGE = "moderate/review.html"
SECOND_LOOK_PAGE = "moderate/second_look.html"
PAGE_SIZE = 50


@web.get("/review")
@auth.needs(Permission.SEE_QUEUE)
def review() -> Response:
    return show(BulkForm())


@web.post("/review/next")
@auth.needs(Permission.MODERATE)
def review_next() -> Response:
    """Claim the next item of the filtered queue and open it."""
    return moderation.open_next(QUEUE)


@web.post("/review/rows")
@auth.needs(Permission.SEE_QUEUE)
def choose_row_height() -> Response:
    """Remember how high rows are, for every list of this person."""
    roomy = forms.posted_values("roomy") == ["1"]
    with wired().database.writing() as session:
        dashboard.choose_row_height(session, auth.current_reader().account.id, roomy=roomy)
    words = _("Rows show two lines of a post.") if roomy else _("Rows show one line of a post.")
    return page.done(None, (row_lists.sent_from() or QUEUE).url(), words)


@web.post("/review/filters")
@auth.needs(Permission.SEE_QUEUE)
def save_filter() -> Response:
    form = forms.posted(SaveFilterForm)
    if not form.validate():
        return show(BulkForm(), status=422, saving=form)
    query = filter_links.wanted(forms.queried(QueueForm).query())
    try:
        with wired().database.writing() as session:
            kept = saved_filters.save(
                session,
                auth.current_actor(),
                auth.current_community().id,
                form.name.data or "",
                query,
                shared=bool(form.shared.data),
            )
    except Invalid as refusal:
        forms.explain(form, refusal)
        return show(BulkForm(), status=422, saving=form)
    message = (
        _("Filter “%(name)s” is saved. All moderators see it.", name=kept.name)
        if kept.shared
        else _("Filter “%(name)s” is saved. Only you see it.", name=kept.name)
    )
    return page.done(None, QUEUE.url(), message)


@web.post("/review/filters/<uuid:filter_id>/queue")
def make_queue(filter_id: uuid.UUID) -> Response:
    """Make a shared filter a queue, change it, or (without a position) make it an ordinary filter again."""
    form = forms.posted(QueueSettingsForm)
    if not form.validate():
        return show(BulkForm(), status=422, queueing=form)
    try:
        with wired().database.writing() as session:
            kept = saved_filters.make_queue(
                session, auth.current_actor(), filter_id, form.wanted_position, form.member.data
            )
    except Invalid as refusal:
        forms.explain(form, refusal, {"members": "member"})
        return show(BulkForm(), status=422, queueing=form)
    message = (
        _("Queue “%(name)s” is saved.", name=kept.name)
        if kept.position
        else _("“%(name)s” is a filter again.", name=kept.name)
    )
    return page.done(None, QUEUE.url(), message)


@web.post("/review/filters/<uuid:filter_id>/delete")
def delete_filter(filter_id: uuid.UUID) -> Response:
    """Delete a saved filter; the list keeps its current filters."""
    with wired().database.writing() as session:
        kept = saved_filters.delete(session, auth.current_actor(), filter_id)
    return page.done(None, QUEUE.url(), _("Filter “%(name)s” is deleted.", name=kept.name))


def show(
    form: BulkForm,
    *,
    status: int = 200,
    done: str | None = None,
    saving: SaveFilterForm | None = None,
    queueing: QueueSettingsForm | None = None,
) -> Response:
    filter_form = forms.queried(QueueForm)
    filters = filter_form.wanted()
    actor, community = auth.current_actor(), auth.current_community()
    ticked = frozenset(choice.id for choice in form.item.data)
    now = clock.now()
    with wired().database.reading() as session:
        listed = queue.queue(
            session,
            actor,
            community.id,
            filters,
            size=PAGE_SIZE,
            after=parse_id(forms.query_arg("after")),
            before=parse_id(forms.query_arg("before")),
        )
        colleagues = assignments.colleagues(session, actor, community.id)
        form.offer_colleagues(colleagues)
        filter_form.offer(
            queue.categories(session, community.id), post_search.languages(session, community.id), colleagues
        )
        rows = queue_rows.rows(session, listed.items, actor, ticked)
        shared = live_rows.list_context(session, QUEUE, form, filter_form, rows)
        lacks_key = not listed.count and not getting_started.has_key(session, community.id)
        quiet = {}
        if not listed.count and not filter_form.is_narrowed:
            quiet = desk.while_empty(session, actor, community)
        saved = filter_links.context(session, actor, community.id, filter_form.query(), saving, queueing)
    return page.render(
        PAGE,
        status=422 if filter_form.errors and status == 200 else status,
        count=listed.count,
        posts=listed.posts,
        searched=SEARCHED if listed.may_lack else None,
        form=saving or queueing or form,
        colleagues=colleagues,
        bulk_url=url_for("web.decide_selected"),
        # Deciding all items of the filtered queue at once.
        matching_url=f"{url_for('web.matching')}?{encoded(QUEUE.query())}" if listed.count > 1 else None,
        done=done,
        lacks_key=lacks_key,
        links=_links(listed),
        **saved,
        **quiet,
        **shared,
        **live_rows.context(QUEUE, 0, now.isoformat()),
    )


def _links(listed: QueuePage) -> page.PageLinks:
    items = listed.items
    return page.PageLinks(
        previous=QUEUE.url(before=str(items[0].action.id)) if listed.first > 1 else None,
        next=QUEUE.url(after=str(items[-1].action.id)) if items and listed.last < listed.count else None,
        summary=row_lists.span_words(listed.first, listed.last, listed.count),
    )


@web.get("/second-look")
@auth.needs(Permission.SEE_QUEUE)
def second_look() -> Response:
    return show_second_looks(SecondLookBulkForm())


@web.post("/second-look/next")
@auth.needs(Permission.MODERATE)
def next_look() -> Response:
    return moderation.open_next(SECOND_LOOKS)


def show_second_looks(form: SecondLookBulkForm, *, status: int = 200, done: str | None = None) -> Response:
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
        items = queue.items(session, actor, community.id, found.ids)
        rows = queue_rows.rows(session, items, actor, ticked, SECOND_LOOKS)
        shared = live_rows.list_context(session, SECOND_LOOKS, form, filter_form, rows)
    return page.render(
        SECOND_LOOK_PAGE,
        status=422 if filter_form.errors and status == 200 else status,
        count=found.count,
        posts=found.count,
        is_more=found.is_more,
        searched=second_looks.WALKED if found.may_lack else None,
        form=form,
        bulk_url=url_for("web.decide_looks"),
        matching_url=None,
        done=done,
        links=_second_look_links(number, found),
        **shared,
        **live_rows.context(SECOND_LOOKS, 0, now.isoformat()),
    )


def _second_look_links(number: int, found: SecondLookPage) -> page.PageLinks:
    first, last = (number - 1) * PAGE_SIZE + 1, (number - 1) * PAGE_SIZE + len(found.ids)
    return page.PageLinks(
        previous=SECOND_LOOKS.url(page=str(number - 1)) if number > 1 else None,
        next=SECOND_LOOKS.url(page=str(number + 1)) if last < found.count or found.is_more else None,
        summary=row_lists.span_words(first, last, found.count, is_more=found.is_more),
    )
