"""What changed thresholds would have done, in one sentence for each category that they change."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.core.thresholds.previews import Acted, Change, Period
from app.web.categories import category_name

GOOD_SHARE = 0.9
"""Of the automatic actions with a known outcome, the share that must be right for a change to be called good."""
ENOUGH = 10
"""With fewer known outcomes than this, a change is not called good: they may be chance."""

_UNKNOWN = "no outcome is known"


class Tone(StrEnum):
    """How a verdict looks; the names are those of the ``notice`` macro."""

    GOOD = "good"
    BAD = "bad"
    UNSURE = "wait"
    NEUTRAL = "off"


_ICONS: Mapping[Tone, str] = {
    Tone.GOOD: "circle-check",
    Tone.BAD: "triangle-alert",
    Tone.UNSURE: "info",
    Tone.NEUTRAL: "info",
}


@dataclass(frozen=True)
class Verdict:
    """A sentence about one category; ``title`` is empty if nothing would change."""

    title: str
    sentence: str
    tone: Tone

    @property
    def icon(self) -> str:
        return _ICONS[self.tone]


def verdicts(period: Period) -> list[Verdict]:
    """The verdict on each category that the entered values would change in this period, the worst first."""
    names = {
        *period.newly_acted,
        *period.no_longer_acted,
        *(name for name, change in period.categories.items() if change.before != change.after),
    }
    found = [
        _verdict(
            name,
            period.newly_acted.get(name, Acted()),
            period.no_longer_acted.get(name, Acted()),
            period.categories.get(name),
        )
        for name in sorted(names)
    ]
    if not found:
        return [
            Verdict("", f"Nothing would have been different in the last {period.days} days.", Tone.NEUTRAL)
        ]
    worst_first = [Tone.BAD, Tone.UNSURE, Tone.GOOD, Tone.NEUTRAL]
    return sorted(found, key=lambda verdict: worst_first.index(verdict.tone))


def _verdict(name: str, more: Acted, fewer: Acted, change: Change | None) -> Verdict:
    parts = [*_about_more(more), *_about_fewer(fewer)]
    if change is not None:
        parts += [*_about_moved(more, fewer, change), *_about_reviews(change)]
    return Verdict(category_name(name), "; ".join(parts) + ".", _tone(more, fewer))


def _about_more(more: Acted) -> Iterator[str]:
    if not more.count:
        return
    themselves = "itself" if more.count == 1 else "themselves"
    yield f"{more.count:,} more {_posts(more.count)} acted on by {themselves}"
    if more.known:
        yield f"{more.wrong:,} of {more.known:,} known {_were('one', more.known)} wrong"
    else:
        yield _UNKNOWN


def _about_fewer(fewer: Acted) -> Iterator[str]:
    if not fewer.count:
        return
    themselves = "itself" if fewer.count == 1 else "themselves"
    yield f"{fewer.count:,} fewer {_posts(fewer.count)} acted on by {themselves}"
    if fewer.known:
        yield f"to act was right for {fewer.right:,} of {fewer.known:,} known {_ones(fewer.known)}"
    else:
        yield _UNKNOWN


def _about_moved(more: Acted, fewer: Acted, change: Change) -> Iterator[str]:
    """About posts that are acted on by themselves either way, but for another category."""
    moved = change.after.acted - change.before.acted - (more.count - fewer.count)
    if moved:
        count = abs(moved)
        themselves = "itself" if count == 1 else "themselves"
        whose = "for this category instead of another" if moved > 0 else "for another category instead"
        yield f"{count:,} {_posts(count)} acted on by {themselves} {whose}"


def _about_reviews(change: Change) -> Iterator[str]:
    before, after = change.before.reviewed, change.after.reviewed
    if before != after:
        word = "more" if after > before else "fewer"
        yield f"{abs(after - before):,} {word} put before people ({before:,} → {after:,})"


def _tone(more: Acted, fewer: Acted) -> Tone:
    """Automatic actions decide: what people review is seen by people either way."""
    right, wrong = more.right + fewer.wrong, more.wrong + fewer.right
    known = right + wrong
    if not more.count and not fewer.count:
        return Tone.NEUTRAL
    if known and right / known < GOOD_SHARE:
        return Tone.BAD
    return Tone.GOOD if known >= ENOUGH else Tone.UNSURE


def _posts(count: int) -> str:
    return "post" if count == 1 else "posts"


def _ones(count: int) -> str:
    return "one" if count == 1 else "ones"


def _were(noun: str, count: int) -> str:
    return f"{noun} was" if count == 1 else f"{noun}s were"
