"""The cards of a rater's run: posts to answer and notes to rate, and the lines that they become."""

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from flask import url_for
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.core import clock, limits
from app.core.ids import parse_id
from app.core.models import Note
from app.core.panels import seats
from app.core.periods import Period
from app.core.raters import answers, notes_needed, run
from app.core.raters.run import Today
from app.core.raters.samples import Asked
from app.core.texts import ngettext
from app.web import auth, forms, markup, page, reader_zone, veils
from app.web.filters import excerpt, highlight
from app.web.item import answering, threads
from app.web.item.note_forms import RatingForm, rating_form
from app.web.item.note_views import NoteView, note_view
from app.web.item.views import OPTIONS, BlindItem, blind_item
from app.web.veils import Veil

CARDS = 3
"""How many open cards a page has: the one in focus and the next two. Each answer brings what is missing."""
POLL_SECONDS = 15
POST_FITS = 100
"""Characters of a post that three lines above its note always have room for."""
LINE = 60
"""How many characters of a post or note the line of an answered card shows."""


@dataclass(frozen=True)
class NoteCard:
    """A note to rate, below the post that it is about. ``item_id`` and ``post`` are None if the post has no item.

    ``is_folded``: the post may take more than the three lines that it has above its note.
    """

    id: uuid.UUID
    note: NoteView
    form: RatingForm
    content: Markup
    is_excerpt: bool
    veil: Veil | None
    channel: str | None
    posted_at: datetime
    around: threads.ThreadContext
    item_id: uuid.UUID | None
    post: BlindItem | None
    is_folded: bool

    @property
    def why(self) -> str:
        """Why the reader cannot rate before the note's last line was in the window."""
        return veils.UNREAD


@dataclass(frozen=True)
class Pause:
    """A break to offer: how much the rater answered today.

    ``severe``: how much of it was about severe posts; 0 where the break is not offered for them.
    """

    answered: int
    severe: int


@dataclass(frozen=True)
class Folded:
    """What a card becomes once it is answered or skipped.

    ``said`` is the answer in words, None if it was skipped or came too late. ``undo_url`` is None if it cannot be
    taken back. ``link`` is the item or note, with ``link_words``.
    """

    id: uuid.UUID
    said: str | None
    skipped: bool
    text: str
    words: str
    undo_url: str | None
    link: str
    link_words: str
    pause: Pause | None = None


def templated(card: BlindItem | NoteCard) -> tuple[str, BlindItem | NoteCard]:
    """A card with the template that shows it."""
    return ("rate/_note_card.html" if isinstance(card, NoteCard) else "rate/_review_card.html", card)


def run_context(session: Session, *, shown: Collection[uuid.UUID] = (), place: int = 1) -> dict[str, Any]:
    """Return the context of ``_cards.html``: the cards that the page lacks. ``shown`` are those that it has.

    ``place`` is the number of the first of them.
    """
    who, community = auth.current_reader(), auth.current_community()
    missing = CARDS - len(shown)
    rows = (
        run.next_cards(
            session,
            who.actor,
            community.id,
            auth.current_profile_id(),
            limit=missing,
            languages=frozenset(who.account.languages or auth.browser_languages()),
            without=shown,
        )
        if missing > 0
        else []
    )
    return {"cards": [templated(card) for card in _cards(session, rows)], "place": place, "options": OPTIONS}


def context_after(session: Session, card_id: uuid.UUID, done: Today) -> dict[str, Any]:
    """Return what an answered card brings along: the cards that the page lacks now, its counter and its end.

    The posted form names the cards of the page, with their numbers. Without script the next page has them all.
    """
    counted = counter(session, done)
    if not page.wants_part():
        return counted
    shown = {parsed for parsed in map(parse_id, forms.posted_values("card")) if parsed} - {card_id}
    places = [forms.number(value, digits=4) or 0 for value in forms.posted_values("place")]
    return run_context(session, shown=shown, place=max(places, default=0) + 1) | counted


def _cards(session: Session, rows: Sequence[Asked | Note]) -> list[BlindItem | NoteCard]:
    notes = [row for row in rows if isinstance(row, Note)]
    drawn = seats.of_items(session, auth.current_profile_id(), [row.id for row in rows])
    items = notes_needed.items_of(session, auth.current_actor(), notes) if notes else {}
    mine = answering.own_profiles(session) if notes else frozenset()
    return [
        _note_card(row, items.get(row.id), mine)
        if isinstance(row, Note)
        else item_card(row, drawn.get(row.id))
        for row in rows
    ]


