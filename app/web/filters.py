"""Template filters: times, shares, excerpts, marked passages and states as text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from flask import Flask, g, has_app_context
from markupsafe import Markup

from app.core import clock
from app.web import markup, reader_zone
from app.web.icons import asset, icon_address, script_modules


@dataclass(frozen=True)
class StateWords:
    """How a state is shown: a word, an icon, and a colour class (`wait review good bad again off`)."""

    word: str
    icon: str
    tone: str


STATES: Mapping[str, StateWords] = {
    # Moderation actions.
    "proposed": StateWords("Waiting for platform", "clock", "wait"),
    "under_review": StateWords("Community is reviewing", "messages-square", "review"),
    "applied": StateWords("Applied", "circle-check", "good"),
    "retro_review": StateWords("Second look", "scan-eye", "again"),
    "confirmed": StateWords("Confirmed", "badge-check", "good"),
    "overturned": StateWords("Overturned", "undo-2", "bad"),
    "scan_exempt": StateWords("Won't be rescanned", "shield-check", "off"),
    "dismissed": StateWords("Dismissed", "circle-minus", "off"),
    # What undoes an overturned action that is no hide (``Action.undo_progress``).
    "restore_proposed": StateWords("Restore proposed", "clock", "wait"),
    "restore_done": StateWords("Restored", "undo-2", "good"),
    "restore_impossible": StateWords("Cannot be restored", "circle-x", "bad"),
    "unsilence_proposed": StateWords("End of silence proposed", "clock", "wait"),
    "unsilence_done": StateWords("Silence ended", "undo-2", "good"),
    "unsilence_impossible": StateWords("Silence cannot be ended", "circle-x", "bad"),
    "retract_proposed": StateWords("Revocation proposed", "clock", "wait"),
    "retract_done": StateWords("Warning revoked", "undo-2", "good"),
    "retract_impossible": StateWords("Warning cannot be revoked", "circle-x", "bad"),
    "action.undo_answered": StateWords("Undo answered", "undo-2", "off"),
    "action.until_changed": StateWords("End of silence changed", "clock", "off"),
    "action.ended": StateWords("Silence ended", "circle-check", "off"),
    "action.strike_added": StateWords("Strike added", "flag", "bad"),
    "action.strike_lifted": StateWords("Strike lifted", "undo-2", "off"),
    "action.strike_step_observed": StateWords("Strikes reached a step", "scan-eye", "off"),
    # Moderators' decisions that changed nothing, or nothing yet.
    "decision.held": StateWords("Decision held", "hourglass", "wait"),
    "decision.undone": StateWords("Decision undone", "undo-2", "off"),
    "hold.lapsed": StateWords("Not carried out", "triangle-alert", "bad"),
    # Requests.
    "pending": StateWords("Waiting to be scored", "hourglass", "wait"),
    "in_progress": StateWords("In progress", "loader", "review"),
    "completed": StateWords("Completed", "circle-check", "good"),
    "failed": StateWords("Scoring failed", "triangle-alert", "bad"),
    # Notes.
    "needs_more_ratings": StateWords("Needs more ratings", "circle-dashed", "review"),
    "currently_rated_helpful": StateWords("Currently rated helpful", "thumbs-up", "good"),
    "currently_rated_not_helpful": StateWords("Currently rated not helpful", "thumbs-down", "off"),
    # Deliveries, keys and accounts.
    "held": StateWords("Can be undone", "undo-2", "wait"),
    "due": StateWords("Waiting to be sent", "clock", "wait"),
    "delivered": StateWords("Delivered", "circle-check", "good"),
    "dead": StateWords("Failed", "circle-x", "bad"),
    "cancelled": StateWords("Cancelled", "circle-minus", "off"),
    "parked": StateWords("Parked after a restore", "hourglass", "wait"),
    "disabled": StateWords("Disabled", "circle-minus", "off"),
    "active": StateWords("Active", "circle-check", "good"),
    "revoked": StateWords("Revoked", "circle-x", "bad"),
    "expired": StateWords("Expired", "hourglass", "off"),
}


def state_words(state: str) -> StateWords:
    """Return how to show a state of any kind of object, in upper or lower case. An unknown state is shown as it is."""
    known = STATES.get(str(state).lower())
    return known or StateWords(str(state).replace("_", " ").capitalize(), "circle-dashed", "off")


def state_word(state: str) -> str:
    """Return only the word for a state, for sentences and `<option>`s."""
    return state_words(state).word


def sentence_end(name: str) -> str:
    """A name at the end of a sentence: one that ends in a full stop gets no second."""
    return name if name.endswith((".", "!", "?")) else f"{name}."


def state_phrase(state: str) -> str:
    """Return the state as it follows "it is" in a sentence, for example "sent, not confirmed by the platform"."""
    return _PHRASES.get(str(state).lower()) or state_word(state).lower()


_PHRASES: Mapping[str, str] = {
    "proposed": "sent, not confirmed by the platform",
    "under_review": "under review by the community",
    "retro_review": "in its second look",
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
    return f"{local.day} {local:%b %Y, %H:%M}" + (f" {local.tzname()}" if names_zone or not chosen else "")


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
        return "just now" if is_past else "in a moment"
    if abs(since) >= timedelta(days=30):
        local = moment.astimezone(_reader_zone()[0] or UTC)
        return f"{local.day} {local:%b %Y}"
    return f"{span(since)} ago" if is_past else f"in {span(since)}"


def span(time: timedelta) -> str:
    """Return a length of time in its largest unit, at least a minute: "2 min", "3 h", "5 d"."""
    seconds = abs(time.total_seconds())
    for unit, size in (("d", 86_400), ("h", 3_600)):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{max(1, int(seconds // 60))} min"


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
    return f"{shown:.{digits}f}\u00a0%"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun: "1 post", "1,200 posts". ``plural``: where the noun does not just take an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def score(value: float | None) -> str:
    """Return a score, 0.0–1.0, with two decimals, or an en dash if unknown."""
    return "–" if value is None else f"{value:.2f}"


def excerpt(text: str, length: int = 140) -> str:
    """Return the first `length` code points on one line, cut between words if possible, with an ellipsis."""
    line = " ".join(text[: length * 4].split())
    if len(line) <= length:
        return line if len(text) <= length * 4 else line + "…"
    cut = line[:length].rsplit(" ", 1)[0]
    return (cut if len(cut) > length // 2 else line[:length]).rstrip(" ,.;:") + "…"


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


def register(app: Flask) -> None:
    """Register the filters, and the globals that the macros need, with Jinja."""
    app.jinja_env.filters.update(
        ago=ago,
        ago_time=ago_time,
        excerpt=excerpt,
        highlight=highlight,
        percent=percent,
        score=score,
        state_word=state_word,
        channel=channel,
        state_words=state_words,
        when=when,
    )
    app.jinja_env.globals.update(
        asset=asset, icon_address=icon_address, reader_zone=reader_zone, script_modules=script_modules
    )
