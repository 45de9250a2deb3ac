"""Template filters: times, shares, excerpts, marked passages and states as text."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flask import Flask, g, has_app_context
from markupsafe import Markup
from markupsafe import escape as markup_escape

from app.core import clock, texts
from app.core.models import Action
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.core.vocabulary import ActionState, ReviewGroup
from app.web import markup, reader_language, reader_zone
from app.web.categories import category_name
from app.web.icons import asset, drawing, icon_address, script_modules


@dataclass(frozen=True)
class StateWords:
    """How a state is shown: a word, an icon, and a colour class (`wait review good bad again off`)."""

    word: str
    icon: str
    tone: str


STATES: Mapping[str, StateWords] = {
    # Moderation actions.
    "proposed": StateWords(lazy_gettext("Waiting for platform"), "clock", "wait"),
    "under_review": StateWords(lazy_gettext("Members are reviewing"), "messages-square", "review"),
    "staff_review": StateWords(lazy_gettext("Waiting for staff"), "users", "review"),
    "applied": StateWords(lazy_gettext("Applied"), "circle-check", "good"),
    "retro_review": StateWords(lazy_gettext("Second look"), "scan-eye", "again"),
    "confirmed": StateWords(lazy_gettext("Confirmed"), "badge-check", "good"),
    "overturned": StateWords(lazy_gettext("Overturned"), "undo-2", "bad"),
    "scan_exempt": StateWords(lazy_gettext("Won't be rescanned"), "shield-check", "off"),
    "dismissed": StateWords(lazy_gettext("Dismissed"), "circle-minus", "off"),
    # What undoes an overturned action that is no hide (``Action.undo_progress``).
    "restore_proposed": StateWords(lazy_gettext("Restore proposed"), "clock", "wait"),
    "restore_done": StateWords(lazy_gettext("Restored"), "undo-2", "good"),
    "restore_impossible": StateWords(lazy_gettext("Cannot be restored"), "circle-x", "bad"),
    "unsilence_proposed": StateWords(lazy_gettext("End of silence proposed"), "clock", "wait"),
    "unsilence_done": StateWords(lazy_gettext("Silence ended"), "undo-2", "good"),
    "unsilence_impossible": StateWords(lazy_gettext("Silence cannot be ended"), "circle-x", "bad"),
    "retract_proposed": StateWords(lazy_gettext("Revocation proposed"), "clock", "wait"),
    "retract_done": StateWords(lazy_gettext("Warning revoked"), "undo-2", "good"),
    "retract_impossible": StateWords(lazy_gettext("Warning cannot be revoked"), "circle-x", "bad"),
    "action.undo_answered": StateWords(lazy_gettext("Undo answered"), "undo-2", "off"),
    "action.until_changed": StateWords(lazy_gettext("End of silence changed"), "clock", "off"),
    "action.ended": StateWords(lazy_gettext("Silence ended"), "circle-check", "off"),
    "action.strike_added": StateWords(lazy_gettext("Strike added"), "flag", "bad"),
    "action.strike_lifted": StateWords(lazy_gettext("Strike lifted"), "undo-2", "off"),
    "action.strike_step_observed": StateWords(lazy_gettext("Strikes reached a step"), "scan-eye", "off"),
    # Moderators' decisions that changed nothing, or nothing yet.
    "decision.held": StateWords(lazy_gettext("Decision held"), "hourglass", "wait"),
    "decision.undone": StateWords(lazy_gettext("Decision undone"), "undo-2", "off"),
    "hold.lapsed": StateWords(lazy_gettext("Not carried out"), "triangle-alert", "bad"),
    # Requests.
    "pending": StateWords(lazy_gettext("Waiting to be scored"), "hourglass", "wait"),
    "in_progress": StateWords(lazy_gettext("In progress"), "loader", "review"),
    "completed": StateWords(lazy_gettext("Completed"), "circle-check", "good"),
    "failed": StateWords(lazy_gettext("Scoring failed"), "triangle-alert", "bad"),
    # Notes.
    "needs_more_ratings": StateWords(lazy_gettext("Needs more ratings"), "circle-dashed", "review"),
    "currently_rated_helpful": StateWords(lazy_gettext("Currently rated helpful"), "thumbs-up", "good"),
    "currently_rated_not_helpful": StateWords(
        lazy_gettext("Currently rated not helpful"), "thumbs-down", "off"
    ),
    # Deliveries, keys and accounts.
    "held": StateWords(lazy_gettext("Can be undone"), "undo-2", "wait"),
    "due": StateWords(lazy_gettext("Waiting to be sent"), "clock", "wait"),
    "delivered": StateWords(lazy_gettext("Delivered"), "circle-check", "good"),
    "dead": StateWords(lazy_gettext("Failed"), "circle-x", "bad"),
    "cancelled": StateWords(lazy_gettext("Cancelled"), "circle-minus", "off"),
    "parked": StateWords(lazy_gettext("Parked after a restore"), "hourglass", "wait"),
    "disabled": StateWords(lazy_gettext("Disabled"), "circle-minus", "off"),
    "active": StateWords(lazy_gettext("Active"), "circle-check", "good"),
    "revoked": StateWords(lazy_gettext("Revoked"), "circle-x", "bad"),
    "expired": StateWords(lazy_gettext("Expired"), "hourglass", "off"),
}


def review_state(action: Action) -> str:
    """The state of an action, as ``STATES`` name it: a review that is staff's alone has a name of its own."""
    is_staffs = action.review_group is ReviewGroup.STAFF and action.action_state is ActionState.UNDER_REVIEW
    return "staff_review" if is_staffs else action.action_state.value