def item_card(action: Asked, drawn_until: datetime | None) -> BlindItem:
    """Return the card of an item or a sample. ``drawn_until``: the reader was drawn, and can answer until then."""
    item = blind_item(action, url_for("web.help_needed", _anchor=f"card-{action.id}"))
    return item if drawn_until is None else replace(item, drawn=_time_left(drawn_until))


def drawn_card(session: Session, action: Asked) -> BlindItem:
    """Return one item's card, with how long the reader has to answer if they were drawn for it."""
    return item_card(action, seats.of_items(session, auth.current_profile_id(), [action.id]).get(action.id))


def _time_left(until: datetime) -> str:
    minutes = max(1, int((until - clock.now()).total_seconds() // 60))
    if minutes < 120:
        return ngettext("%(num)s minute left", "%(num)s minutes left", minutes)
    return ngettext("%(num)s hour left", "%(num)s hours left", minutes // 60)


def note_card(session: Session, note: Note, form: RatingForm | None = None) -> NoteCard:
    """Return one note's card; ``form`` is the posted form with errors."""
    return _note_card(
        note, notes_needed.item_of(session, auth.current_actor(), note), answering.own_profiles(session), form
    )


def _note_card(
    note: Note, action: Asked | None, mine: Collection[uuid.UUID], form: RatingForm | None = None
) -> NoteCard:
    request = note.request
    assert request is not None, "only notes on posts are offered"  # noqa: S101 - narrows the type
    url, post = url_for("web.help_needed", _anchor=f"card-{note.id}"), None
    if action is not None:
        item = blind_item(action, url)
        content, is_excerpt, veil = item.content, item.is_excerpt, item.veil
        # The item may have a card of its own on the page, with the same ids in it.
        post = replace(
            item, id=note.id, is_folded=False, media=item.media and replace(item.media, id=str(note.id))
        )
    else:
        start, end = markup.window(request.content, ())
        shown, rest = highlight(request.content[start:end], ()), "…" if end < len(request.content) else ""
        content = Markup("{}{}").format(shown, rest)
        is_excerpt, veil = end < len(request.content), None
    return NoteCard(
        id=note.id,
        # Without the reader's earlier rating: of an older text of the note it would say nothing.
        note=note_view(note, action, mine=mine, own=None, needed=answering.ratings_needed()),
        form=form or rating_form(note.id),
        content=content,
        is_excerpt=is_excerpt,
        veil=veil,
        channel=request.platform_channel_id,
        posted_at=request.platform_timestamp or request.requested_at,
        around=threads.from_metadata(request.extra),
        item_id=action.id if action is not None else None,
        post=post,
        is_folded=len(request.content) > POST_FITS or "\n" in request.content or bool(post and post.media),
    )


def in_line(text: str, action: Asked | None) -> str:
    """The beginning of a post for the line of an answered card; nothing of a post behind "Show content"."""
    return "" if action is not None and veils.hides(action) else excerpt(text, LINE)


def this_day(*, before: int = 0) -> Period:
    """The reader's day in their time zone, with so many days before it."""
    zone = reader_zone.zone()
    day = clock.now().astimezone(zone).date()
    return Period(day - timedelta(days=before), day, zone, by=1)


def today(session: Session) -> Today:
    """What the reader did today, in their time zone, in the current community."""
    return run.today(session, auth.current_actor(), auth.current_community().id, this_day())


def counter(session: Session, done: Today | None = None) -> dict[str, Any]:
    """Return the context of ``_counter.html`` and ``_end.html``. What was decided is counted once nothing is left."""
    actor, community_id = auth.current_actor(), auth.current_community().id
    left = run.left(session, actor, community_id, auth.current_profile_id())
    given = None if left else answers.by_day(session, actor, community_id, this_day())[0]
    return {
        "answered_today": (done or today(session)).answered,
        "cards_left": left,
        "at_once": CARDS,
        "given": given,
        "today": this_day().first,
        "poll_seconds": POLL_SECONDS,
    }


def pause_after(done: Today, category: str | None) -> Pause | None:
    """Return the break to offer after an answer about a post of this category, if one is due."""
    if not run.break_due(auth.current_reader().account, done, category):
        return None
    return Pause(done.answered, done.severe if done.answered % limits.BREAK_AFTER else 0)


def announced(count: int, since: str) -> dict[str, Any]:
    """Return the context of ``_new_count.html``. Its polling URL contains the shown count, so no change can be 204."""
    slug = auth.current_community().slug
    return {
        "count": count,
        "poll_url": url_for("web.help_needed_new_count", community=slug, since=since, seen=count),
        "poll_seconds": POLL_SECONDS,
        "show_url": url_for("web.help_needed", community=slug),
    }
