"""Rows that change in place: the answer to the poll of a list, and the rows whose decisions were carried out."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from flask import Response, make_response, request, url_for
from sqlalchemy.orm import Session

from app.core.permissions import Permission
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.web import auth, community_choice, filter_forms, forms, page
from app.web.blueprint import web
from app.web.filter_forms import encoded
from app.web.item import decision_forms, pending_undo, verb_words
from app.web.list_filters import QueueForm, SecondLookForm
from app.web.moderate import notices, open_counts, queue_rows
from app.web.moderate.forms import BulkForm
from app.web.moderate.queue_rows import QueueRow
from app.web.moderate.row_lists import QUEUE, SECOND_LOOKS, RowList
from app.wiring import wired

PART = "moderate/_queue_live.html"
SETTLED = "moderate/_queue_settled.html"
SHOWN_NEW = 99


@web.get("/review/new-count", endpoint="new_count")
@web.get("/second-look/new-count", endpoint="new_looks")
@auth.passive
@auth.needs(Permission.SEE_QUEUE)
def new_rows() -> Response:
    """Return what changed since the page was rendered: new items, rows on the page, and the numbers of waiting items
    and notices.

    The page sends what it shows: ``shown`` new items, ``waiting`` items in all, unread ``notices``, and ``rows``. 204
    if all is the same.
    """
    row_list = _asked()
    since = forms.query_arg("since")
    try:
        moment = datetime.fromisoformat(since)
        if moment.tzinfo is None:
            return make_response("", 204)
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return make_response("", 204)
    actor, community = auth.current_actor(), auth.current_community()
    shown_rows = queue_rows.shown_rows(forms.query_arg("rows"))
    with wired().database.reading() as session:
        count = row_list.newer(session, actor, community.id, moment, row_list.filters())
        rows = queue_rows.rows_by_id(session, actor, community.id, list(shown_rows), row_list)
        rows = [row for row in rows if row.live != shown_rows[row.id]]
        open_counts.read(session, community)
        is_same = str(count) == (forms.query_arg("shown") or "0")
        is_same &= forms.query_arg("notices") in ("", str(notices.unread_count()))
        if is_same and not rows and open_counts.waiting(row_list.view) == forms.query_arg("waiting"):
            return make_response("", 204)
        lead = _lead(session, row_list)
    return page.render(PART, PART, rows=rows, **row_list.context(), **context(row_list, count, since), **lead)


@web.get("/review/settled", endpoint="settled")
@web.get("/second-look/settled", endpoint="settled_looks")
@auth.passive
@auth.needs(Permission.SEE_QUEUE)
def settled() -> Response:
    """Return rows whose time to undo is over, the undo bar and the counts, rendered again.

    204 while a decision on one of them is still held: the job that carries it out may run a little late.
    """
    row_list = _asked()
    ids = [choice.id for choice in forms.queried(BulkForm).item.data]
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        rows = queue_rows.rows_by_id(session, actor, community.id, ids, row_list)
        if any(row.held is not None for row in rows):
            return Response(status=204)
        pending = pending_undo.undoable(session, actor, community.id)
        open_counts.read(session, community)
        lead = _lead(session, row_list)
    counts = open_counts.context(community)
    waiting = open_counts.waiting(row_list.view)
    return page.render(
        SETTLED, SETTLED, rows=rows, pending=pending, waiting=waiting, **row_list.context(), **counts, **lead
    )


def _lead(session: Session, row_list: RowList) -> dict[str, Any]:
    """Template variables of the sentence below the heading, which follows while rows are decided."""
    actor, community_id = auth.current_actor(), auth.current_community().id
    count, posts, is_more = row_list.count(session, actor, community_id, row_list.filters())
    is_narrowed = forms.queried(row_list.form).is_narrowed
    return {"count": count, "posts": posts, "is_more": is_more, "is_narrowed": is_narrowed}


def _asked() -> RowList:
    return SECOND_LOOKS if request.endpoint in (SECOND_LOOKS.poll_view, SECOND_LOOKS.settled_view) else QUEUE


def list_context(
    session: Session,
    row_list: RowList,
    form: BulkForm,
    filters: QueueForm | SecondLookForm,
    rows: Sequence[QueueRow],
) -> dict[str, Any]:
    """Template variables of the whole page of a list: its rows, filters, decisions in bulk and what can be undone."""
    actor, community_id = auth.current_actor(), auth.current_community().id
    return {
        "rows": rows,
        "filters": filters,
        "is_narrowed": filters.is_narrowed,
        "chips": filter_forms.chips(filters, url_for(row_list.view)),
        "clear_url": url_for(row_list.view, **community_choice.carried()),
        "bulk": form,
        "bulk_buttons": verb_words.buttons_for_several(form.VERBS),
        "bulk_chosen": form.verb.data if form.wanted_verb or form.assigns else None,
        "reasons": decision_forms.reason_options(session, actor, community_id) if rows else [],
        "reasons_name": decision_forms.remembered_as(actor, community_id),
        "pending": pending_undo.undoable(session, actor, community_id),
        **row_list.context(),
    }


def context(row_list: RowList, count: int, since: str) -> dict[str, Any]:
    """Template variables of the line that tells of new items, and of the numbers that change with it."""
    counts = open_counts.context(auth.current_community())
    waiting = open_counts.waiting(row_list.view)
    unread = notices.unread_count()
    query = {
        **row_list.query(),
        "since": since,
        "shown": str(count),
        "waiting": waiting,
        "notices": str(unread),
    }
    return {
        **counts,
        "waiting": waiting,
        "unread": unread,
        "new": count,
        "new_words": _("%(most)s+ new items", most=SHOWN_NEW)
        if count > SHOWN_NEW
        else ngettext("%(num)s new item", "%(num)s new items", count),
        "new_url": f"{url_for(row_list.poll_view)}?{encoded(query)}",
        "show_url": row_list.url(),
    }
