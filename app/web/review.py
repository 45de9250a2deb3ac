"""The review queue: the list, what came since, the next item, and dismissing several at once."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from flask import Response, make_response, redirect
from sqlalchemy.orm import Session

from app.core import actions, clock, holds, review_queue
from app.core.errors import IllegalMove, NotFound, Refused
from app.core.ids import parse_id
from app.core.permissions import Permission
from app.core.review_queue import QueueFilter
from app.core.vocabulary import HeldVerb
from app.web import auth, forms, moderation, moderator_panel, page, queue_rows
from app.web.blueprint import web
from app.web.filters import state_word
from app.web.moderator_forms import BulkForm, Choice, QueueForm, page_number
from app.wiring import wired

PAGE_SIZE = 50
SHOWN_NEW = 99


@dataclass(frozen=True)
class Failure:
    """An item that was not dismissed, and why."""

    id: uuid.UUID
    text: str
    why: str


@web.get("/review")
@auth.needs(Permission.SEE_QUEUE)
def review() -> Response:
    return _show(BulkForm())


@web.get("/review/new-count")
@auth.passive
@auth.needs(Permission.SEE_QUEUE)
def new_count() -> Response:
    """How many items came since the page was made; 204 while that is what the page says already."""
    since, shown = forms.from_address("since"), forms.from_address("shown")
    try:
        moment = datetime.fromisoformat(since)
    except ValueError:
        return make_response("", 204)
    if moment.tzinfo is None:
        return make_response("", 204)
    with wired().database.reading() as session:
        count = review_queue.newer_than(
            session, auth.current_actor(), auth.current_community().id, moment, moderation.wanted_queue()
        )
    if str(count) == (shown or "0"):
        return make_response("", 204)
    return page.render("_queue_new.html", "_queue_new.html", **_new(count, since))


@web.get("/review/settled")
@auth.passive
@auth.needs(Permission.SEE_QUEUE)
def settled() -> Response:
    """What became of rows whose time to undo is over: the undo bar, and with it those rows again.

    204 while one of them is still held: the job that carries it out may be a little late.
    """
    ids = [choice.id for choice in forms.queried(BulkForm).item.data]
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.reading() as session:
        items = review_queue.items(session, actor, community.id, ids)
        if any(item.action.held is not None for item in items):
            return Response(status=204)
        rows = [queue_rows.of(item, actor) for item in items]
        pending = moderator_panel.pending_undo(session, actor, community.id)
    return page.render(
        "_queue_settled.html", "_queue_settled.html", rows=rows, **queue_rows.context(), pending=pending
    )


@web.post("/review/next")
@auth.needs(Permission.MODERATE)
def review_next() -> Response:
    """Claim the next item of the filtered queue and open it; the item one comes from is let go."""
    actor, community = auth.current_actor(), auth.current_community()
    with wired().database.writing() as session:
        after = None
        left = parse_id(forms.from_address("after"))
        if left is not None:
            try:
                after = actions.get(session, actor, left)
                review_queue.release(session, actor, after)
            except NotFound:
                after = None
        action = review_queue.claim_next(session, actor, community.id, moderation.wanted_queue(), after=after)
    if action is None:
        return page.done(None, moderation.queue_url(), "Nothing else waits here that you could claim.")
    return make_response(redirect(moderation.item_url(action.id, next="1"), 303))


@web.post("/review/dismiss")
@auth.needs(Permission.MODERATE)
def dismiss_selected() -> Response:
    """Dismiss the ticked rows for one reason: a decision each, each of which can be undone."""
    form = forms.posted(BulkForm)
    if not forms.filled_in(form):
        return _show(form, status=422)
    with wired().database.writing() as session:
        tried = [_dismiss(session, choice, form.reason.data or "") for choice in form.item.data]
    failures = [failure for failure in tried if failure is not None]
    done = len(tried) - len(failures)
    message = f"{done} {'item' if done == 1 else 'items'} will be dismissed."
    if not failures:
        return page.done(None, moderation.queue_url(), message)
    failed = {failure.id for failure in failures}
    form.item.data = [choice for choice in form.item.data if choice.id in failed]
    for failure in failures:
        form.form_errors.append(
            f"{failure.text[:1].upper()}{failure.text[1:]} was not dismissed: {failure.why}."
        )
    return _show(form, status=409, done=message if done else None)


def _dismiss(session: Session, choice: Choice, reason: str) -> Failure | None:
    text = "an item"
    try:
        with session.begin_nested():
            action = actions.with_content(session, auth.current_actor(), choice.id)
            if action.community_id != auth.current_community().id:
                raise NotFound("item")
            text = moderator_panel.in_words(action, 60)
            holds.hold(
                session,
                auth.current_actor(),
                HeldVerb.DISMISS,
                action=action,
                reason=reason,
                version=choice.version,
                seconds=wired().settings.undo_seconds,
            )
    except IllegalMove as refusal:
        return Failure(choice.id, text, f"it is now {state_word(refusal.current).lower()}")
    except Refused as refusal:
        return Failure(choice.id, text, refusal.detail)
    return None


def _show(form: BulkForm, *, status: int = 200, done: str | None = None) -> Response:
    asked = forms.queried(QueueForm)
    wanted = asked.wanted() if asked.validate() else QueueFilter()
    actor, community = auth.current_actor(), auth.current_community()
    ticked = frozenset(choice.id for choice in form.item.data)
    number = page_number(forms.from_address("page"))
    now = clock.now()
    with wired().database.reading() as session:
        items, count = review_queue.queue(
            session, actor, community.id, wanted, limit=PAGE_SIZE, offset=(number - 1) * PAGE_SIZE
        )
        if not items and number > 1:
            number = max(1, -(-count // PAGE_SIZE))
            items, count = review_queue.queue(
                session, actor, community.id, wanted, limit=PAGE_SIZE, offset=(number - 1) * PAGE_SIZE
            )
        asked.offer(review_queue.categories(session, community.id))
        pending = moderator_panel.pending_undo(session, actor, community.id)
    return page.render(
        "review.html",
        status=422 if asked.errors and status == 200 else status,
        rows=[queue_rows.of(item, actor, ticked) for item in items],
        count=count,
        filters=asked,
        is_narrowed=asked.is_narrowed,
        clear_url=moderation.cleared_queue_url(),
        form=form,
        done=done,
        pending=pending,
        links=_links(number, count),
        **_new(0, now.isoformat()),
        **queue_rows.context(),
    )


def _new(count: int, since: str) -> dict[str, Any]:
    query = forms.queried(QueueForm).query()
    return {
        "new": count,
        "new_words": f"{min(count, SHOWN_NEW)}{'+' if count > SHOWN_NEW else ''} new "
        f"{'item' if count == 1 else 'items'}",
        "new_url": "/review/new-count?" + urlencode({**query, "since": since, "shown": str(count)}),
        "show_url": moderation.queue_url(),
    }


def _links(number: int, count: int) -> page.PageLinks:
    def address(page_wanted: int) -> str:
        query = {**forms.queried(QueueForm).query(), "page": str(page_wanted)}
        return f"/review?{urlencode(query)}"

    first, last = (number - 1) * PAGE_SIZE + 1, min(count, number * PAGE_SIZE)
    return page.PageLinks(
        previous=address(number - 1) if number > 1 else None,
        next=address(number + 1) if last < count else None,
        summary=f"{first:,} to {last:,} of {count:,}",
    )
