"""Action history page: all changes of actions, with filters in the URL, and the same as CSV."""

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from flask import Response, url_for

from app.core import clock, texts
from app.core.history.pages import HistoryPage
from app.core.models import Action
from app.core.permissions import Actor, Permission, allows
from app.core.review import action_history, post_search, reopening
from app.core.review.action_history import ActionChange
from app.core.review.history_filters import HistoryFilter
from app.core.review.holds import verbs_open_to
from app.core.texts import gettext as _
from app.core.texts import ngettext
from app.core.vocabulary import ActionVerb
from app.process.replica_reads import may_be_old
from app.web import auth, csv_files, filter_forms, filters, forms, page
from app.web.blueprint import web
from app.web.categories import HIDDEN, category_name
from app.web.filter_forms import FilterForm, Query, encoded, with_query
from app.web.item.timeline import (
    actor_name,
    cause_words,
    filed_words,
    reason_words,
    sentence_of,
    why_words,
)
from app.web.item.verb_words import NAMES
from app.web.item.views import blind_item
from app.web.list_filters import TYPES, HistoryForm
from app.web.moderate import row_names
from app.web.moderate.row_names import RowName
from app.web.veils import is_veiled
from app.wiring import wired

PAGE_SIZE = 50
CELLS: Mapping[str, Callable[[ActionChange], object]] = {
    "time": lambda change: clock.iso(change.entry.at),
    "action_id": lambda change: change.action.id,
    "request_id": lambda change: change.request.request_id,
    "action_type": lambda change: change.action.action_type.value,
    "state": lambda change: change.state,
    "state_now": lambda change: change.action.action_state.value,
    "tier": lambda change: change.action.action_tier.value if change.action.action_tier else "",
    "category": lambda change: change.action.category or "",
    "score": lambda change: "" if change.action.score is None else f"{change.action.score:.4f}",
    "author": lambda change: change.request.platform_author_id or "",
    "actor_kind": lambda change: change.entry.actor_kind,
    "actor": lambda change: actor_name(change.text),
    "reason": lambda change: change.text.reason,
    "comment": lambda change: change.text.comment,
    "cause": lambda change: change.entry.cause,
    "policy": lambda change: change.action.filed_under or "",
    "entry": lambda change: change.entry.number,
    "entry_id": lambda change: change.entry.id,
    "event": lambda change: change.entry.what,
    "verb": lambda change: change.verb,
    "undo_state": lambda change: change.entry.after.get("undo_state", ""),
    "until": lambda change: change.entry.after.get("until") or "",
}
"""The columns of the CSV file."""


@web.get("/history")
@auth.needs(Permission.SEE_HISTORY)
@may_be_old
def history_page() -> Response:
    form = forms.queried(HistoryForm)
    actor, community, wanted = auth.current_actor(), auth.current_community(), form.wanted()
    with wired().database.reading() as session:
        form.offer(
            action_history.categories(session, community.id), post_search.languages(session, community.id)
        )
        found = action_history.changes(
            session,
            actor,
            community.id,
            wanted,
            size=PAGE_SIZE,
            older_than=number_from("older"),
            newer_than=number_from("newer"),
        )
        may_overturn = {
            change.action.id
            for change in found.rows
            if ActionVerb.OVERTURN in verbs_open_to(actor, change.action)
        }
        may_reopen = {
            change.action.id
            for change in found.rows
            if reopening.is_offered(actor, change.action, change.request)
        }
    path, query = url_for("web.history_page"), form.query()
    return page.render(
        "history/history.html",
        status=422 if form.errors else 200,
        rows=found.rows,
        names=_names(found.rows),
        may_overturn=may_overturn,
        may_reopen=may_reopen,
        verbs=NAMES,
        actor_name=actor_name,
        type_words=type_words,
        why_words=why_words,
        hidden=_hidden,
        is_more_than_period=bool(query.keys() - {"community", "from", "to"}),
        csv_url=list_url(url_for("web.history_csv"), query, always=True),
        **list_context(form, found, path, actor, community.id),
    )


def list_context(
    form: FilterForm, found: HistoryPage[Any], path: str, actor: Actor, community_id: uuid.UUID
) -> dict[str, Any]:
    """Template variables of both histories: filters, tabs, and links to the pages of the list at this path."""
    query = form.query()
    return {
        "filters": form,
        "chips": filter_forms.chips(form, path),
        "kinds": tabs(actor, community_id, path, query),
        "links": page.PageLinks(
            previous=list_url(path, query, newer=found.newer),
            next=list_url(path, query, older=found.older),
            summary=_("More than %(count)s changes", count=texts.number(found.count))
            if found.is_more
            else ngettext("%(num)s change", "%(num)s changes", found.count),
        ),
        "query": f"?{encoded(query)}" if query else "",
        "clear_url": list_url(path, {k: v for k, v in query.items() if k == "community"}, always=True),
        "is_narrowed": form.is_narrowed,
    }


