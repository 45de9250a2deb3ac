"""A storm: 5,000 people report one post under review, each once, on SQLite and PostgreSQL. It stays one item."""

import argparse
import statistics
import tempfile
import time
import uuid
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from app import migrations
from app.core import clock
from app.core.db import Database
from app.core.ids import new_id
from app.core.models import Action, Community, Profile, Report, Request
from app.core.permissions import Actor
from app.core.reports import asking, reporting
from app.core.reports.reporting import NewReport
from app.core.vocabulary import RequestStatus
from tests import postgres
from tests.cast import PLATFORM, assemble

PEOPLE = 5_000


def storm(database: Database, community_id: uuid.UUID, people: int) -> list[tuple[float, float]]:
    """The milliseconds of each report, in a transaction of its own, and those of this process's processor."""
    actor = Actor(kind="key", name="Bench", key_id=uuid.uuid4(), communities=frozenset({community_id}))
    since = clock.now() - timedelta(days=30)
    with database.writing() as session:
        scope = session.get_one(Community, community_id).platform_community_server_id
        rows = [
            {
                "id": new_id(),
                "platform": PLATFORM,
                "provider_scope": scope,
                "platform_user_id": f"user-{number}",
                "extra": {},
                "created_at": since,
                "updated_at": since,
            }
            for number in range(people)
        ]
        session.execute(sa.insert(Profile), rows)
        request = Request(
            id=new_id(),
            community_id=community_id,
            request_id="post",
            requested_by="bench",
            status=RequestStatus.COMPLETED,
            content="A post that many dislike",
            content_sha256="0" * 64,
            scored_at=since,
        )
        session.add(request)
        session.flush()
        asking.ask_moderators(session, request)
    took = []
    for number, row in enumerate(rows):
        new = NewReport(
            f"report-{number}", f"user-{number}", "post", category="spam", text="Please look at this"
        )
        began, used = time.perf_counter(), time.process_time()
        with database.writing() as session:
            community = session.get_one(Community, community_id)
            reporting.file(session, actor, community, session.get_one(Profile, row["id"]), new)
            session.info.pop("jobs", None)
        took.append(((time.perf_counter() - began) * 1000, (time.process_time() - used) * 1000))
    with database.reading() as session:
        found = [session.scalar(sa.select(sa.func.count()).select_from(model)) for model in (Report, Action)]
    if found != [people, 1]:
        raise RuntimeError(f"{found[0]} reports and {found[1]} items")
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=PEOPLE, help="default: %(default)s")
    people = parser.parse_args().people
    table = Table(
        "Database",
        "ms a report, median",
        "p95",
        "of processor, mean",
        "of the last 500",
        title=f"{people:,} reports of a post",
    )
    with tempfile.TemporaryDirectory() as folder, postgres.running() as server:
        for name, url in (
            ("SQLite", f"sqlite:///{Path(folder) / 'bench.db'}"),
            ("PostgreSQL", server.url(server.create())),
        ):
            database = Database(url)
            migrations.upgrade(database.engine)
            took = storm(database, assemble(database).community_id, people)
            database.engine.dispose()
            figures = (
                statistics.median(wall for wall, _ in took),
                sorted(wall for wall, _ in took)[int(len(took) * 0.95)],
                statistics.mean(used for _, used in took),
                statistics.mean(used for _, used in took[-500:]),
            )
            table.add_row(name, *(f"{one:.2f}" for one in figures))
    Console().print(table)


if __name__ == "__main__":
    main()
