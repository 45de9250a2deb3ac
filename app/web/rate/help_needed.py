"""Help needed page: a run of blind cards, ordered by how much one more rating helps."""

import uuid
from contextlib import suppress
from datetime import UTC, datetime

from flask import Response, make_response, redirect, url_for
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.core import clock
from app.core.errors import Conflict, Forbidden, Invalid, NotFound, Settled
from app.core.ids import parse_id
from app.core.models import SampledPost
from app.core.notes import ratings
from app.core.notes.blindness import is_decided
from app.core.panels import seats
from app.core.permissions import Permission
from app.core.raters import help_needed as waiting_items
from app.core.raters import practice, samples
from app.core.raters.run import Today
from app.core.raters.samples import Asked
from app.core.texts import gettext as _
from app.core.texts import pgettext
from app.web import auth, errors, forms, page, veils
from app.web.blueprint import web
from app.web.item import answering
from app.web.item.answering import Answered, AnswerForm
from app.web.item.views import OPTIONS, blind_item, question, sample_question
from app.web.rate import cards, note_run, welcome
from app.web.rate.cards import Folded
from app.wiring import wired


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
    """Render the reader's run: the cards that come next, below the one that was answered last without script."""
    now = clock.now()
    with wired().database.reading() as session:
        done = cards.today(session)
        context = (
            cards.run_context(session)
            | cards.counter(session, done)
            | cards.announced(0, clock.iso(now))
            | {"last": _last(session, parse_id(forms.query_arg("done")), done)}
        )
    return page.render("rate/help_needed.html", status=status, alert=alert, **context)


def _last(session: Session, card_id: uuid.UUID | None, done: Today) -> Folded | None:
    """Return the line of the card that was answered on the page before; None if the address names none."""
    if card_id is None:
        return None
    line = None
    with suppress(NotFound):
        line = folded_item(session, answering.find_asked(session, card_id), done)
    if line is None:
        with suppress(NotFound):
            line = note_run.folded_note(session, note_run.find(session, card_id), done)
    return line if line is not None and (line.said or line.skipped) else None


@web.post("/help-needed/<uuid:action_id>")
def answer_card(action_id: uuid.UUID) -> Response:
    form = forms.posted(AnswerForm)
    skipped = bool(form.skip.data)
    if not skipped and not form.validate():
        raise Invalid.field("answer", _("must be Yes, No or Not sure"))
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
    answered, status, message = None, 200, _("Skipped.")
    with wired().database.writing() as session:
        action = answering.find_asked(session, action_id)
        try:
            if skipped:
                waiting_items.skip(session, actor, action, profile_id)
            else:
                answered = answering.record_answer(session, action, form.answer.data, form.edit.data or "")
                message = _("Thank you. Your answer is saved.")
        except (Conflict, Settled) as refusal:
            # The answer has no typed text that could be lost, so the next card replaces this one anyway.
            status, message = 409, f"{refusal.detail}."
    # After the commit: other raters wait for it, and need not wait for this page.
    with wired().database.reading() as session:
        done = cards.today(session)
        action = answering.find_asked(session, action_id, was_answered=True)
        line = folded_item(session, action, done, may_pause=answered is not None)
        context = cards.context_after(session, action_id, done)
    return page.done(
        "rate/_folded.html",
        url_for("web.help_needed", done=action_id if status == 200 else None),
        message if page.wants_part() else _with_link(message, action_id, answered, skipped=skipped),
        status=status,
        line=line,
        **context,
    )


@web.post("/help-needed/<uuid:action_id>/undo")
def undo_answer(action_id: uuid.UUID) -> Response:
    """Take back the reader's answer, or their skipping, and show the card again."""
    actor, profile_id = auth.current_actor(), auth.current_profile_id()
    status, message = 200, _("Undone. Answer it again, or skip it.")
    with wired().database.writing() as session:
        action = answering.find_asked(session, action_id)
        waiting_items.unskip(session, actor, action, profile_id)
        try:
            answering.take_back(session, action)
        except Forbidden as refusal:
            status, message = 409, f"{refusal.detail}."
        action, done = answering.find_asked(session, action_id), cards.today(session)
        line = folded_item(session, action, done) if status == 409 else None
        item, counter = cards.drawn_card(session, action), cards.counter(session, done)
    return page.done(
        "rate/_folded.html" if line is not None else "rate/_unfolded.html",
        url_for("web.help_needed"),
        message,
        status=status,
        line=line,
        card=cards.templated(item),
        options=OPTIONS,
        **counter,
    )