@web.get("/history/<uuid:entry_id>")
def history_entry(entry_id: uuid.UUID) -> Response:
    """Show one entry in full, with the hashes that prove it was not altered."""
    actor = auth.current_actor()
    with wired().database.reading() as session:
        change = action_history.change(session, actor, entry_id)
        may_reopen = change.is_latest and (
            reopening.is_offered(actor, change.action, change.request)
            and reopening.refusal(session, change.action, change.request) is None
        )
        auth.enter(change.entry.community_id)
        auth.require(Permission.SEE_HISTORY, change.entry.community_id)
    action, entry = change.action, change.entry
    query = forms.queried(HistoryForm).query()
    return page.render(
        "history/history_entry.html",
        change=change,
        type_words=type_words,
        what=filed_words(entry)
        if entry.what == "action.filed"
        else sentence_of(entry, restores=action.restores_id is not None),
        actor=actor_name(change.text),
        by_service=entry.actor_kind == "system",
        cause=cause_words(entry.cause),
        reason=reason_words(entry, change.text),
        before=entry.before.get("action_state"),
        policy=category_name(action.filed_under),
        scored_as=category_name(action.category),
        item=blind_item(action, url_for("web.history_entry", entry_id=entry_id)),
        may_reopen=may_reopen,
        may_overturn=change.is_latest and ActionVerb.OVERTURN in verbs_open_to(actor, action),
        back_url=list_url(url_for("web.history_page"), query, always=True),
        author_url=list_url(
            url_for("web.history_page"), {"author": change.request.platform_author_id or ""}, always=True
        ),
    )


@web.get("/history.csv")
@auth.needs(Permission.SEE_HISTORY)
@may_be_old
def history_csv() -> Response:
    form = forms.queried(HistoryForm)
    actor, community, wanted = auth.current_actor(), auth.current_community(), form.wanted()
    if form.errors:
        return history_page()  # the page shows which filter is invalid
    name = f"action-history-{community.slug}-{clock.now():%Y-%m-%d}.csv"
    return csv_files.attachment(_lines(actor, community.id, wanted), name)


def tabs(
    actor: Actor, community_id: uuid.UUID, path: str, query: Query
) -> list[tuple[str, str | None, bool]]:
    """Return the tabs of the two histories: label, URL, whether it is the current one. Keeps the filters both have.

    Empty if the reader may not see the settings.
    """
    if not allows(actor, Permission.SEE_SETTINGS, community_id):
        return []
    shared = {name: text for name, text in query.items() if name in ("community", "actor", "from", "to")}
    return [
        (words, list_url(one, shared, always=True), one == path)
        for words, one in (
            (_("Actions"), url_for("web.history_page")),
            (_("Settings"), url_for("web.setting_history_page")),
        )
    ]


def type_words(action: Action) -> str:
    """Return the type of an action, with its tier if it has one: "Hide, Tier 1"."""
    if action.action_tier is None:
        return str(TYPES[action.action_type])
    return _("%(type)s, Tier %(tier)s", type=TYPES[action.action_type], tier=action.action_tier.number)


def _names(rows: Sequence[ActionChange]) -> list[tuple[str, str]]:
    """Return for each row what distinguishes its link, and its button to overturn or reopen, from those of others."""
    links, buttons = [], []
    for row in rows:
        post = filters.excerpt(_hidden(row.action) or row.request.content, 40)
        why = why_words(row.entry, row.text)
        author = row.request.platform_author_id
        facts = (
            texts.in_sentence(filters.state_word(row.kind)),
            _("by %(author)s", author=author) if author else "",
            filters.full_time(row.entry.at),
        )
        links.append(RowName(f"{filters.excerpt(why)}: {post}", facts, row.entry.id))
        if row.is_latest:
            buttons.append(RowName(post, facts[1:], row.action.id))
    of_button = iter(row_names.distinguish(buttons))
    return [
        (link, next(of_button) if row.is_latest else "")
        for row, link in zip(rows, row_names.distinguish(links), strict=True)
    ]


def _hidden(action: Action) -> str:
    """Return the text shown instead of a sensitive post, for readers who want a warning; else empty."""
    return HIDDEN if is_veiled(action.category) else ""


def _lines(actor: Actor, community_id: uuid.UUID, wanted: HistoryFilter) -> Iterator[Sequence[object]]:
    yield tuple(CELLS)
    with wired().database.reading() as session:
        for change in action_history.export(session, actor, community_id, wanted):
            yield [cell(change) for cell in CELLS.values()]


def number_from(name: str) -> int | None:
    """Return an entry's number from the URL, or None."""
    return forms.number(forms.query_arg(name), digits=15)


def list_url(path: str, query: Query, *, always: bool = False, **more: int | None) -> str | None:
    """Return the path with the filters and ``more``; None if ``more`` has no values, unless ``always``."""
    args = {name: str(value) for name, value in more.items() if value is not None}
    if not args and not always:
        return None
    return with_query(path, {**query, **args})
