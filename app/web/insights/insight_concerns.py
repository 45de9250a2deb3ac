"""What needs attention, in sentences, each with a link to the rows behind it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from app.core import clock
from app.core.insights.concerns import Concern, Matter
from app.core.insights.trend_figures import Overturned, Trends
from app.core.review.conditions import UNCONFIRMED_AFTER
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
        f"The webhook to {_host(matter.name)} is disabled because it failed too often: it gets nothing until "
        "an operator enables it.",
        "Look at the webhook",
        links.webhook(matter.webhook_id),
    )


def _webhook_failing(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    return Sentence(
        "wait",
        "triangle-alert",
        f"The webhook to {_host(matter.name)} is failing{_since(matter)}: {matter.count:,} attempts in a row.",
        "Look at the webhook",
        links.webhook(matter.webhook_id),
    )


def _overdue(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    are = "review is" if matter.count == 1 else "reviews are"
    return Sentence(
        "bad",
        "clock",
        f"{in_words(matter.count)} {are} past the target time of {_their(matter.count)} category, "
        f"{'' if matter.count == 1 else 'the oldest '}by {_span(matter)}.",
        "Show what is overdue",
        links.queue(overdue="1"),
    )


def _unconfirmed(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    limit = clock.now() - UNCONFIRMED_AFTER
    return Sentence(
        "wait",
        "hourglass",
        f"{in_words(matter.count)} {'decision was' if matter.count == 1 else 'decisions were'} sent more than "
        f"{span(UNCONFIRMED_AFTER)} ago and the platform has not confirmed {'it' if matter.count == 1 else 'them'}; "
        f"the oldest was decided {_span(matter)} ago.",
        "Show what was sent",
        links.history(
            ActionState.PROPOSED.value,
            first=reader_day(matter.since or limit),
            last=reader_day(limit),
        ),
    )


def _paused(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    return Sentence(
        "wait",
        "pause",
        f"Automatic actions are paused{_since(matter)}, by {matter.name}. What would act by itself goes to review.",
        "Resume them" if links.sees_community else "Show what waits",
        links.paused(),
    )


def _category(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    return Sentence(
        "again",
        "undo-2",
        f"{category_name(matter.name)} is overturned more than {_compared_with(matter, trends, 'categories')}",
        "Show what was overturned",
        links.overturned(category=matter.name),
    )


def _classifier(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    url = links.classifiers()
    return Sentence(
        "again",
        "undo-2",
        f"What {matter.name} led to is overturned more than {_compared_with(matter, trends, 'classifiers')}",
        "Look at the classifiers" if url else "Show what was overturned",
        url or links.overturned(),
    )


def _backlog(matter: Matter, trends: Trends, links: RowLinks) -> Sentence:
    return Sentence(
        "wait",
        "trending-up",
        f"The backlog grew: {matter.count:,} reviews waited at the end of this period, {matter.before:,} when it "
        "began.",
        "Show what waits",
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


def _compared_with(matter: Matter, trends: Trends, others: str) -> str:
    rate, compared = matter.rate, matter.compared
    if rate is None or compared is None:
        return f"other {others}."
    whose = before_words(trends) if matter.is_before else f"the other {others}"
    return f"{'in ' if matter.is_before else ''}{whose}: {_of(rate)}, against {_of(compared)}."


def _of(rate: Overturned) -> str:
    return f"{percent(rate.share)} of {rate.acted:,} actions"


def _their(count: int) -> str:
    return "its" if count == 1 else "their"


def _since(matter: Matter) -> str:
    return "" if matter.since is None else f" for {_span(matter)}"


def _span(matter: Matter) -> str:
    return span(clock.now() - matter.since) if matter.since else span(timedelta())


def _host(url: str) -> str:
    return urlsplit(url).netloc or url
