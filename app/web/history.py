"""Action history: every change of every action, filtered by the address; the same as CSV."""

import csv
import io
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from flask import Response, stream_with_context

from app.core import clock, history
from app.core.history import ActionChange, HistoryFilter
from app.core.models import Action
from app.core.moves import moves_open_to
from app.core.permissions import Permission
from app.core.vocabulary import ActionState
from app.web import auth, forms, page
from app.web.blueprint import web
from app.web.moderator_forms import HistoryForm
from app.web.timeline import actor_name, cause_words
from app.web.view_models import HIDDEN, category_name, is_veiled
from app.wiring import wired

PAGE_SIZE = 50
COLUMNS = (
    "time",
    "action_id",
    "request_id",
    "action_type",
    "state",
    "state_now",
    "tier",
    "category",
    "score",
    "author",
    "actor_kind",
    "actor",
    "reason",
    "comment",
    "cause",
)


@web.get("/history")
@auth.needs(Permission.SEE_HISTORY)
def action_history() -> Response:
    form = forms.queried(HistoryForm)
    holds = forms.filled_in(form)
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        form.offer(history.categories(session, community.id))
        found = history.changes(
            session,
            actor,
            community.id,
            form.wanted() if holds else HistoryFilter(),
            size=PAGE_SIZE,
            older_than=_number("older"),
            newer_than=_number("newer"),
        )
        may_overturn = {
            change.action.id
            for change in found.rows
            if any(move.target is ActionState.OVERTURNED for move in moves_open_to(actor, change.action))
        }
    query = form.query()
    return page.render(
        "history.html",
        status=200 if holds else 422,
        filters=form,
        rows=found.rows,
        may_overturn=may_overturn,
        actor_name=actor_name,
        category_name=category_name,
        cause_words=cause_words,
        hidden=_hidden,
        links=page.PageLinks(
            previous=_address("/history", query, newer=found.newer),
            next=_address("/history", query, older=found.older),
            summary=f"{found.count:,} {'change' if found.count == 1 else 'changes'}",
        ),
        csv_url=_address("/history.csv", query, always=True),
        clear_url=_address("/history", {k: v for k, v in query.items() if k == "community"}, always=True),
        is_narrowed=any(name != "community" for name in query),
    )


@web.get("/history.csv")
@auth.needs(Permission.SEE_HISTORY)
def action_history_csv() -> Response:
    """The changes that the filters match, as a file: rows leave as they are read."""
    form = forms.queried(HistoryForm)
    if not forms.filled_in(form):
        return action_history()  # the page names the filter that cannot be read
    actor, community, wanted = auth.current_actor(), auth.current_community(), form.wanted()
    response = Response(
        stream_with_context(_lines(actor, community.id, wanted)),
        mimetype="text/csv",
    )
    name = f"action-history-{community.slug}-{clock.now():%Y-%m-%d}.csv"
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _hidden(action: Action) -> str:
    """What stands in place of a sensitive post, for readers who want to be warned; else empty."""
    return HIDDEN if is_veiled(action.category, warn=auth.current_reader().account.content_warnings) else ""


def _lines(actor: Any, community_id: Any, wanted: HistoryFilter) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    with wired().database.reading() as session:
        for change in history.export(session, actor, community_id, wanted):
            writer.writerow([_cell(value) for value in _values(change)])
            if buffer.tell() > 32_768:
                yield buffer.getvalue()
                buffer.seek(0)
                buffer.truncate()
    yield buffer.getvalue()


def _values(change: ActionChange) -> tuple[object, ...]:
    action, entry, text = change.action, change.entry, change.text
    return (
        clock.iso(entry.at),
        action.id,
        change.request.request_id,
        action.action_type.value,
        change.state,
        action.action_state.value,
        action.action_tier.value if action.action_tier else "",
        action.category or "",
        "" if action.score is None else f"{action.score:.4f}",
        change.request.platform_author_id or "",
        entry.actor_kind,
        actor_name(text),
        text.reason,
        text.comment,
        entry.cause,
    )


def _cell(value: object) -> str:
    """A cell that no spreadsheet takes for a formula (RELIABILITY: section 2, CSV; OWASP CSV Injection)."""
    text = str(value)
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "\0")) else text


def _number(name: str) -> int | None:
    raw = forms.from_address(name)
    return int(raw) if raw.isascii() and raw.isdigit() and len(raw) <= 15 else None


def _address(path: str, query: dict[str, str], *, always: bool = False, **more: int | None) -> str | None:
    given = {name: str(value) for name, value in more.items() if value is not None}
    if not given and not always:
        return None
    whole = {**query, **given}
    return f"{path}?{urlencode(whole)}" if whole else path
