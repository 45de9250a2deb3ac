"""The moderators' lists with 10,000 items in the queue and 100,000 changes in the history, first pages and deep ones;
insights over 100,000 submissions, and their deliveries.

Everything runs in this process, so the figures are the pages' own: no network, no browser.
"""

import random
import re
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import brotli
import sqlalchemy as sa
from flask.testing import FlaskClient
from rich.console import Console
from rich.table import Table

from app import create_app, migrations
from app.core import clock
from app.core.ids import new_id
from app.core.models import Account, Action, HistoryEntry, HistoryText, Note, Profile, Request
from app.core.people import sessions
from app.core.vocabulary import ActionState, ActionTier, ActionType, Classification, ReviewGroup
from app.settings import Settings
from app.wiring import Wiring, wire
from tests.cast import assemble
from tests.inline_engine import InlineEngine
from tools.bench import _year

QUEUED, CHANGES, TIMES = 10_000, 100_000, 20
BATCH = 5_000
CATEGORIES = ("toxicity", "spam", "threat", "misinformation", "hate")
SENTENCE = (
    "Nobody wants to read what the harbour master wrote about the quay wall and its neighbours, he said. "
)


def fill(wiring: Wiring, community_id: uuid.UUID) -> None:
    """Queue and history, as they would be after a busy year. Rows of history are not chained: nobody verifies them."""
    chance = random.Random(7)  # noqa: S311 - the same figures each time
    begin = clock.now() - timedelta(days=300)
    requests, notes, actions = [], [], []
    with wiring.database.writing() as session:
        author = Profile(platform="bench", platform_user_id="author")
        session.add(author)
        session.flush()
        author_id = author.id
    for number in range(QUEUED):
        at = begin + timedelta(minutes=number)
        request_id, note_id = new_id(), new_id()
        same = {"community_id": community_id, "created_at": at, "updated_at": at}
        requests.append(
            same
            | {
                "id": request_id,
                "request_id": f"post-{number}",
                "requested_by": "ann",
                "content": f"{number}: {SENTENCE * chance.randint(1, 4)}",
                "content_sha256": "0" * 64,
                "platform_author_id": f"author-{number % 500}",
                "requested_at": at,
            }
        )
        notes.append(
            same
            | {
                "id": note_id,
                "request_id": None,
                "author_id": author_id,
                "author_ref": "author",
                "summary": "Why",
                "classification": Classification.NOT_MISLEADING,
                "rationale": True,
                "ratings_count": chance.randint(0, 9),
            }
        )
        actions.append(
            same
            | {
                "id": new_id(),
                "request_id": request_id,
                "note_id": note_id,
                "action_type": ActionType.HIDE,
                "action_tier": ActionTier.CONSENSUS,
                "action_state": ActionState.UNDER_REVIEW,
                "review_group": ReviewGroup.COMMUNITY,
                "category": chance.choice(CATEGORIES),
                "score": round(chance.uniform(0.55, 0.99), 4),
                "decided_verb": "hide",
            }
        )
    _insert(wiring, Request, requests)
    _insert(wiring, Note, notes)
    _insert(wiring, Action, actions)
    entries, texts = [], []
    states = [state.value for state in ActionState]
    for number in range(CHANGES):
        identity, state = new_id(), states[number % len(states)]
        entries.append(
            {
                "id": identity,
                "community_id": community_id,
                "number": 1_000_000 + number,
                "at": begin + timedelta(minutes=4 * number),
                "actor_kind": "account",
                "what": f"action.{state}",
                "object_type": "action",
                "object_id": actions[number % QUEUED]["id"],
                "before": {},
                "after": {"action_state": state},
                "text_hash": "0" * 64,
                "previous_hash": "0" * 64,
                "hash": "0" * 64,
            }
        )
        texts.append(
            {
                "entry_id": identity,
                "salt": "0" * 32,
                "actor_name": f"Moderator {number % 40}",
                "reason": SENTENCE,
            }
        )
    _insert(wiring, HistoryEntry, entries)
    _insert(wiring, HistoryText, texts)


def _insert(wiring: Wiring, model: Any, rows: list[dict[str, Any]]) -> None:
    for start in range(0, len(rows), BATCH):
        with wiring.database.writing() as session:
            session.execute(sa.insert(model), rows[start : start + BATCH])


class Counted:
    """How many statements the database was sent since ``reset``."""

    def __init__(self, engine: sa.Engine) -> None:
        self.count = 0
        sa.event.listen(engine, "before_cursor_execute", self._note)

    def _note(self, *_arguments: Any) -> None:
        self.count += 1


