"""What a post costs while many wait: posts a second, processor time, and how long the community is locked for one."""

import os
import time
import uuid
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from app.core import ids
from app.core.communities import communities
from app.core.db import Database
from app.core.models import Request
from app.core.permissions import SYSTEM
from app.core.requests import submitting

COLUMNS = ("posts", "communities", "posts/s", "processor ms", "process", "database", "locks", "locked ms")
_TICK = os.sysconf("SC_CLK_TCK")


def server_seconds(postmaster: int | None) -> float:
    """Processor time that the processes of a database server have used so far; 0 without one.

    Linux adds that of a process that has ended to its parent's.
    """
    if postmaster is None:
        return 0.0
    ticks = 0
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(folder.name) == postmaster:
            ticks += sum(map(int, fields[11:15]))
        elif int(fields[1]) == postmaster:
            ticks += sum(map(int, fields[11:13]))
    return ticks / _TICK


def add_posts(database: Database, targets: list[uuid.UUID], texts: list[str], count: int) -> None:
    """Submit posts in one transaction, so that all of them wait at once: to the communities in turn, all texts."""
    with database.writing() as session:
        for number in range(count):
            text = texts[number // len(targets) % len(texts)]
            submission = submitting.Submission(str(ids.new_id()), "ann", text)
            submitting.submit(session, SYSTEM, targets[number % len(targets)], submission)


def until_scored(database: Database, *, seconds: float = 900) -> None:
    waiting = sa.select(sa.exists().where(Request.scored_at.is_(None)))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with database.reading() as session:
            if not session.scalar(waiting):
                return
        time.sleep(0.1)
    raise SystemExit("not everything was scored in time")


def measured(
    bench: Any, posts: int, count: int, texts: list[str], idle_seconds: float, postmaster: int | None
) -> list[str]:
    """A row of the table: ``posts`` that wait at once in ``count`` communities, from their commit to the last score."""
    database: Database = bench.database
    with database.writing() as session:
        targets = [
            communities.open_community(session, SYSTEM, "discourse", str(ids.new_id())).id
            for _ in range(count)
        ]
    add_posts(database, targets, texts, count)
    until_scored(database)
    bench.meter.clear()
    add_posts(database, targets, texts, posts)
    begin, process, server = time.perf_counter(), time.process_time(), server_seconds(postmaster)
    until_scored(database)
    time.sleep(0.5)  # the jobs' own ends belong to the price
    taken = time.perf_counter() - begin
    process = time.process_time() - process - idle_seconds * taken
    server = server_seconds(postmaster) - server
    holds = bench.meter.holds or [0.0]
    return [
        f"{posts:,}",
        f"{count}",
        f"{posts / (taken - 0.5):.0f}",
        *(f"{1000 * part / posts:.1f}" for part in (process + server, process, server)),
        f"{len(holds) / posts:.2f}",
        f"{1000 * sum(holds) / posts:.1f}",
    ]