def state_words(state: str) -> StateWords:
    """Return how to show a state of any kind of object, in upper or lower case. An unknown state is shown as it is."""
    known = STATES.get(str(state).lower())
    return known or StateWords(str(state).replace("_", " ").capitalize(), "circle-dashed", "off")


def state_word(state: str) -> str:
    """Return only the word for a state, for columns and `<option>`s."""
    return state_words(state).word


def sentence_end(name: str) -> str:
    """A name at the end of a sentence: one that ends in a full stop gets no second."""
    return name if name.endswith((".", "!", "?")) else f"{name}."


def state_phrase(state: str) -> str:
    """Return the state as it follows "it is" in a sentence, for example "sent, not confirmed by the platform"."""
    return str(_PHRASES.get(str(state).lower()) or texts.in_sentence(state_word(state)))


_PHRASES: Mapping[str, str] = {
    "proposed": lazy_gettext("sent, not confirmed by the platform"),
    "under_review": lazy_gettext("under review by the community"),
    "retro_review": lazy_gettext("in its second look"),
}


def channel(name: str) -> str:
    """Return a channel's name with "#": "#market"."""
    return name if name.startswith("#") else f"#{name}"


def _reader_zone() -> tuple[ZoneInfo | None, bool]:
    """Return the reader's chosen time zone (`g.timezone`) and True, or None and False: script uses the browser's."""
    name = g.get("timezone") if has_app_context() else None
    try:
        return (ZoneInfo(name), True) if name else (None, False)
    except (ZoneInfoNotFoundError, ValueError):
        return None, False


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _full_time(moment: datetime, *, names_zone: bool) -> str:
    """Return date and time. The zone is left out only if the reader chose it and ``names_zone`` is false."""
    zone, chosen = _reader_zone()
    local = moment.astimezone(zone or UTC)
    return texts.moment(local) + (f" {local.tzname()}" if names_zone or not chosen else "")


def full_time(moment: datetime) -> str:
    """Return date and time with the zone, for text that script does not convert to the browser's time zone."""
    return _full_time(moment, names_zone=True)


def ago(moment: datetime) -> str:
    """Return the time since as text: "just now", "2 min ago", "3 h ago", "5 d ago"; beyond 30 days the date.

    A time in the future is "in 2 min".
    """
    since = clock.now() - moment
    is_past = since >= timedelta(0)
    if abs(since) < timedelta(seconds=45):
        return _("just now") if is_past else _("in a moment")
    if abs(since) >= timedelta(days=30):
        return texts.current().day(moment.astimezone(_reader_zone()[0] or UTC))
    return _("%(span)s ago", span=span(since)) if is_past else _("in %(span)s", span=span(since))


