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
from app.core.models import Account, Action, Delivery, HistoryEntry, Note, Profile, Request, Webhook
from app.core.people import keys, sessions
from app.core.permissions import SYSTEM
from app.core.thresholds import threshold_sets
from app.core.thresholds.drafts import draft_of
from app.core.vocabulary import ActionState, KeyTemplate
from app.wiring import Wiring
from tests.cast import COMMUNITY, PLATFORM, Cast, Person
from tools.bench.scale import lists
from tools.bench.scale.fill import RARE
from tools.bench.scale.lists import PUBLIC

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
    """One page or call: milliseconds, statements, and the blocks that one call touched (None on SQLite)."""

    name: str
    group: str
    p50: float
    p95: float
    statements: int
    blocks: int | None
    worst: str = ""


@dataclass(frozen=True)
class Visit:
    """A page or a call. ``group``: the visits of which only the most expensive are printed."""

    name: str
    send: Send
    group: str


def measure(recorder: Recorder, visit: Visit, times: int) -> Figures:
    """Make the same call so often, and once more to see its statements.

    Raises:
        SystemExit: it was refused.
    """
    took: list[float] = []
    with recorder.recording() as sent:
        answer = visit.send()
        # A file is written while it is read.
        answer.get_data()
        statements = list(sent)
    if answer.status_code >= 400:
        raise SystemExit(f"{visit.name} answered {answer.status_code}: {answer.text[:300]}")
    for _ in range(times):
        begin = time.perf_counter()
        visit.send().get_data()
        took.append((time.perf_counter() - begin) * 1000)
    took.sort()
    blocks, worst = None, ""
    if recorder.engine.dialect.name == "postgresql":
        blocks, worst = counted_blocks(recorder.engine, statements)
    p95 = took[math.ceil(0.95 * times) - 1]
    return Figures(visit.name, visit.group, statistics.median(took), p95, len(statements), blocks, worst)


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


def visits(app: Flask, wiring: Wiring, cast: Cast, requests: int) -> Iterator[Visit]:
    """What to call: the pages of an admin and of a rater, the calls of an integration, and every list by its filters.

    The addresses are of things that are in this database, which has so many ``requests``.
    """
    found = _Found.read(wiring, cast)
    admin, rater = _signed_in(app, wiring, cast.admin), _signed_in(app, wiring, cast.rater)
    client = app.test_client()
    metrics = {"Authorization": f"Bearer {cast.metrics_key}"}
    with wiring.database.writing() as session:
        key = keys.mint(session, SYSTEM, "All communities", KeyTemplate.ADAPTER, None).text
    everywhere = {"Authorization": f"Bearer {key}"}

    def totals() -> TestResponse:
        # They are counted once a minute.
        wiring.last_totals.by_communities.clear()
        return client.get("/metrics", headers=metrics)

    whole = {
        **{name: partial(admin.get, path) for name, path in _pages(found).items()},
        "what-if": _what_if(admin, wiring, cast),
        **{f"{name}, rater": partial(rater.get, path) for name, path in _pages_of_raters(found).items()},
        "metrics": totals,
        "API POST request": _posting_requests(client, cast),
        "API POST rating": _posting_ratings(client, cast, found),
    }
    for name, path in _calls(found, cast, requests).items():
        whole[name] = partial(client.get, path, headers=cast.headers)
        whole[f"{name}, everywhere"] = partial(client.get, path, headers=everywhere)
    for name, send in whole.items():
        yield Visit(name, send, name)
    for one in lists.addresses(lists.samples(found), found.webhook):
        send = partial(admin.get, one.path)
        if one.name.startswith("API"):
            send = partial(client.get, one.path, headers=everywhere if one.everywhere else cast.headers)
        yield Visit(one.name, send, one.group)


@dataclass(frozen=True)
class _Found:
    """Things of the community, as they stand in addresses."""

    open_item: uuid.UUID
    done: uuid.UUID
    entry: uuid.UUID
    number: int
    delivery: uuid.UUID
    webhook: uuid.UUID
    quiet_webhook: uuid.UUID
    post: str
    post_of_note: uuid.UUID
    note: uuid.UUID
    author: uuid.UUID
    halfway: uuid.UUID
    drawn: uuid.UUID
    rater: uuid.UUID
    busy: uuid.UUID
    """The rater with most ratings."""

    @classmethod
    def read(cls, wiring: Wiring, cast: Cast) -> "_Found":
        """The newest of each."""
        community_id = cast.community_id
        with wiring.database.reading() as session:

            def newest(model: Any, *where: Any, column: str = "id", by: str = "created_at") -> Any:
                order = getattr(model, by).desc()
                return session.scalars(
                    sa.select(getattr(model, column))
                    .where(model.community_id == community_id, *where)
                    .order_by(order)
                    .limit(1)
                ).first()

            def profile(number: int) -> uuid.UUID:
                name = f"member-{number}"
                wanted = sa.select(Profile.id).where(Profile.platform == "bench")
                return session.scalars(wanted.where(Profile.platform_user_id == name)).one()

            is_open = Action.action_state == ActionState.UNDER_REVIEW
            webhook = newest(Delivery, column="webhook_id")
            return cls(
                open_item=newest(Action, is_open),
                done=newest(Action, Action.action_state == ActionState.CONFIRMED),
                entry=newest(HistoryEntry, HistoryEntry.object_type == "action", by="number"),
                number=newest(HistoryEntry, column="number", by="number"),
                delivery=newest(Delivery),
                webhook=webhook,
                quiet_webhook=newest(Webhook, Webhook.id != webhook),
                post=newest(Request, column="request_id"),
                post_of_note=newest(Note, Note.platform_message_id.is_not(None), column="request_id"),
                note=newest(Action, is_open, column="note_id"),
                author=newest(Note, column="author_id"),
                halfway=session.scalars(_halfway(community_id)).one(),
                drawn=profile(0),
                rater=profile(1),
                busy=cast.rater.profile_id,
            )