@web.post("/help-needed/<uuid:action_id>/decline")
def decline_seat(action_id: uuid.UUID) -> Response:
    """Give back the reader's seat in the drawn panel of this item, and do not ask them about it again."""
    actor, profile_id = auth.current_actor(), auth.current_profile_id()
    with wired().database.writing() as session:
        asked = answering.find_asked(session, action_id)
        if isinstance(asked, SampledPost):
            raise NotFound("seat")
        seats.decline(session, actor, asked, profile_id)
        waiting_items.skip(session, actor, asked, profile_id)
    return page.done(None, url_for("web.help_needed"), _("Declined. The next person is drawn."))


def folded_item(session: Session, action: Asked, done: Today, *, may_pause: bool = True) -> Folded:
    """Return the line that an item's card becomes: the reader's answer, and whether it can be taken back."""
    profile_id = auth.current_profile_id()
    blind = blind_item(action, "")
    if isinstance(action, SampledPost):
        answer, is_open = samples.by_rater(session, action, profile_id), samples.is_open(session, action)
        item_question = sample_question(action, blind, answer, answering.ratings_needed(), is_open=is_open)
        is_decided_now = action.ended_at is not None
    else:
        rating = ratings.by_rater(session, action.note_id, profile_id) if action.note_id else None
        item_question = question(action, blind, rating, None, answering.ratings_needed())
        is_decided_now = is_decided(action)
    said = item_question.answer_words or None
    skipped = said is None and waiting_items.is_skipped(session, action, profile_id)
    return Folded(
        id=action.id,
        said=said,
        skipped=skipped,
        text=cards.in_line(action.post.content, action),
        words=(_("That decided it.") if said else _("This was decided in the meantime."))
        if is_decided_now
        else item_question.progress.words
        if item_question.progress
        else _("You are not asked again.")
        if skipped
        else "",
        undo_url=url_for("web.undo_answer", action_id=action.id)
        if (skipped or said) and item_question.is_open
        else None,
        link=url_for("web.item", action_id=action.id),
        link_words=_("See what was decided") if is_decided_now else pgettext("a link", "Open"),
        pause=cards.pause_after(done, action.category) if may_pause and said else None,
    )


def _with_link(message: str, action_id: uuid.UUID, answered: Answered | None, *, skipped: bool) -> str:
    """Return the message with a link to the item. Used without script, when no answered card can show the link."""
    if answered is not None:
        message = f"{message} {answered.words}"
    is_open = answered is not None and not answered.decided
    words = _("Change answer") if is_open else _("Open it anyway") if skipped else _("See what was decided")
    return Markup('{} <a href="{}">{}</a>').format(message, url_for("web.item", action_id=action_id), words)


@web.get("/help-needed/new-count")
@auth.passive
@auth.needs(Permission.RATE)
def help_needed_new_count() -> Response:
    """Polled every 15 s: 204 if nothing changed, else the number of new items since the page was rendered."""
    try:
        since = datetime.fromisoformat(forms.query_arg("since"))
        seen = int(forms.query_arg("seen") or "0")
        if since.tzinfo is None:
            raise Invalid.field("since", _("must carry its timezone"))
        since = since.astimezone(UTC)
    except (ValueError, OverflowError):
        raise Invalid.field("since", _("must be a date and time")) from None
    community = auth.current_community()
    with wired().database.reading() as session:
        count = waiting_items.waiting_since(
            session, auth.current_actor(), community.id, auth.current_profile_id(), since
        )
    if count == seen:
        return make_response("", 204)
    return page.render("moderate/_new_count.html", **cards.announced(count, clock.iso(since)))
