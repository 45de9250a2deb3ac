"""Notes in a rater's run: rate one, skip it, take the rating back."""

import uuid

from flask import Response, url_for
from sqlalchemy.orm import Session

from app.core import clock
from app.core.errors import Forbidden, NotFound
from app.core.models import Action, Note, Profile
from app.core.notes import notes, ratings
from app.core.notes.blindness import is_for_raters
from app.core.permissions import Permission
from app.core.raters import notes_needed
from app.core.raters.run import Today
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, pgettext
from app.core.vocabulary import HelpfulnessLevel
from app.web import auth, forms, page, veils
from app.web.blueprint import web
from app.web.filters import excerpt
from app.web.item import answering
from app.web.item.note_forms import RatingForm, rating_form
from app.web.item.note_views import LEVEL_WORDS
from app.web.rate import cards
from app.web.rate.cards import Folded
from app.wiring import wired

DECIDED = lazy_gettext(
    "A moderator decided about this note in the meantime, so your rating was not needed any more"
)


@web.post("/help-needed/notes/<uuid:note_id>")
def rate_note_card(note_id: uuid.UUID) -> Response:
    skipped = "1" in forms.posted_values("skip")
    form = rating_form(note_id, posted=True)
    if not skipped:
        with wired().database.reading() as session:
            note = find(session, note_id)
            item = notes_needed.item_of(session, auth.current_actor(), note)
            unjudged = [veils.UNSEEN] if item is not None and veils.is_unseen(item) else []
            unjudged += [veils.UNREAD] if veils.is_unread(note_id) else []
            if not form.validate() or unjudged:
                form.form_errors.extend(unjudged)
                return _again(session, note, form)
        answering.count_rating()
    actor, profile_id = auth.current_actor(), auth.current_profile_id()
    status, message = 200, _("Skipped.")
    with wired().database.writing() as session:
        note = find(session, note_id)
        try:
            if skipped:
                notes_needed.skip(session, actor, note, profile_id)
            else:
                rater = session.get_one(Profile, profile_id)
                level = HelpfulnessLevel(form.level.data)
                ratings.rate(session, actor, note, rater, level, reasons=form.reasons)
                message = _("Thank you. Your rating is saved.")
        except Forbidden as refusal:
            status, message = 409, f"{DECIDED if note.locked else refusal.detail}."
    # After the commit: other raters wait for it, and need not wait for this page.
    with wired().database.reading() as session:
        done = cards.today(session)
        line = folded_note(session, notes.get(session, actor, note_id), done)
        context = cards.context_after(session, note_id, done)
    return page.done(
        "rate/_folded.html",
        url_for("web.help_needed", done=note_id if status == 200 else None),
        message,
        status=status,
        line=line,
        **context,
    )


@web.post("/help-needed/notes/<uuid:note_id>/undo")
def undo_note_rating(note_id: uuid.UUID) -> Response:
    """Take back the reader's rating, or their skipping, and show the card again."""
    actor, profile_id = auth.current_actor(), auth.current_profile_id()
    status, message = 200, _("Undone. Rate it again, or skip it.")
    with wired().database.writing() as session:
        note = find(session, note_id)
        notes_needed.unskip(session, actor, note, profile_id)
        try:
            answering.withdraw_rating(session, note.id)
        except Forbidden as refusal:
            status, message = 409, f"{refusal.detail}."
        session.expire_all()
        note, done = find(session, note_id), cards.today(session)
        line = folded_note(session, note, done) if status == 409 else None
        card, counter = cards.note_card(session, note), cards.counter(session, done)
    return page.done(
        "rate/_folded.html" if line is not None else "rate/_unfolded.html",
        url_for("web.help_needed"),
        message,
        status=status,
        line=line,
        card=cards.templated(card),
        **counter,
    )


def find(session: Session, note_id: uuid.UUID) -> Note:
    """Return a note that raters may rate in their run. Raises NotFound for rationales and for notes without a post."""
    note = notes.get(session, auth.current_actor(), note_id)
    auth.enter(note.community_id)
    auth.require(Permission.RATE, note.community_id)
    loaded = notes_needed.load(session, [note.id])[note.id]
    if loaded.rationale or loaded.request is None or loaded.request.withdrawn_at is not None:
        raise NotFound("note")
    item = notes_needed.item_of(session, auth.current_actor(), loaded)
    is_staffs = isinstance(item, Action) and not is_for_raters(item)
    if is_staffs and not auth.may(Permission.MODERATE, note.community_id):
        raise NotFound("note")
    return loaded


def folded_note(session: Session, note: Note, done: Today) -> Folded:
    """Return the line that a note's card becomes: the reader's rating, and whether it can be taken back."""
    profile_id = auth.current_profile_id()
    rating = ratings.by_rater(session, note.id, profile_id)
    current = rating if rating is not None and rating.note_version == note.version else None
    kept = ratings.kept_because(note, None, current) if current is not None else None
    skipped = current is None and notes_needed.is_skipped(session, note, profile_id)
    return Folded(
        id=note.id,
        said=LEVEL_WORDS[current.helpfulness_level] if current is not None else None,
        skipped=skipped,
        text=excerpt(note.summary, cards.LINE),
        words=_("You are not asked again.")
        if skipped
        else f"{kept}."
        if kept is not None
        else _("It is decided.")
        if note.locked and current is None
        else "",
        undo_url=url_for("web.undo_note_rating", note_id=note.id)
        if (current is not None or skipped) and kept is None and not note.locked
        else None,
        link=url_for("web.note", note_id=note.id),
        link_words=pgettext("a link", "Open"),
        pause=cards.pause_after(done, None) if current is not None else None,
    )


def _again(session: Session, note: Note, form: RatingForm) -> Response:
    """Show the card with what was chosen and what is wrong with it."""
    card = cards.note_card(session, note, form)
    context = cards.run_context(session, shown=[note.id]) | cards.counter(session)
    context |= cards.announced(0, clock.iso(clock.now()))
    context["cards"] = [cards.templated(card), *context["cards"]]
    if page.wants_part():
        context["place"] = None
    return page.render(
        "rate/help_needed.html",
        "rate/_note_card.html",
        status=422,
        item=card,
        form=form,
        last=None,
        **context,
    )
