"""What the home page shows to moderators: each figure with the address of exactly its rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from flask import url_for
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from app.core import clock
from app.core.models import Community
from app.core.permissions import Actor
from app.core.review import desk, queue
from app.core.review.desk import Desk
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext
from app.web import auth, charts, community_choice
from app.web.categories import category_name, in_sentence
from app.web.filter_forms import encoded, midnight, reader_day
from app.web.item import pending_undo
from app.web.item.timeline import actor_name
from app.web.list_filters import QueueForm
from app.web.moderate import open_counts, queue_rows, saved_filters
from app.web.moderate.saved_filters import FilterLink

NEWS = {
    desk.CAME: lazy_gettext("Came to review"),
    desk.ACTED: lazy_gettext("Acted on"),
    desk.KEPT: lazy_gettext("Dismissed"),
    desk.OVERTURNED: lazy_gettext("Overturned"),
}


@dataclass(frozen=True)
class Figure:
    """A number that leads to its rows; ``url`` None: there are none. ``count`` is in words: "999+"."""

    label: str
    count: str
    url: str | None


def context(
    session: Session, actor: Actor, community: Community, last_visit: datetime | None
) -> dict[str, Any]:
    """Template variables of the moderators' part of the home page. ``last_visit``: None if this is the first."""
    queues = [
        link
        for link in saved_filters.links(session, actor, community.id, {**community_choice.carried()})
        if link.saved.position is not None and "q" not in link.saved.query
    ]
    found = desk.read(
        session, actor, community.id, [QueueForm(MultiDict(link.saved.query)).wanted() for link in queues]
    )
    news = desk.news(session, actor, community.id, last_visit) if last_visit is not None else {}
    return {
        "tiles": _tiles(found),
        "overdue": _figure("", found.overdue, _queue_url(overdue="1")),
        "worst": _worst(found),
        "next_url": f"{url_for('web.review_next')}?{encoded(_next_query(found))}",
        "last_visit": last_visit,
        "news": [
            _figure(
                NEWS[state],
                count,
                _history_url(since=last_visit.isoformat() if last_visit else "", state=state.value),
            )
            for state, count in news.items()
            if count
        ],
        "week": _week(session, actor, community),
        "queues": _queues(found, queues),
        "colleagues": [
            _figure(one.name, one.items, _queue_url(claimed_by=str(one.account_id)))
            for one in found.colleagues
        ],
        "lists": [
            (_("Yours"), queue_rows.rows(session, found.my_items, actor)),
            (_("Overdue"), queue_rows.rows(session, found.overdue_items, actor)),
        ],
    }


def while_empty(session: Session, actor: Actor, community: Community) -> dict[str, Any]:
    """Template variables of the empty review queue: the last decision, and what is nearest to one."""
    last = desk.last_decision(session, actor, community.id)
    decided = queue.items(session, actor, community.id, [last.action.id]) if last is not None else []
    rows = queue_rows.rows(session, desk.nearest(session, actor, community.id), actor)
    return {
        "nearest": [(row, url_for("web.item", action_id=row.id)) for row in rows],
        "last_decision": last,
        "last_by": actor_name(last.text) if last is not None else "",
        "last_post": pending_undo.in_words(decided[0].action, 60) if decided else "",
    }


def _figure(label: str, count: int, url: str) -> Figure:
    return Figure(label, open_counts.in_words(count) or "0", url if count else None)


def _tiles(found: Desk) -> Sequence[Figure]:
    return [
        _figure(_("Yours"), found.mine, _queue_url(claimed_by="me")),
        _figure(_("Unclaimed"), found.unclaimed, _queue_url(claimed_by="nobody")),
        _figure(_("Overdue"), found.overdue, _queue_url(overdue="1")),
        _figure(_("Overturned in 7 days"), found.overturned, url_for("web.notices_page", show="overturned")),
    ]


def _worst(found: Desk) -> dict[str, Any] | None:
    """The overdue category of the highest severity, in words, and the address of its overdue posts."""
    if found.worst is None:
        return None
    name, count = found.worst
    return {
        "name": category_name(name),
        "count": count,
        "are_all": count == found.overdue,
        "words": in_sentence(name, count),
        "url": _queue_url(overdue="1", category=name),
    }


def _next_query(found: Desk) -> dict[str, str]:
    """The filters of the post to review first: the oldest overdue one of the worst category."""
    query = community_choice.carried()
    if found.overdue:
        query |= {"overdue": "1", "sort": "oldest"}
    if found.worst is not None:
        query["category"] = found.worst[0]
    return query


def _week(session: Session, actor: Actor, community: Community) -> Sequence[charts.DayBar]:
    """What the reader did in the last seven days."""
    today = reader_day(clock.now())
    days = [today - timedelta(days=back) for back in range(6, -1, -1)]
    midnights = [midnight(day) for day in [*days, today + timedelta(days=1)]]
    counts = desk.week(session, actor, community.id, midnights)
    return charts.week(
        [
            (day, count, _history_url(**{"mine": "1", "from": day.isoformat(), "to": day.isoformat()}))
            for day, count in zip(days, counts, strict=True)
        ]
    )


def _queues(found: Desk, links: Sequence[FilterLink]) -> Sequence[Figure]:
    counts = open_counts.in_navigation(auth.current_community())
    lists = ((lazy_gettext("Review queue"), "web.review"), (lazy_gettext("Second look"), "web.second_look"))
    carried = community_choice.carried()
    return [
        *(Figure(label, counts[view][0] or "0", url_for(view, **carried)) for label, view in lists),
        *(
            Figure(link.saved.name, open_counts.in_words(count) or "0", link.url)
            for link, count in zip(links, found.queues, strict=True)
        ),
    ]


def _queue_url(**filters: str) -> str:
    return f"{url_for('web.review')}?{encoded({**community_choice.carried(), **filters})}"


def _history_url(**filters: str) -> str:
    return f"{url_for('web.history_page')}?{encoded({**community_choice.carried(), **filters})}"
