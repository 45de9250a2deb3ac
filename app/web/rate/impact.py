"""My impact page: the outcomes of the reader's ratings and notes, with the rows behind each number."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from flask import Response, url_for
from sqlalchemy.orm import Session

from app.core import texts
from app.core.errors import Invalid
from app.core.helpfulness import viewpoints
from app.core.paging import Page, Slice
from app.core.periods import Period
from app.core.permissions import Permission
from app.core.raters import answers, impact
from app.core.raters.answers import Given
from app.core.raters.impact import Impact, NoteOutcome, RatingOutcome
from app.core.raters.run import Today
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext, ngettext
from app.core.thresholds import threshold_sets
from app.process.replica_reads import may_be_old
from app.web import auth, community_choice, forms, page, reader_zone
from app.web.blueprint import web
from app.web.categories import category_name
from app.web.filter_forms import is_storable
from app.web.rate import cards, impact_rows, own_reports
from app.web.rate.impact_rows import Row
from app.web.viewpoints import StripView, draw_strip
from app.wiring import wired

PAGE_SIZE = 20
DAYS = 30
"""How many days have a square."""
MANY = 5
"""From so many answers on the square of a day is full."""
DECIDED, SKIPPED = "decided", "skipped"
NOTES, SEVERE = "notes", "severe"
"""What an answer of a period can be about, beside a category."""

_RATINGS: Mapping[RatingOutcome, tuple[str, int]] = {
    RatingOutcome.MATCHED: (lazy_gettext("Others came to the same view"), 1),
    RatingOutcome.DECIDED: (lazy_gettext("Of these, decided something with the others"), 0),
    RatingOutcome.MISMATCHED: (lazy_gettext("Others came to the opposite view"), -1),
    RatingOutcome.TWICE: (lazy_gettext("Called helpful, turned out not (counts twice)"), -2),
    RatingOutcome.NEUTRAL: (lazy_gettext("You were not sure"), 0),
    RatingOutcome.AFTER: (lazy_gettext("Given after the outcome was shown: not judged"), 0),
    RatingOutcome.WAITING: (lazy_gettext("No status yet"), 0),
    RatingOutcome.STALE: (lazy_gettext("The note was changed after you rated it"), 0),
}
_NOTES: Mapping[NoteOutcome, tuple[str, int]] = {
    NoteOutcome.HELPFUL: (lazy_gettext("Rated helpful"), 1),
    NoteOutcome.NOT_HELPFUL: (lazy_gettext("Rated not helpful"), -1),
    NoteOutcome.WAITING: (lazy_gettext("No status yet"), 0),
}


@dataclass(frozen=True)
class Line:
    """One number of a table: what it counts, the points for each, and the URL of its rows (None if there are none)."""

    words: str
    count: int
    adds: int
    url: str | None
    is_shown: bool

    @property
    def total(self) -> str:
        """The total points with a sign."""
        return with_sign(self.count * self.adds)


@dataclass(frozen=True)
class Day:
    """The square of a day; ``url`` leads to its answers, None if there are none."""

    words: str
    answers: int
    url: str | None
    is_shown: bool

    @property
    def fill(self) -> str:
        return "none" if not self.answers else "some" if self.answers < MANY else "many"


@dataclass(frozen=True)
class Selection:
    """Which rows the address asks for: those behind a number (``show``), or of a period (``about`` a part of it)."""

    show: str
    period: Period | None
    about: str

    @property
    def is_notes(self) -> bool:
        return self.show == NOTES or self.show.startswith(f"{NOTES}-")

    @property
    def wrote(self) -> NoteOutcome | None:
        wrote: NoteOutcome | None = _chosen(NoteOutcome, self.show.removeprefix(NOTES).removeprefix("-"))
        return wrote

    @property
    def url_args(self) -> dict[str, str]:
        days = (
            {"from": self.period.first.isoformat(), "to": self.period.last.isoformat()} if self.period else {}
        )
        found = {"show": self.show, **days, "about": self.about}
        return {name: value for name, value in found.items() if value}

    @property
    def title(self) -> str:
        if self.period is not None:
            days = _day(self.period.first)
            if self.period.days > 1:
                days = _("%(first)s to %(last)s", first=days, last=_day(self.period.last))
            if self.show == SKIPPED:
                return _("What you skipped: %(days)s", days=days)
            if self.show == DECIDED:
                return _("Your answers that decided something: %(days)s", days=days)
            return _("Your answers: %(days)s", days=days)
        if self.is_notes:
            wrote = self.wrote
            return _("Your notes: %(outcome)s", outcome=_NOTES[wrote][0]) if wrote else _("Your notes")
        became = _chosen(RatingOutcome, self.show)
        if became is None:
            return _("Your ratings")
        return _("Your ratings: %(outcome)s", outcome=impact_rows.BECAME[became][1])


@web.get("/me")
@auth.needs(Permission.RATE)
@may_be_old
def my_impact() -> Response:
    selection = _selection()
    actor, community = auth.current_actor(), auth.current_community()
    month, today_only = cards.this_day(before=DAYS - 1), cards.this_day()
    with wired().database.reading() as session:
        figures = impact.for_actor(session, actor, community.id)
        today = cards.today(session)
        days = answers.by_day(session, actor, community.id, month)
        found, rows = _rows(session, community.id, figures, selection)
        latest = None if selection.url_args else _latest(session, community.id)
        reported = own_reports.shown(session, actor, community.id)
    links = page.PageLinks(
        previous=_rows_url(selection, before=found.previous) if found.previous else None,
        next=_rows_url(selection, after=found.next) if found.next else None,
        summary=ngettext("%(num)s row", "%(num)s rows", found.count),
    )
    return page.render(
        "rate/me.html",
        impact=figures,
        month=Given(sum(day.answers for day in days), sum(day.decided for day in days)),
        month_url=_rows_url(Selection("", month, "")),
        month_decided_url=_rows_url(Selection(DECIDED, month, "")),
        days=_days(days, month, selection),
        today=today,
        today_urls={
            "answered": _rows_url(Selection("", today_only, "")),
            SEVERE: _rows_url(Selection("", today_only, SEVERE)),
            SKIPPED: _rows_url(Selection(SKIPPED, today_only, "")),
        },
        seen_today=_seen_today(today, today_only),
        rating_impact=with_sign(figures.rating),
        writing_impact=with_sign(figures.writing),
        rating_lines=_rating_lines(figures, selection),
        note_lines=_note_lines(figures, selection),
        latest=latest,
        reports=reported,
        title=selection.title,
        shows_notes=selection.is_notes,
        rows=rows,
        links=links,
        all_url=_rows_url() if selection.url_args else None,
        notes_url=rows_url(NOTES) if not selection.url_args else None,
    )


def with_sign(number: int) -> str:
    """Return a number with its sign: +3, 0, \u22122."""
    return f"+{number}" if number > 0 else f"\u2212{-number}" if number < 0 else "0"


@dataclass(frozen=True)
class LatestAnswer:
    """The person's latest answer with an outcome; ``strip`` is None where the community shows no camps.

    Their own answer is not marked in it: who knows their side could choose what to answer for it.
    """

    row: Row
    strip: StripView | None


def _latest(session: Session, community_id: uuid.UUID) -> LatestAnswer | None:
    latest = impact.latest_decided(session, auth.current_actor(), community_id)
    if latest is None:
        return None
    strip = viewpoints.of_note(session, latest.note)
    view = draw_strip(strip, is_question=latest.note.rationale) if strip is not None else None
    return LatestAnswer(impact_rows.of_rating(latest), view)


def _selection() -> Selection:
    first, last = forms.query_arg("from"), forms.query_arg("to")
    period = Period(_date("from", first), _date("to", last or first), reader_zone.zone()) if first else None
    show = forms.query_arg("show")
    if period is not None and show not in {"", DECIDED, SKIPPED}:
        raise Invalid.field("show", _("names no number of a period"), show[:50])
    return Selection(show, period, forms.query_arg("about") if period is not None else "")


def _date(field: str, text: str) -> date:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = date.max
    if not is_storable(day):
        raise Invalid.field(field, _("must be a date"), text[:50])
    return day


def _rows(
    session: Session, community_id: uuid.UUID, figures: Impact, selection: Selection
) -> tuple[Page[Any], Sequence[Row]]:
    actor = auth.current_actor()
    part = Slice(
        size=PAGE_SIZE, after=forms.query_arg("after") or None, before=forms.query_arg("before") or None
    )
    if selection.is_notes:
        notes = impact.notes(session, actor, community_id, part, selection.wrote)
        return notes, [impact_rows.of_note(row) for row in notes.rows]
    skips = selection.show == SKIPPED and selection.period is not None
    became = None if skips else _chosen(RatingOutcome, selection.show)
    known = figures.ratings if became is None else getattr(figures, became)
    done = answers.page(
        session,
        actor,
        community_id,
        selection.period,
        part,
        became=became,
        skips=skips,
        notes=selection.about == NOTES,
        categories=_categories(selection.about),
        count=known if selection.period is None else None,
    )
    return done, impact_rows.of_answers(session, [(row.id, row.at, row.what) for row in done.rows])


def _categories(about: str) -> Collection[str] | None:
    if not about:
        return None
    return threshold_sets.SENSITIVE if about == SEVERE else (about,)


def _chosen(words: Any, name: str) -> Any:
    """Return the enum value of this name; None if the name is empty.

    Raises:
        Invalid: there is no such value.
    """
    if not name:
        return None
    try:
        return words(name)
    except ValueError:
        raise Invalid.field("show", _("names no number of this page"), name[:50]) from None


def _day(day: date) -> str:
    return texts.current().day(datetime.combine(day, time()))


def _days(given: Sequence[Given], month: Period, selection: Selection) -> list[Day]:
    squares = []
    for number, answered in enumerate(given):
        day = month.first + timedelta(days=number)
        one = Period(day, day, month.zone)
        words = ngettext(
            "%(day)s: %(num)s answer", "%(day)s: %(num)s answers", answered.answers, day=_day(day)
        )
        url = _rows_url(Selection("", one, "")) if answered.answers else None
        squares.append(Day(words, answered.answers, url, selection.period == one))
    return squares


def _seen_today(today: Today, day: Period) -> list[tuple[str, int, str]]:
    """What the reader answered today, the most first: a name, the count, and the URL of the rows."""
    counts = sorted(today.by_category.items(), key=lambda pair: (-pair[1], pair[0] or ""))
    found = [
        (category_name(name), count, _rows_url(Selection("", day, name or ""))) for name, count in counts
    ]
    if today.notes:
        found.append((_("Notes"), today.notes, _rows_url(Selection("", day, NOTES))))
    return found


def _rating_lines(figures: Impact, selection: Selection) -> list[Line]:
    return [
        _line(name, words, adds, getattr(figures, name), selection)
        for name, (words, adds) in _RATINGS.items()
        if getattr(figures, name) or name not in {RatingOutcome.AFTER, RatingOutcome.STALE}
    ]


def _note_lines(figures: Impact, selection: Selection) -> list[Line]:
    return [
        _line(f"{NOTES}-{name}", words, adds, getattr(figures, f"notes_{name}"), selection)
        for name, (words, adds) in _NOTES.items()
    ]


def _line(show: str, words: str, adds: int, count: int, selection: Selection) -> Line:
    url = rows_url(show) if count else None
    return Line(words, count, adds, url, selection.period is None and selection.show == show)


def rows_url(show: str) -> str:
    """Return the address of the rows behind a number: a ``RatingOutcome``, or ``notes-`` and a ``NoteOutcome``."""
    return _rows_url(Selection(show, None, ""))


def day_url(day: date) -> str:
    """Return the address of the answers of one of the reader's days."""
    return _rows_url(Selection("", Period(day, day, reader_zone.zone()), ""))


def _rows_url(selection: Selection | None = None, **more: str) -> str:
    query = {**community_choice.carried(), **(selection.url_args if selection else {}), **more}
    return url_for("web.my_impact") + (f"?{urlencode(query)}" if query else "") + "#rows"
