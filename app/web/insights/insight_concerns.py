"""What needs attention, in sentences, each with a link to the rows behind it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from app.core import clock
from app.core.insights.concerns import Concern, Matter
from app.core.insights.trend_figures import Overturned, Trends
from app.core.review.conditions import UNCONFIRMED_AFTER
from app.core.texts import gettext as _
from app.core.texts import ngettext, number
from app.core.vocabulary import ActionState
from app.web.categories import category_name
from app.web.filter_forms import reader_day
from app.web.filters import percent, span
from app.web.insights.insight_cells import RowLinks
from app.web.insights.insight_groups import before_words
from app.web.moderate.open_counts import in_words


@dataclass(frozen=True)
class Sentence:
    """One matter: ``tone`` and ``icon`` of its sign, the sentence, and the words and address of its link."""

    tone: str
    icon: str
    text: str
    link: str
    url: str


def sentences(matters: Sequence[Matter], trends: Trends, links: RowLinks) -> list[Sentence]:
    """Return one sentence for each matter, in the same order."""
    return [_WORDS[matter.concern](matter, trends, links) for matter in matters]


def _webhook_disabled(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    return Sentence(
        "bad",
        "circle-x",
        _(
            "The webhook to %(host)s is disabled because it failed too often: it gets nothing until an operator "
            "enables it.",
            host=_host(matter.name),
        ),
        _("Look at the webhook"),
        links.webhook(matter.webhook_id),
    )


def _webhook_failing(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    if matter.since is None:
        text = ngettext(
            "The webhook to %(host)s is failing: %(num)s attempt.",
            "The webhook to %(host)s is failing: %(num)s attempts in a row.",
            matter.count,
            host=_host(matter.name),
        )
    else:
        text = ngettext(
            "The webhook to %(host)s is failing for %(span)s: %(num)s attempt.",
            "The webhook to %(host)s is failing for %(span)s: %(num)s attempts in a row.",
            matter.count,
            host=_host(matter.name),
            span=_span(matter),
        )
    return Sentence(
        "wait", "triangle-alert", text, _("Look at the webhook"), links.webhook(matter.webhook_id)
    )


def _overdue(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    return Sentence(
        "bad",
        "clock",
        ngettext(
            "%(count)s review is past the target time of its category, by %(span)s.",
            "%(count)s reviews are past the target time of their category, the oldest by %(span)s.",
            matter.count,
            count=in_words(matter.count),
            span=_span(matter),
        ),
        _("Show what is overdue"),
        links.queue(overdue="1"),
    )


def _unconfirmed(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    limit = clock.now() - UNCONFIRMED_AFTER
    return Sentence(
        "wait",
        "hourglass",
        ngettext(
            "%(count)s decision was sent more than %(limit)s ago and the platform has not confirmed it; it was decided "
            "%(span)s ago.",
            "%(count)s decisions were sent more than %(limit)s ago and the platform has not confirmed them; the oldest "
            "was decided %(span)s ago.",
            matter.count,
            count=in_words(matter.count),
            limit=span(UNCONFIRMED_AFTER),
            span=_span(matter),
        ),
        _("Show what was sent"),
        links.history(
            ActionState.PROPOSED.value,
            first=reader_day(matter.since or limit),
            last=reader_day(limit),
        ),
    )


def _paused(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    if matter.since is None:
        text = _(
            "Automatic actions are paused, by %(name)s. What would act by itself goes to review.",
            name=matter.name,
        )
    else:
        text = _(
            "Automatic actions are paused for %(span)s, by %(name)s. What would act by itself goes to review.",
            span=_span(matter),
            name=matter.name,
        )
    return Sentence(
        "wait",
        "pause",
        text,
        _("Resume them") if links.sees_community else _("Show what waits"),
        links.paused(),
    )


def _category(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    rates = _rates(matter)
    category = category_name(matter.name)
    if rates is None:
        text = _("%(category)s is overturned more than other categories.", category=category)
    elif matter.is_before:
        text = _(
            "%(category)s is overturned more than %(before)s: %(now)s, against %(then)s.",
            category=category,
            before=before_words(trends),
            **rates,
        )
    else:
        text = _(
            "%(category)s is overturned more than the other categories: %(now)s, against %(then)s.",
            category=category,
            **rates,
        )
    return Sentence(
        "again", "undo-2", text, _("Show what was overturned"), links.overturned(category=matter.name)
    )


def _classifier(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    url, rates = links.classifiers(), _rates(matter)
    if rates is None:
        text = _(
            "What %(classifier)s led to is overturned more than other classifiers.", classifier=matter.name
        )
    elif matter.is_before:
        text = _(
            "What %(classifier)s led to is overturned more than %(before)s: %(now)s, against %(then)s.",
            classifier=matter.name,
            before=before_words(trends),
            **rates,
        )
    else:
        text = _(
            "What %(classifier)s led to is overturned more than the other classifiers: %(now)s, against %(then)s.",
            classifier=matter.name,
            **rates,
        )
    return Sentence(
        "again",
        "undo-2",
        text,
        _("Look at the classifiers") if url else _("Show what was overturned"),
        url or links.overturned(),
    )


def _backlog(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    return Sentence(
        "wait",
        "trending-up",
        ngettext(
            "The backlog grew: %(num)s review waited at the end of this period, %(before)s when it began.",
            "The backlog grew: %(num)s reviews waited at the end of this period, %(before)s when it began.",
            matter.count,
            before=number(matter.before),
        ),
        _("Show what waits"),
        links.queue(sort="oldest"),
    )


_WORDS: Mapping[Concern, Callable[[Matter, Trends, RowLinks], Sentence]] = {
    Concern.WEBHOOK_DISABLED: _webhook_disabled,
    Concern.OVERDUE: _overdue,
    Concern.UNCONFIRMED: _unconfirmed,
    Concern.WEBHOOK_FAILING: _webhook_failing,
    Concern.PAUSED: _paused,
    Concern.CATEGORY: _category,
    Concern.CLASSIFIER: _classifier,
    Concern.BACKLOG: _backlog,
}


def _rates(matter: Matter) -> Mapping[str, str] | None:
    """Return the rate of the matter and the one it is compared with, in words."""
    if matter.rate is None or matter.compared is None:
        return None
    return {"now": _of(matter.rate), "then": _of(matter.compared)}


def _of(rate: Overturned) -> str:
    return ngettext(
        "%(share)s of %(num)s action", "%(share)s of %(num)s actions", rate.acted, share=percent(rate.share)
    )


def _span(matter: Matter) -> str:
    return span(clock.now() - matter.since) if matter.since else span(timedelta())


def _host(url: str) -> str:
    return urlsplit(url).netloc or url
