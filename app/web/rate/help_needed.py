"""Help needed page: blind cards, ordered by how much one more rating helps."""

import uuid
from datetime import datetime
from typing import Any

from flask import Response, make_response, redirect, url_for
from markupsafe import Markup

from app.core import clock
from app.core.errors import Conflict, Invalid, Settled
from app.core.ids import parse_id
from app.core.permissions import Permission
from app.core.raters import help_needed as waiting_items
from app.core.raters import practice
from app.web import auth, errors, forms, page, veils
from app.web.blueprint import web
from app.web.item.views import ANSWER_WORDS, OPTIONS, blind_item
from app.web.rate import answering, welcome
from app.web.rate.answering import Answered, AnswerForm
from app.wiring import wired

CARDS = 10
POLL_SECONDS = 15


@web.get("/help-needed")
@auth.needs(Permission.RATE)
def help_needed() -> Response:
    who, community = auth.current_reader(), auth.current_community()
    if practice.is_new(welcome.membership()):
        with wired().database.writing() as session:
            practice.mark_welcomed(session, who.actor, community.id)
        return make_response(redirect(url_for("web.welcome"), 303))
    return _show()


def _show(*, status: int = 200, alert: str | None = None) -> Response:
    """Render the reader's cards, ordered by how much one more rating helps."""
    who, community, now = auth.current_reader(), auth.current_community(), clock.now()
    with wired().database.reading() as session:
        waiting = waiting_items.waiting_for(
            session, who.actor, community.id, auth.current_profile_id(), limit=CARDS + 1
        )
        cards = [
            blind_item(action, url_for("web.help_needed", _anchor=f"card-{action.id}"))
            for action in waiting[:CARDS]
        ]
    return page.render(
        "rate/help_needed.html",
        status=status,
        alert=alert,
        cards=cards,
        more=len(waiting) > CARDS,
        options=OPTIONS,
        **_new_count(0, clock.iso(now)),
    )


@web.post("/help-needed/<uuid:action_id>")
def answer_card(action_id: uuid.UUID) -> Response:
    form = forms.posted(AnswerForm)
    skipped = bool(form.skip.data)
    if not skipped and not form.validate():
        raise Invalid.field("answer", "must be Yes, No or Not sure")
    if not skipped:
        with wired().database.reading() as session:
            unseen = veils.is_unseen(answering.find_asked(session, action_id))
        if unseen:
            return (
                errors.render_error(422, veils.UNSEEN)
                if page.wants_part()
                else _show(status=422, alert=veils.UNSEEN)
            )
        answering.count_rating()
    actor, profile_id = auth.current_actor(), auth.current_profile_id()
    answered, status, message = None, 200, "Skipped."
    with wired().database.writing() as session:
        action = answering.find_asked(session, action_id)
        community_id = action.community_id
        try:
            if skipped:
                waiting_items.skip(session, actor, action, profile_id)
            else:
                answered = answering.record_answer(session, action, form.answer.data)
                message = "Thank you. Your answer is saved."
        except (Conflict, Settled) as refusal:
            # The answer has no typed text that could be lost, so the next card replaces this one anyway.
            status, message = 409, f"{refusal.detail}."
        next_id = parse_id(form.next.data or "")
        remaining, is_waiting = waiting_items.still_waiting(session, actor, community_id, profile_id, next_id)
    return page.done(
        "item/_answered.html",
        url_for("web.help_needed"),
        message if page.wants_part() else _with_link(message, action_id, answered, skipped=skipped),
        status=status,
        id=action_id,
        said=ANSWER_WORDS.get(form.answer.data or "", "") if not skipped else None,
        answered=answered,
        skipped=skipped,
        following=next_id if is_waiting else None,
        left=remaining,
    )


def _with_link(message: str, action_id: uuid.UUID, answered: Answered | None, *, skipped: bool) -> str:
    """Return the message with a link to the item. Used without script, when no answered card can show the link."""
    if answered is not None:
        message = f"{message} {answered.words}"
    is_open = answered is not None and not answered.decided
    words = "Change answer" if is_open else "Open it anyway" if skipped else "See what was decided"
    return Markup('{} <a href="{}">{}</a>').format(message, url_for("web.item", action_id=action_id), words)


@web.get("/help-needed/new-count")
@auth.passive
@auth.needs(Permission.RATE)
def help_needed_new_count() -> Response:
    """Polled every 15 s: 204 if nothing changed, else the number of new items since the page was rendered."""
    try:
        since = datetime.fromisoformat(forms.query_arg("since"))
        seen = int(forms.query_arg("seen") or "0")
    except ValueError:
        raise Invalid.field("since", "must be a date and time") from None
    if since.tzinfo is None:
        raise Invalid.field("since", "must carry its timezone")
    community = auth.current_community()
    with wired().database.reading() as session:
        count = waiting_items.waiting_since(
            session, auth.current_actor(), community.id, auth.current_profile_id(), since
        )
    if count == seen:
        return make_response("", 204)
    return page.render("moderate/_new_count.html", **_new_count(count, clock.iso(since)))


def _new_count(count: int, since: str) -> dict[str, Any]:
    """Return the context of ``_new_count.html``. Its polling URL contains the shown count, so no change can be 204."""
    slug = auth.current_community().slug
    return {
        "count": count,
        "poll_url": url_for("web.help_needed_new_count", community=slug, since=since, seen=count),
        "poll_seconds": POLL_SECONDS,
        "show_url": url_for("web.help_needed", community=slug),
    }