def measure(table: Table, client: FlaskClient, counted: Counted, name: str, path: str) -> str:
    """One line of the table; the page's text."""
    client.get(path)  # the first look prepares statements and templates
    times = []
    for _ in range(TIMES):
        counted.count = 0
        start = time.perf_counter()
        answer = client.get(path)
        times.append((time.perf_counter() - start) * 1000)
    if answer.status_code != 200:
        raise SystemExit(f"{path} answered {answer.status_code}")
    text = answer.get_data(as_text=True)
    linked = set(re.findall(r'(?:src|href)="(/static/[^"#]+)', text))
    times.sort()
    table.add_row(
        name,
        f"{statistics.median(times):.0f}",
        f"{times[int(0.95 * (len(times) - 1))]:.0f}",
        f"{_weight(answer.data) / 1000:.1f}",
        str(1 + len(linked)),
        str(len(re.findall(r"<[a-z]", text))),
        str(counted.count),
    )
    return text


def _weight(body: bytes) -> int:
    """Bytes as sent, compressed."""
    return len(brotli.compress(body, quality=4))  # type: ignore[no-untyped-call]


def _static(client: FlaskClient, address: str) -> bytes:
    with client.get(address) as answer:
        return bytes(answer.data)


def deep(client: FlaskClient, address: str, pages: int) -> str:
    """The address of a page so many further on, reached as people reach it."""
    for _ in range(pages):
        text = client.get(address).get_data(as_text=True)
        found = re.search(r'rel="next" href="([^"]+)"', text)
        if found is None:
            raise SystemExit(f"{address} has no next page")
        address = found.group(1).replace("&amp;", "&")
    return address


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as folder:
        settings = Settings(
            _env_file=None, environment="test", data_dir=Path(folder), rate_limit_enabled=False
        ).ready()
        wiring = wire(settings)
        migrations.upgrade(wiring.database.engine)
        jobs = InlineEngine(wiring.database.engine)
        jobs.prepare()
        wiring.attach(jobs)
        cast = assemble(wiring.database)
        fill(wiring, cast.community_id)
        _year.fill(wiring, cast.community_id, CATEGORIES)
        with wiring.database.writing() as session:
            account = session.get_one(Account, cast.operator.account_id)
            account.content_warnings = False
            token = sessions.begin(session, account, "bench")
        client = create_app(wiring).test_client()
        client.set_cookie("bridgenote", token)
        _print(client, Counted(wiring.database.engine))
        wiring.database.dispose()


def _print(client: FlaskClient, counted: Counted) -> None:
    table = Table(
        title=f"{QUEUED:,} items in the queue, {CHANGES:,} changes in the history, {_year.SUBMITTED:,} submissions"
    )
    for heading in ("page", "ms p50", "ms p95", "kB, br", "requests", "elements", "queries"):
        table.add_column(heading, justify="left" if heading == "page" else "right")
    look: Callable[[str, str], str] = lambda name, path: measure(table, client, counted, name, path)  # noqa: E731
    for sort in ("oldest", "newest", "score", "ratings"):
        look(f"queue, {sort}, first", f"/review?sort={sort}")
        look(f"queue, {sort}, 100 pages on", deep(client, f"/review?sort={sort}", 100))
    look("queue, search", "/review?q=quay+wall")
    look("queue, search for an id", "/review?q=post-9999")
    look("history, first", "/history")
    look("history, 100 pages on", deep(client, "/history", 100))
    look("history, near the beginning", "/history?older=1000200")
    look("history, one actor", "/history?actor=Moderator+7")
    look("history, search", "/history?q=quay+wall")
    look("history, search for an id", "/history?q=post-9999")
    for days in (7, 30, 90):
        look(f"insights, {days} days", f"/insights?days={days}")
    look("webhooks", "/endpoints")
    look("deliveries, first", "/deliveries")
    look("deliveries, 100 pages on", deep(client, "/deliveries", 100))
    look("deliveries, given up", "/deliveries?state=dead")
    look("deliveries of a request", "/deliveries?q=year-1")
    look("replay, counted", "/deliveries/replay?which=all")
    text = client.get("/review?q=9999").get_data(as_text=True)
    item = re.search(r'href="(/review/[0-9a-f-]{36})', text)
    if item is not None:
        look("an item", item.group(1))
    console = Console(width=110)
    console.print(table)
    first = client.get("/review")
    linked = set(re.findall(r'(?:src|href)="(/static/[^"#]+)', first.get_data(as_text=True)))
    bodies = [first.data, *(_static(client, address) for address in linked)]
    whole = sum(map(_weight, bodies))
    console.print(f"The first view of the queue with style, script and icons: {whole / 1000:.0f} kB.")


if __name__ == "__main__":
    main()
