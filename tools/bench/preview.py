"""A preview of thresholds over a million stored scores of 90 days, on SQLite and PostgreSQL.

Every score is above 0, which is the worst that classifiers can do: those of 0 are not in what is read.
"""

import random
import statistics
import tempfile
import time
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from app import migrations
from app.core import clock
from app.core.db import Database
from app.core.ids import new_id
from app.core.models import Action, PostScores, Request, Score
from app.core.permissions import SYSTEM
from app.core.thresholds import post_scores, previews
from app.core.thresholds.drafts import DEFAULTS, CategoryDraft
from app.core.thresholds.routing import Scored
from app.core.vocabulary import ActionState, ActionTier, ActionType
from tests import postgres
from tests.cast import assemble

REQUESTS, DAYS, TIMES, BATCH = 125_000, 90, 5, 5_000
NAMES = tuple(draft.name for draft in DEFAULTS)
PREVIEWS = {
    "as shipped, a little lower": {"tier2": 0.5, "tier1": 0.9},
    "everything to people from 0.3": {"tier2": 0.3, "tier1": 0.7},
    "everything to people": {"tier2": 0.0, "tier1": 0.5},
}
"""What is typed for every category; each request has eight scores."""


def fill(database: Database, community_id: uuid.UUID) -> None:
    """Posts of 90 days, eight scores each; what exceeded a shipped threshold was reviewed."""
    chance = random.Random(7)  # noqa: S311 - the same figures each time
    begin, states = clock.now() - timedelta(days=DAYS), [ActionState.CONFIRMED, ActionState.OVERTURNED]
    for start in range(0, REQUESTS, BATCH):
        requests, scores, posts, actions = [], [], [], []
        for number in range(start, start + BATCH):
            at, request_id = begin + timedelta(days=DAYS * number / REQUESTS), new_id()
            given = {name: max(0.0001, round(chance.betavariate(0.8, 4), 4)) for name in NAMES}
            requests.append(
                _request(community_id, request_id, number) | {"requested_at": at, "scored_at": at}
            )
            scores += [
                {
                    "id": uuid.UUID(int=chance.getrandbits(128)),
                    "community_id": community_id,
                    "request_id": request_id,
                    "category": name,
                    "classifier": "bench",
                    "classifier_version": "1",
                    "score": value,
                    "tier1_capable": True,
                    "is_highest": True,
                    "matches": [],
                    "created_at": at,
                }
                for name, value in given.items()
            ]
            columns = post_scores.packed({name: Scored(value) for name, value in given.items()})
            posts.append({"request_id": request_id, "community_id": community_id, "scored_at": at} | columns)
            highest = max(given, key=lambda name: given[name])
            if given[highest] > 0.55:
                actions.append(
                    {
                        "id": new_id(),
                        "community_id": community_id,
                        "request_id": request_id,
                        "action_type": ActionType.HIDE,
                        "action_tier": ActionTier.IMMEDIATE,
                        "action_state": chance.choice(states),
                        "category": highest,
                        "score": given[highest],
                        "decided_verb": "hide",
                        "created_at": at,
                    }
                )
        with database.writing() as session:
            session.execute(sa.insert(Request), requests)
            session.execute(sa.insert(Score), scores)
            session.execute(sa.insert(PostScores), posts)
            session.execute(sa.insert(Action), actions)


def _request(community_id: uuid.UUID, request_id: uuid.UUID, number: int) -> dict[str, object]:
    return {
        "id": request_id,
        "community_id": community_id,
        "request_id": f"post-{number}",
        "requested_by": "ann",
        "content": f"Post {number}",
        "content_sha256": "0" * 64,
    }


def databases() -> Iterator[tuple[str, Database]]:
    with tempfile.TemporaryDirectory(prefix="bridgenote-bench-") as folder:
        yield "SQLite", Database(f"sqlite:///{Path(folder) / 'bench.db'}")
    with postgres.running() as server:
        yield "PostgreSQL", Database(server.url(server.create()))


def main() -> None:
    table = Table(title=f"Preview of thresholds over {REQUESTS * len(NAMES):,} scores of {DAYS} days")
    for heading in ("database", "preview", "ms p50", "ms max", "newly affected"):
        table.add_column(heading, justify="left" if heading in {"database", "preview"} else "right")
    for name, database in databases():
        migrations.upgrade(database.engine)
        cast = assemble(database)
        fill(database, cast.community_id)
        with database.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            # What either database does by itself within minutes of such an import.
            connection.execute(sa.text("ANALYZE" if name == "SQLite" else "VACUUM ANALYZE"))
        for label, typed in PREVIEWS.items():
            drafts = [CategoryDraft(draft.name, severity=draft.severity, **typed) for draft in DEFAULTS]
            times, newly = [], 0
            for _ in range(TIMES + 1):
                begin = time.perf_counter()
                with database.reading() as session:
                    made = previews.preview(session, SYSTEM, cast.community_id, drafts)
                times.append((time.perf_counter() - begin) * 1000)
                newly = made.periods[-1].newly_affected
            times = times[1:]  # the first look fills the caches
            table.add_row(name, label, f"{statistics.median(times):.0f}", f"{max(times):.0f}", f"{newly:,}")
        database.dispose()
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