def span(time: timedelta) -> str:
    """Return a length of time in its largest unit, at least a minute: "2 min", "3 h", "5 d"."""
    seconds = abs(time.total_seconds())
    if seconds >= 86_400:
        return _("%(days)s d", days=int(seconds // 86_400))
    if seconds >= 3_600:
        return _("%(hours)s h", hours=int(seconds // 3_600))
    return _("%(minutes)s min", minutes=max(1, int(seconds // 60)))


def day_words(day: date) -> str:
    """Return a day: "20 Nov 2026"."""
    return texts.current().day(datetime(day.year, day.month, day.day, tzinfo=UTC))


def when(moment: datetime) -> Markup:
    """Return a time as `<time>`, in the time zone the reader chose, else in UTC until script converts it.

    Its title contains the zone.
    """
    local = Markup("") if _reader_zone()[1] else Markup(' data-local="text"')
    return Markup('<time datetime="{}" title="{}"{}>{}</time>').format(
        _stamp(moment), full_time(moment), local, _full_time(moment, names_zone=False)
    )


def ago_time(moment: datetime) -> Markup:
    """Return `ago` as `<time>`, with the full date and time as its title."""
    local = Markup("") if _reader_zone()[1] else Markup(' data-local="title"')
    return Markup('<time datetime="{}" title="{}"{}>{}</time>').format(
        _stamp(moment), full_time(moment), local, ago(moment)
    )


def percent(share: float | None, digits: int = 0) -> str:
    """Return a share, 0.0–1.0, as "87 %" (no-break space), or an en dash if unknown.

    Less than all is never rounded to 100 %, nor more than nothing to 0 %: one failure in a thousand is a failure.
    """
    if share is None:
        return "–"
    least = 10.0**-digits
    shown = share * 100 if share in (0.0, 1.0) else min(max(share * 100, least), 100 - least)
    return f"{texts.number(shown, digits)}\u00a0%"


def score(value: float | None) -> str:
    """Return a score, 0.0–1.0, with two decimals, or an en dash if unknown."""
    return "–" if value is None else texts.number(value, 2)


def excerpt(text: str, length: int = 140) -> str:
    """Return the first `length` code points on one line, cut between words if possible, with an ellipsis."""
    text = str(text)
    line = " ".join(text[: length * 4].split())
    if len(line) <= length:
        return line if len(text) <= length * 4 else line + "…"
    cut = line[:length].rsplit(" ", 1)[0]
    return (cut if len(cut) > length // 2 else line[:length]).rstrip(" ,.;:") + "…"


def quoted(text: str) -> str:
    """Return what a person wrote in the quotation marks of the language."""
    return _("“%(text)s”", text=text)


def _span(match: Mapping[str, object] | tuple[int, int] | list[int]) -> tuple[int, int]:
    first, last = (match.get("start"), match.get("end")) if isinstance(match, Mapping) else match[:2]
    return (first, last) if isinstance(first, int) and isinstance(last, int) else (0, 0)


def highlight(text: str, matches: Iterable[Mapping[str, object] | tuple[int, int] | list[int]]) -> Markup:
    """Return the text, escaped, with `<mark>` around each span; many empty lines in a row are one that says so.

    Spans are code-point offsets, end exclusive, as pairs or as mappings with `start` and `end`. They may be unordered;
    overlapping spans are merged, and spans that reach outside the text are clipped.
    """
    marked: list[list[int]] = []
    for first, last in sorted(map(_span, matches)):
        start, end = max(0, first), min(len(text), last)
        if start >= end:
            continue
        if marked and start <= marked[-1][1]:
            marked[-1][1] = max(marked[-1][1], end)
        else:
            marked.append([start, end])
    parts: list[Markup] = []
    position = 0
    for start, end in marked:
        before = markup.escaped(text[position:start], starts_line=not position)
        parts += [before, Markup("<mark>{}</mark>").format(text[start:end])]
        position = end
    return Markup("").join([*parts, markup.escaped(text[position:], starts_line=not position)])


def _for_templates(translate: Callable[..., str]) -> Callable[..., Markup]:
    """Messages of templates may hold markup; their values are escaped."""

    def call(*message: str | int, **values: object) -> Markup:
        return Markup(translate(*message, **{name: markup_escape(value) for name, value in values.items()}))  # noqa: S704 - the texts are ours

    return call


def register(app: Flask) -> None:
    """Register the filters, and the globals that the macros need, with Jinja."""
    app.jinja_env.add_extension("jinja2.ext.i18n")
    app.jinja_env.newstyle_gettext = True  # type: ignore[attr-defined]  # values by name, escaped
    app.jinja_env.policies["ext.i18n.trimmed"] = True
    app.jinja_env.filters.update(
        ago=ago,
        ago_time=ago_time,
        category_name=category_name,
        excerpt=excerpt,
        highlight=highlight,
        percent=percent,
        score=score,
        state_word=state_word,
        channel=channel,
        state_phrase=state_phrase,
        state_words=state_words,
        when=when,
        in_sentence=texts.in_sentence,
        number=texts.number,
        short_number=texts.short_number,
        quoted=quoted,
        stored=texts.stored,
    )
    app.jinja_env.globals.update(
        asset=asset,
        drawing=drawing,
        icon_address=icon_address,
        reader_zone=reader_zone,
        script_modules=script_modules,
    )
    app.jinja_env.globals.update(
        _=_for_templates(texts.gettext),
        gettext=_for_templates(texts.gettext),
        ngettext=_for_templates(texts.ngettext),
        pgettext=_for_templates(texts.pgettext),
        reader_language=reader_language,
    )
