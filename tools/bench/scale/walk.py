"""Calls every page and interface of a filled database, and counts time, statements and blocks."""

import json
import math
import re
import statistics
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import count
from typing import Any
from urllib.parse import quote

import sqlalchemy as sa
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy.engine import Connection
from werkzeug.test import TestResponse

from app.core import clock
from app.core.models import Account, Action, Delivery, HistoryEntry, Profile, Request, Webhook
from app.core.people import sessions
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import draft_of
from app.core.vocabulary import ActionState
from app.wiring import Wiring
from tests.cast import COMMUNITY, PLATFORM, Cast, Person
from tools.bench.scale.fill import RARE, REQUESTERS

TIMES = 21
WARM_UP = 2
READS = ("SELECT", "WITH")
Send = Callable[[], TestResponse]


@dataclass
class Recorder:
    """The statements that the engine was sent while ``recording``."""

    engine: sa.Engine
    sent: list[tuple[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        sa.event.listen(self.engine, "before_cursor_execute", self._note)

    def _note(self, _connection: Any, _cursor: Any, statement: str, parameters: Any, *_rest: Any) -> None:
        self.sent.append((statement, parameters))

    @contextmanager
    def recording(self) -> Iterator[list[tuple[str, Any]]]:
        self.sent = []
        yield self.sent


@dataclass(frozen=True)
class Figures:
    """One page or call: milliseconds, statements, and the most blocks one call touched (None on SQLite)."""

    name: str
    p50: float
    p95: float
    statements: int
    blocks: int | None
    worst: str = ""


def measure(name: str, calls: Sequence[tuple[Recorder, Send]]) -> list[Figures]:
    """Make the same call of several databases, by turns, so that what else the machine does falls on all of them.

    Raises:
        SystemExit: it was refused.
    """
    times: list[list[float]] = [[] for _ in calls]
    for turn in range(WARM_UP + TIMES):
        for (_, send), of_one in zip(calls, times, strict=True):
            begin = time.perf_counter()
            answer = send()
            if turn >= WARM_UP:
                of_one.append((time.perf_counter() - begin) * 1000)
            if answer.status_code >= 400:
                raise SystemExit(f"{name} answered {answer.status_code}: {answer.text[:300]}")
    return [_figures(name, *call, sorted(of_one)) for call, of_one in zip(calls, times, strict=True)]


def _figures(name: str, recorder: Recorder, send: Send, times: Sequence[float]) -> Figures:
    """The figures of one database; ``times`` are in order. One call more is made to see its statements."""
    with recorder.recording() as sent:
        send()
        statements = list(sent)
    blocks, worst = None, ""
    if recorder.engine.dialect.name == "postgresql":
        blocks, worst = counted_blocks(recorder.engine, statements)
    p95 = times[math.ceil(0.95 * len(times)) - 1]
    return Figures(name, statistics.median(times), p95, len(statements), blocks, worst)


def counted_blocks(engine: sa.Engine, statements: Sequence[tuple[str, Any]]) -> tuple[int, str]:
    """The blocks that these statements touch together, and the one that touches most, with its number."""
    total, most, worst = 0, 0, ""
    with engine.connect() as connection:
        for statement, parameters in statements:
            if not statement.lstrip().upper().startswith(READS):
                continue
            blocks = _blocks(connection, statement, parameters)
            total += blocks
            if blocks > most:
                most, worst = blocks, statement
        connection.rollback()
    return total, worst


def _blocks(connection: Connection, statement: str, parameters: Any) -> int:
    explained = connection.exec_driver_sql(
        f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", parameters
    ).scalar_one()
    plan = (json.loads(explained) if isinstance(explained, str) else explained)[0]["Plan"]
    return int(plan["Shared Hit Blocks"]) + int(plan["Shared Read Blocks"])


def visits(app: Flask, wiring: Wiring, cast: Cast, requests: int) -> dict[str, Send]:
    """What to call, by name: the pages of an admin and of a rater, and the calls of an integration.

    The addresses are of things that are in this database, which has so many ``requests``.
    """
    found = _Found.read(wiring, cast.community_id)
    admin, rater = _signed_in(app, wiring, cast.admin), _signed_in(app, wiring, cast.rater)
    client = app.test_client()
    metrics = {"Authorization": f"Bearer {cast.metrics_key}"}
    return {
        **{name: partial(admin.get, path) for name, path in _pages(found).items()},
        "what-if": _what_if(admin, wiring, cast),
        **{f"{name}, rater": partial(rater.get, path) for name, path in _pages_of_raters(found).items()},
        **{
            name: partial(client.get, path, headers=cast.headers)
            for name, path in _calls(found, cast, requests).items()
        },
        "metrics": partial(client.get, "/metrics", headers=metrics),
        "API POST request": _posting_requests(client, cast),
        "API POST rating": _posting_ratings(client, cast, found),
    }


@dataclass(frozen=True)
class _Found:
    """Things of the community, as they stand in addresses."""

    open_item: uuid.UUID
    done: uuid.UUID
    entry: uuid.UUID
    number: int
    delivery: uuid.UUID
    endpoint: uuid.UUID
    post: str
    note: uuid.UUID
    halfway: uuid.UUID
    drawn: uuid.UUID

    @classmethod
    def read(cls, wiring: Wiring, community_id: uuid.UUID) -> "_Found":
        """The newest of each."""
        with wiring.database.reading() as session:

            def newest(model: Any, *where: Any, column: str = "id", by: str = "created_at") -> Any:
                order = getattr(model, by).desc()
                return session.scalars(
                    sa.select(getattr(model, column))
                    .where(model.community_id == community_id, *where)
                    .order_by(order)
                    .limit(1)
                ).one()

            is_open = Action.action_state == ActionState.UNDER_REVIEW
            return cls(
                open_item=newest(Action, is_open),
                done=newest(Action, Action.action_state == ActionState.CONFIRMED),
                entry=newest(HistoryEntry, HistoryEntry.object_type == "action", by="number"),
                number=newest(HistoryEntry, column="number", by="number"),
                delivery=newest(Delivery),
                endpoint=newest(Webhook),
                post=newest(Request, column="request_id"),
                note=newest(Action, is_open, column="note_id"),
                halfway=session.scalars(_halfway(community_id)).one(),
                drawn=session.scalars(
                    sa.select(Profile.id).where(
                        Profile.platform == "bench", Profile.platform_user_id == "member-0"
                    )
                ).one(),
            )


def _halfway(community_id: uuid.UUID) -> sa.Select[uuid.UUID]:
    """The action in the middle of the queue."""
    queued = sa.select(Action.id).where(
        Action.community_id == community_id, Action.action_state == ActionState.UNDER_REVIEW
    )
    half = sa.select(sa.func.count() / 2).select_from(queued.subquery()).scalar_subquery()
    return queued.order_by(Action.created_at, Action.id).offset(half).limit(1)


def _signed_in(app: Flask, wiring: Wiring, person: Person) -> FlaskClient:
    with wiring.database.writing() as session:
        account = session.get_one(Account, person.account_id)
        account.content_warnings = False
        token = sessions.begin(session, account, "bench")
    client = app.test_client()
    client.set_cookie("bridgenote", token)
    return client


_NOBODY = {"type": "delete", "category": "none", "language": "xx", "author": "nobody", "actor": "nobody"}
"""For each filter of the history a value without a match."""


def _pages(found: _Found) -> dict[str, str]:
    since = quote(clock.iso(clock.now() - timedelta(minutes=5)))
    return {
        "queue, oldest": "/review?sort=oldest",
        "queue, score": "/review?sort=score",
        "queue, category": "/review?category=spam",
        "queue, search": "/review?q=harbour+quay",
        "queue, ratings": "/review?sort=ratings",
        "queue, ratings, half-way": f"/review?sort=ratings&after={found.halfway}",
        "queue, half-way": f"/review?after={found.halfway}",
        **{
            f"queue, no {name}": f"/review?{name}=none"
            for name in ("author", "channel", "language", "category")
        },
        **{f"queue, search {word}": f"/review?q={word}" for word in (*RARE, "zeppelin")},
        "queue, id": f"/review?q={found.post}",
        "queue, what is new": f"/review/new-count?since={since}&shown=0",
        "item, moderator": f"/review/{found.open_item}",
        "item, decided": f"/review/{found.done}",
        "second look": "/second-look",
        "history": "/history",
        "history, deep": f"/history?older={found.number // 3}",
        "history, state": "/history?state=dismissed",
        "history, category": "/history?category=spam",
        "history, author": "/history?author=author-7",
        "history, actor": "/history?actor=Moderator",
        "history, week": "/history?from=2026-06-01&to=2026-06-07",
        "history, language": "/history?language=de",
        "history, search": "/history?q=harbour+quay",
        "history, type": "/history?type=hide",
        **{f"history, no {name}": f"/history?{name}={value}" for name, value in _NOBODY.items()},
        "history, no type and language": "/history?type=delete&language=de",
        **{f"history, search {word}": f"/history?q={word}" for word in (*RARE, "zeppelin")},
        "history, search reasons": "/history?q=the+council",
        "history, search reasons and category": "/history?q=the+council&category=spam",
        "history, search, deep": f"/history?q=the+council&older={found.number // 3}",
        "history, CSV of a rare word": "/history.csv?q=meteor",
        "history, id": f"/history?q={found.post}",
        "history entry": f"/history/{found.entry}",
        "history, settings": "/history/settings",
        "insights 7": "/insights?days=7",
        "insights 90": "/insights?days=90",
        "thresholds": "/thresholds",
        "classifiers": "/classifiers",
        "webhooks": "/endpoints",
        "webhook": f"/endpoints/{found.endpoint}",
        "deliveries": "/deliveries",
        "deliveries, dead": "/deliveries?state=dead",
        "deliveries, event": "/deliveries?event=note.status_changed",
        "deliveries, request": f"/deliveries?q={found.post}",
        "delivery": f"/deliveries/{found.delivery}",
        "replay": "/deliveries/replay?which=all",
        "reasons": "/reasons",
        "community": "/community",
        "overturns": "/community/overturns",
        "people": "/people",
        "people, search": "/people?q=Member+77",
        "people, nobody": "/people?q=zeppelin",
        "datasets": "/datasets",
        "datasets, deep": "/datasets?page=200",
        "datasets, none": "/datasets?q=zeppelin",
        "datasets, one": "/datasets?dataset=checks-0&rating=false",
    }


def _pages_of_raters(found: _Found) -> dict[str, str]:
    return {
        "help needed": "/help-needed",
        "note": f"/notes/{found.note}",
        "my impact": "/me",
        "my data": "/settings/my-data",
    }


def _calls(found: _Found, cast: Cast, requests: int) -> dict[str, str]:
    """The interface's lists and documents; the deep page is two thirds of the way."""
    deep = max(1, int(requests * 0.6 * 0.66) // 100)
    root = "/api/public/v1"
    return {
        "API requests": f"{root}/requests?page[size]=100",
        "API requests, deep": f"{root}/requests?page[size]=100&page[number]={deep}",
        "API requests, status": f"{root}/requests?filter[status]=COMPLETED&page[size]=100",
        "API notes": f"{root}/notes?page[size]=100",
        "API actions": f"{root}/moderation-actions?page[size]=100",
        "API actions, state": f"{root}/moderation-actions?filter[action_state]=confirmed&page[size]=100",
        "API decisions": f"{root}/requests?status=decided&since=2026-11-01T00:00:00Z&page[size]=100",
        **{
            f"API requests by {name}": f"{root}/requests?filter[requested_by]={name}&page[size]=100"
            for name in ("bench", *REQUESTERS, "nobody")
        },
        "API requests by bench, deep": (
            f"{root}/requests?filter[requested_by]=bench&page[size]=100&page[number]={deep}"
        ),
        "API requests, dataset": f"{root}/requests?filter[dataset_name]=checks&page[size]=100",
        "API requests, no dataset": f"{root}/requests?filter[dataset_name]=none",
        "API requests, no item": f"{root}/requests?filter[dataset_item_id]=none",
        "API notes, deep": f"{root}/notes?page[size]=100&page[number]={max(1, deep // 6)}",
        "API notes, no message": f"{root}/notes?filter[platform_message_id]=none",
        "API notes, no author": f"{root}/notes?filter[author_id]=nobody",
        "API notes, drawn rater": f"{root}/notes?filter[drawn_rater_id]={found.drawn}",
        "API notes, nobody drawn": f"{root}/notes?filter[drawn_rater_id]=nobody",
        "API actions, tier": f"{root}/moderation-actions?filter[action_tier]=tier_2_consensus&page[size]=100",
        "API actions, no tier": f"{root}/moderation-actions?filter[action_tier]=tier_1_immediate",
        "API actions, tier and state": (
            f"{root}/moderation-actions?filter[action_tier]=tier_2_consensus&filter[action_state]=confirmed"
        ),
        "API actions, deep": f"{root}/moderation-actions?page[size]=100&page[number]={max(1, deep // 6)}",
        "API request": f"{root}/requests/{found.post}",
        "API note": f"{root}/notes/{found.note}",
        "API ratings of a note": f"{root}/notes/{found.note}/ratings",
        "API scoring analysis": f"/api/v2/community-servers/{cast.community_id}/scoring-analysis",
    }


def _what_if(admin: FlaskClient, wiring: Wiring, cast: Cast) -> Send:
    """The preview of Thresholds, with each value a little lower."""
    with wiring.database.reading() as session:
        policy = threshold_sets.current(session, cast.community_id)
        drafts = [draft_of(category) for category in policy.categories]
    typed = {"version": str(policy.version), "preview": "1"}
    for draft in drafts:
        typed |= {
            f"{draft.name}_tier2": f"{draft.tier2 * 0.9:.4f}",
            f"{draft.name}_tier1": "" if draft.tier1 is None else f"{draft.tier1 * 0.95:.4f}",
            f"{draft.name}_tier2_action": draft.tier2_action.value,
            f"{draft.name}_tier1_action": draft.tier1_action.value,
        } | ({f"{draft.name}_enabled": "y"} if draft.enabled else {})
    token = re.search(r'name="csrf_token" value="([^"]+)"', admin.get("/communities").text)
    if token is None:
        raise SystemExit("no page has a form")
    return partial(admin.post, "/thresholds", data={"csrf_token": token[1], **typed})


def _posting_requests(client: FlaskClient, cast: Cast) -> Send:
    numbers = count()

    def send() -> TestResponse:
        number = next(numbers)
        attributes = {
            "request_id": f"walked-{number}",
            "requested_by": "user-1",
            "community_server_id": COMMUNITY,
            "original_message_content": f"The ferry leaves the quay at {number} past noon",
        }
        body = {"data": {"type": "requests", "attributes": attributes}}
        return client.post("/api/public/v1/requests", json=body, headers=cast.headers)

    return send


def _posting_ratings(client: FlaskClient, cast: Cast, found: _Found) -> Send:
    numbers = count()

    def send() -> TestResponse:
        number = next(numbers)
        attributes = {
            "note_id": str(found.note),
            "rater_id": f"walker-{number}",
            "helpfulness_level": ("HELPFUL", "NOT_HELPFUL")[number % 2],
        }
        body = {"data": {"type": "ratings", "attributes": attributes}}
        headers = {**cast.headers, "X-Adapter-Platform": PLATFORM}
        return client.post("/api/public/v1/ratings", json=body, headers=headers)

    return send
