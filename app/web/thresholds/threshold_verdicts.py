"""What changed thresholds would have done, in a few sentences for each category that they change."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from app.core.texts import gettext as _
from app.core.texts import ngettext, number
from app.core.thresholds.previews import Acted, Change, Period
from app.core.vocabulary import Verb
from app.web.categories import category_name

GOOD_SHARE = 0.9
"""Of the automatic actions with a known outcome, the share that must be right for a change to be called good."""
ENOUGH = 10
"""With fewer known outcomes than this, a change is not called good: they may be chance."""

_MORE: Mapping[Verb, Callable[[int], str]] = {
    Verb.HIDE: lambda count: ngettext(
        "Would hide %(num)s more post without asking.",
        "Would hide %(num)s more posts without asking.",
        count,
    ),
    Verb.DELETE: lambda count: ngettext(
        "Would delete %(num)s more post without asking.",
        "Would delete %(num)s more posts without asking.",
        count,
    ),
    Verb.FLAG: lambda count: ngettext(
        "Would flag %(num)s more post without asking.",
        "Would flag %(num)s more posts without asking.",
        count,
    ),
    Verb.NOTIFY: lambda count: ngettext(
        "Would warn the author of %(num)s more post without asking.",
        "Would warn the authors of %(num)s more posts without asking.",
        count,
    ),
}
_FEWER: Mapping[Verb, Callable[[int], str]] = {
    Verb.HIDE: lambda count: ngettext(
        "Would hide %(num)s fewer post without asking.",
        "Would hide %(num)s fewer posts without asking.",
        count,
    ),
    Verb.DELETE: lambda count: ngettext(
        "Would delete %(num)s fewer post without asking.",
        "Would delete %(num)s fewer posts without asking.",
        count,
    ),
    Verb.FLAG: lambda count: ngettext(
        "Would flag %(num)s fewer post without asking.",
        "Would flag %(num)s fewer posts without asking.",
        count,
    ),
    Verb.NOTIFY: lambda count: ngettext(
        "Would warn the author of %(num)s fewer post without asking.",
        "Would warn the authors of %(num)s fewer posts without asking.",
        count,
    ),
}


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


def verdicts(period: Period, verbs: Mapping[str, Verb]) -> list[Verdict]:
    """The verdict on each category that the entered values would change in this period, the worst first.

    ``verbs``: what each category does without asking.
    """
    names = {
        *period.newly_acted,
        *period.no_longer_acted,
        *(name for name, change in period.categories.items() if change.before != change.after),
    }
    found = [
        _verdict(
            name,
            verbs[name],
            period.newly_acted.get(name, Acted()),
            period.no_longer_acted.get(name, Acted()),
            period.categories.get(name),
        )
        for name in sorted(names)
    ]
    if not found:
        return [
            Verdict(
                "",
                _("Nothing would have been different in the last %(days)s days.", days=period.days),
                Tone.NEUTRAL,
            )
        ]
    worst_first = [Tone.BAD, Tone.UNSURE, Tone.GOOD, Tone.NEUTRAL]
    return sorted(found, key=lambda verdict: worst_first.index(verdict.tone))


def _verdict(name: str, verb: Verb, more: Acted, fewer: Acted, change: Change | None) -> Verdict:
    parts = [*_about(more, _MORE[verb]), *_about(fewer, _FEWER[verb])]
    if change is not None:
        parts += [*_about_moved(more, fewer, change), *_about_reviews(change)]
    return Verdict(category_name(name), " ".join(parts), _tone(more, fewer))


def _about(acted: Acted, sentence: Callable[[int], str]) -> Iterator[str]:
    """What would be done without asking, and what people decided about these posts."""
    if not acted.count:
        return
    yield sentence(acted.count)
    if acted.known:
        yield ngettext(
            "Of %(known)s that people judged, %(num)s was fine.",
            "Of %(known)s that people judged, %(num)s were fine.",
            acted.wrong,
            known=number(acted.known),
        )
    else:
        yield _("People judged none of them.")


def _about_moved(more: Acted, fewer: Acted, change: Change) -> Iterator[str]:
    """About posts that are acted on without asking either way, but for another category."""
    moved = change.after.acted - change.before.acted - (more.count - fewer.count)
    if moved > 0:
        yield ngettext(
            "Would act on %(num)s post that another category acts on now.",
            "Would act on %(num)s posts that another category acts on now.",
            moved,
        )
    elif moved:
        yield ngettext(
            "Would leave %(num)s post to another category, which acts on it.",
            "Would leave %(num)s posts to another category, which acts on them.",
            -moved,
        )


def _about_reviews(change: Change) -> Iterator[str]:
    before, after = change.before.reviewed, change.after.reviewed
    if before == after:
        return
    values = {"before": number(before), "after": number(after)}
    if after > before:
        yield ngettext(
            "Would ask people about %(num)s more post (%(before)s → %(after)s).",
            "Would ask people about %(num)s more posts (%(before)s → %(after)s).",
            after - before,
            **values,
        )
    else:
        yield ngettext(
            "Would ask people about %(num)s fewer post (%(before)s → %(after)s).",
            "Would ask people about %(num)s fewer posts (%(before)s → %(after)s).",
            before - after,
            **values,
        )


def _tone(more: Acted, fewer: Acted) -> Tone:
    """Automatic actions decide: what people review is seen by people either way."""
    right, wrong = more.right + fewer.wrong, more.wrong + fewer.right
    known = right + wrong
    if not more.count and not fewer.count:
        return Tone.NEUTRAL
    if known and right / known < GOOD_SHARE:
        return Tone.BAD
    return Tone.GOOD if known >= ENOUGH else Tone.UNSURE
