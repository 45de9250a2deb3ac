"""The moderators' desk with 10,000 items in the queue: an item's page and a decision, one after the other, and what 200
open tabs cost that ask for changes every 15 s.

Everything runs in this process, so the figures are the service's own: no network, no browser. Times are of the
process, not of the clock: what else the machine does is left out.
"""

import re
import statistics
import tempfile
import time
from collections.abc import Callable
from html import unescape
from pathlib import Path

from flask.testing import FlaskClient
from rich.console import Console
from werkzeug.test import TestResponse

from app import create_app, migrations
from app.core.models import Account
from app.core.people import sessions
from app.settings import Settings
from app.wiring import Wiring, wire
from tests.cast import assemble
from tests.inline_engine import InlineEngine
from tools.bench.dashboard import QUEUED, fill

DECISIONS, POLLS, TABS, EVERY = 60, 60, 200, 15.0
GOAL_MS, GOAL_SHARE = 60, 0.05
TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
ITEM = re.compile(r"/review/[0-9a-f-]{36}\?next=1")


def timed(call: Callable[[], TestResponse], status: int, times: list[float]) -> TestResponse:
    """Make a call, check its status and add its milliseconds of computing."""
    start = time.process_time()
    answer = call()
    times.append((time.process_time() - start) * 1000)
    if answer.status_code != status:
        raise SystemExit(f"answered {answer.status_code} instead of {status}: {answer.text[:300]}")
    return answer


def decide_many(client: FlaskClient) -> tuple[list[float], list[float]]:
    """Work through the queue as a moderator does: times of the item's pages, and of the decisions that follow."""
    pages: list[float] = []
    decisions: list[float] = []
    token = TOKEN.search(client.get("/review").text)
    assert token
    following = client.post("/review/next", data={"csrf_token": token[1]}).headers["Location"]
    for number in range(DECISIONS):
        page = timed(lambda at=following: client.get(at), 200, pages)  # type: ignore[misc]
        found, version = TOKEN.search(page.text), re.search(r'name="version" value="(\d+)"', page.text)
        assert found
        assert version
        form = {
            "csrf_token": found[1],
            "version": version[1],
            "verb": ("dismiss", "force_publish")[number % 2],
            "reason": "Friends teasing each other",
            "next": "1",
        }
        path = following.replace("?", "/decide?", 1)
        answer = timed(lambda to=path, sent=form: client.post(to, data=sent), 303, decisions)  # type: ignore[misc]
        following = answer.headers["Location"]
        if not ITEM.fullmatch(following):
            raise SystemExit(f"no item followed, but {following}")
    return pages[5:], decisions[5:]


def poll_many(client: FlaskClient) -> list[float]:
    """The question of an open tab with 50 rows, of which none changed: its times."""
    page = client.get("/review").text
    asked = re.search(r'id="new-count"[^>]* hx-get="([^"]+)"', page)
    assert asked
    rows = "~".join(re.findall(r'data-live="([^"]+)"', page))
    times: list[float] = []
    for _ in range(POLLS):
        timed(
            lambda: client.get(f"{unescape(asked[1])}&rows={rows}", headers={"HX-Request": "true"}),
            204,
            times,
        )
    return times[5:]


def p95(times: list[float]) -> float:
    return sorted(times)[int(0.95 * (len(times) - 1))]


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
        _print(wiring)
        wiring.database.dispose()


def _print(wiring: Wiring) -> None:
    cast = assemble(wiring.database)
    fill(wiring, cast.community_id)
    with wiring.database.writing() as session:
        account = session.get_one(Account, cast.moderator.account_id)
        account.content_warnings = False
        token = sessions.begin(session, account, "bench")
    client = create_app(wiring).test_client()
    client.set_cookie("bridgenote", token)
    console = Console(width=110)
    pages, decisions = decide_many(client)
    for name, times in (("An item's page", pages), ("A decision, and the next claimed", decisions)):
        console.print(
            f"{name}, {QUEUED:,} items in the queue: p50 {statistics.median(times):.0f} ms, "
            f"p95 {p95(times):.0f} ms (goal: {GOAL_MS} ms)."
        )
    polls = poll_many(client)
    share = TABS * statistics.mean(polls) / 1000 / EVERY
    console.print(
        f"{TABS} open tabs that ask every {EVERY:g} s: {statistics.mean(polls):.1f} ms each, "
        f"{share:.1%} of a core (goal: {GOAL_SHARE:.0%})."
    )


if __name__ == "__main__":
    main()
