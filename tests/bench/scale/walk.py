"""Calls every page and interface of a filled database, and counts time, statements and blocks."""

import json
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from flask.testing import FlaskClient
from sqlalchemy.engine import Connection

from app.core.models import Action, Delivery, HistoryEntry, Request, Webhook
from app.core.vocabulary import ActionState
from app.wiring import Wiring

TIMES = 11
WARM_UP = 2
READS = ("SELECT", "WITH")


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


def measure(
    client: FlaskClient, recorder: Recorder, name: str, path: str, headers: dict[str, str]
) -> Figures:
    for _ in range(WARM_UP):
        client.get(path, headers=headers)
    times = []
    for _ in range(TIMES):
        begin = time.perf_counter()
        answer = client.get(path, headers=headers)
        times.append((time.perf_counter() - begin) * 1000)
    if answer.status_code >= 400:
        raise SystemExit(f"{path} answered {answer.status_code}: {answer.text[:300]}")
    with recorder.recording() as sent:
        client.get(path, headers=headers)
        statements = list(sent)
    blocks, worst = (
        counted_blocks(recorder.engine, statements)
        if recorder.engine.dialect.name == "postgresql"
        else (None, "")
    )
    times.sort()
    return Figures(name, statistics.median(times), times[-1], len(statements), blocks, worst)


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


def pages(wiring: Wiring, community_id: Any) -> dict[str, str]:
    """The dashboard's pages by name, with the addresses of things that are in this database."""
    with wiring.database.reading() as session:

        def newest(model: Any, *where: Any, column: str = "id", by: str = "created_at") -> Any:
            order = getattr(model, by).desc()
            return session.scalars(
                sa.select(getattr(model, column))
                .where(model.community_id == community_id, *where)
                .order_by(order)
                .limit(1)
            ).one()

        open_item = newest(Action, Action.action_state == ActionState.UNDER_REVIEW)
        done = newest(Action, Action.action_state == ActionState.CONFIRMED)
        entry = newest(HistoryEntry, HistoryEntry.object_type == "action", by="number")
        number = newest(HistoryEntry, column="number", by="number")
        delivery, endpoint = newest(Delivery), newest(Webhook)
        post = newest(Request, column="request_id")
    return {
        "queue, oldest": "/review?sort=oldest",
        "queue, score": "/review?sort=score",
        "queue, category": "/review?category=spam",
        "queue, search": "/review?q=harbour+quay",
        "queue, id": f"/review?q={post}",
        "item, moderator": f"/review/{open_item}",
        "item, decided": f"/review/{done}",
        "second look": "/second-look",
        "help needed": "/help-needed",
        "my impact": "/me",
        "history": "/history",
        "history, deep": f"/history?older={number // 3}",
        "history, state": "/history?state=dismissed",
        "history, category": "/history?category=spam",
        "history, author": "/history?author=author-7",
        "history, actor": "/history?actor=Moderator",
        "history, week": "/history?from=2026-06-01&to=2026-06-07",
        "history, language": "/history?language=de",
        "history, search": "/history?q=harbour+quay",
        "history, id": f"/history?q={post}",
        "history entry": f"/history/{entry}",
        "history, settings": "/history/settings",
        "insights 7": "/insights?days=7",
        "insights 90": "/insights?days=90",
        "thresholds": "/thresholds",
        "classifiers": "/classifiers",
        "webhooks": "/endpoints",
        "webhook": f"/endpoints/{endpoint}",
        "deliveries": "/deliveries",
        "deliveries, dead": "/deliveries?state=dead",
        "deliveries, event": "/deliveries?event=note.status_changed",
        "deliveries, request": f"/deliveries?q={post}",
        "delivery": f"/deliveries/{delivery}",
        "replay": "/deliveries/replay?which=all",
        "reasons": "/reasons",
        "community": "/community",
        "people": "/people",
        "datasets": "/datasets",
    }


def calls(requests: int) -> dict[str, str]:
    """The interface's lists by name; the deep page is two thirds of the way."""
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
    }