def _halfway(community_id: uuid.UUID) -> sa.Select[uuid.UUID]:
    """The action in the middle of the queue."""
    queued = sa.select(Action.id).where(
        Action.community_id == community_id, Action.action_state == ActionState.UNDER_REVIEW
    )
    half = sa.select(sa.func.count() // 2).select_from(queued.subquery()).scalar_subquery()
    return queued.order_by(Action.created_at, Action.id).offset(half).limit(1)


def _signed_in(app: Flask, wiring: Wiring, person: Person) -> FlaskClient:
    with wiring.database.writing() as session:
        account = session.get_one(Account, person.account_id)
        account.content_warnings = False
        token = sessions.begin(session, account, "bench")
    client = app.test_client()
    client.set_cookie("bridgenote", token)
    return client


def _pages(found: _Found) -> dict[str, str]:
    since = quote(clock.iso(clock.now() - timedelta(minutes=5)))
    return {
        "queue, half-way": f"/review?after={found.halfway}",
        "queue, ratings, half-way": f"/review?sort=ratings&after={found.halfway}",
        "queue, id": f"/review?q={found.post}",
        "queue, what is new": f"/review/new-count?since={since}&shown=0",
        "item, moderator": f"/review/{found.open_item}",
        "item, decided": f"/review/{found.done}",
        "second look, deep": "/second-look?page=20",
        "history, deep": f"/history?older={found.number // 3}",
        "history, search, deep": f"/history?q=the+council&older={found.number // 3}",
        "history, id": f"/history?q={found.post}",
        "history entry": f"/history/{found.entry}",
        "reports": "/reports",
        "reports, resolved": "/reports?tab=resolved",
        "reporters": "/reports?tab=reporters",
        **{
            f"{name}, search {word}": f"{path}?q={quote(word)}"
            for name, path in (("queue", "/review"), ("history", "/history"), ("CSV", "/history.csv"))
            for word in (*RARE, "harbour quay", "Because of")
            # A file of more takes minutes.
            if name != "CSV" or RARE.get(word, 1) <= 0.01
        },
        "insights 7": "/insights?days=7",
        "insights 90": "/insights?days=90",
        "thresholds": "/thresholds",
        "classifiers": "/classifiers",
        "webhooks": "/endpoints",
        "webhook": f"/endpoints/{found.webhook}",
        "delivery": f"/deliveries/{found.delivery}",
        "replay": "/deliveries/replay?which=all",
        "reasons": "/reasons",
        "community": "/community",
        "overturns": "/community/overturns",
        "people": "/people",
        "people, search": "/people?q=Member+77",
        "people, nobody": "/people?q=zeppelin",
        "datasets, deep": "/datasets?page=200",
    }


def _pages_of_raters(found: _Found) -> dict[str, str]:
    return {
        "help needed": "/help-needed",
        "note": f"/notes/{found.note}",
        "my impact": "/me",
        "my data": "/settings/my-data",
    }


def _calls(found: _Found, cast: Cast, requests: int) -> dict[str, str]:
    """The interface's documents and the deep pages of its lists, two thirds of the way."""
    deep = max(1, int(requests * 0.6 * 0.66) // 100)
    third = max(1, deep // 6)
    by_requester = "filter[requested_by]=bench"
    return {
        "API requests, deep": f"{PUBLIC}/requests?page[size]=100&page[number]={deep}",
        "API requests by one, deep": f"{PUBLIC}/requests?{by_requester}&page[size]=100&page[number]={deep}",
        "API decisions": f"{PUBLIC}/requests?status=decided&since=2026-11-01T00:00:00Z&page[size]=100",
        "API notes, deep": f"{PUBLIC}/notes?page[size]=100&page[number]={third}",
        "API actions, deep": f"{PUBLIC}/moderation-actions?page[size]=100&page[number]={third}",
        "API request": f"{PUBLIC}/requests/{found.post}",
        "API note": f"{PUBLIC}/notes/{found.note}",
        "API ratings of a note": f"{PUBLIC}/notes/{found.note}/ratings",
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
