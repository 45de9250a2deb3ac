"""What drawn panels cost: a roll, a draw, and ten thousand open panels that are drawn and lapse.

    python -m tools.bench.panels [people] [panels] [sqlite|postgresql]

Seconds of one process, with the transactions of the job: those that passed, and in brackets the processor's, which
others who use the machine lengthen less.
"""

import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import sqlalchemy as sa
from rich.console import Console
from rich.table import Table

from app import migrations
from app.core import clock
from app.core.models import Action, Note, Panel, PanelSeat, Request
from app.core.panels import draw, rolls
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionType,
    Classification,
    NoteStatus,
    RequestStatus,
    ReviewGroup,
)
from app.jobs import communities as jobs
from app.jobs.registry import register_all
from app.settings import Settings
from app.wiring import Wiring, wire
from tests import postgres
from tests.cast import Cast, assemble
from tests.inline_engine import InlineEngine
from tests.panels import set_up, settle_in

DRAWS = 20


def seconds(work: Callable[[], object]) -> tuple[float, float]:
    """The time that passed, and the processor's."""
    began, began_used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - began, time.process_time() - began_used


def both(work: Callable[[], object]) -> str:
    passed, used = seconds(work)
    return f"{passed:.1f} ({used:.1f}) s"


def review(wiring: Wiring, cast: Cast, count: int) -> None:
    """Open this many reviews, written directly."""
    now = clock.now()
    stamps = {"created_at": now, "updated_at": now}
    rows = [(uuid.uuid4(), uuid.uuid4(), uuid.uuid4()) for _ in range(count)]
    for start in range(0, count, 2_000):
        part = rows[start : start + 2_000]
        with wiring.database.writing() as session:
            session.execute(
                sa.insert(Request),
                [
                    {
                        "id": request,
                        "community_id": cast.community_id,
                        "request_id": str(request),
                        "requested_by": "author",
                        "content": "A post",
                        "content_sha256": "0" * 64,
                        "requested_at": now,
                        "status": RequestStatus.IN_PROGRESS,
                        **stamps,
                    }
                    for request, _, _ in part
                ],
            )
            session.execute(
                sa.insert(Note),
                [
                    {
                        "id": note,
                        "community_id": cast.community_id,
                        "request_id": request,
                        "author_id": cast.operator.profile_id,
                        "author_ref": "service",
                        "summary": "Should it be hidden?",
                        "classification": Classification.MISLEADING,
                        "status": NoteStatus.NEEDS_MORE_RATINGS,
                        "rationale": True,
                        "ai_generated": True,
                        **stamps,
                    }
                    for request, note, _ in part
                ],
            )
            session.execute(
                sa.insert(Action),
                [
                    {
                        "id": action,
                        "community_id": cast.community_id,
                        "request_id": request,
                        "note_id": note,
                        "action_type": ActionType.HIDE,
                        "action_tier": ActionTier.CONSENSUS,
                        "action_state": ActionState.UNDER_REVIEW,
                        "review_group": ReviewGroup.COMMUNITY,
                        "decided_verb": "hide",
                        **stamps,
                    }
                    for request, note, action in part
                ],
            )


def measure(wiring: Wiring, people: int, panels: int, table: Table) -> None:
    cast = assemble(wiring.database)
    settle_in(wiring, cast, people)
    set_up(wiring, cast, who_decides="panel")
    with wiring.database.reading() as session:
        began = time.perf_counter()
        roll = rolls.make(session, cast.community_id)
        table.add_row(f"roll of {roll.people:,} people", f"{time.perf_counter() - began:.2f} s")
        raters = roll.raters
    draws = sorted(seconds(lambda: draw.order(uuid.uuid4().bytes * 2, raters))[0] for _ in range(DRAWS))
    table.add_row(
        "a draw from it, median and worst", f"{draws[DRAWS // 2] * 1e3:.1f}, {draws[-1] * 1e3:.1f} ms"
    )
    review(wiring, cast, panels)
    table.add_row(
        f"{panels:,} panels opened and drawn",
        both(lambda: jobs.tend_panels(wiring.database, cast.community_id)),
    )
    later = clock.now() + timedelta(hours=25)
    clock.set_source(lambda: later)
    table.add_row(
        f"{panels:,} panels lapsed and drawn again",
        both(lambda: jobs.tend_panels(wiring.database, cast.community_id)),
    )
    clock.set_source(None)
    with wiring.database.reading() as session:
        counted = session.scalar(sa.select(sa.func.count()).select_from(PanelSeat))
        still_open = session.scalar(sa.select(sa.func.count()).where(Panel.ended_at.is_(None)))
    table.add_row("people that the draws came to; panels still open", f"{counted:,}; {still_open:,}")


def main(people: int = 100_000, panels: int = 10_000, kind: str = "sqlite") -> None:
    table = Table("Drawn panels", kind)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bridgenote-bench-")))
        url = f"sqlite:///{folder / 'bench.db'}"
        if kind == "postgresql":
            server = stack.enter_context(postgres.running())
            url = server.url(server.create())
        wiring = wire(Settings(_env_file=None, environment="test", data_dir=folder, database_url=url).ready())
        migrations.upgrade(wiring.database.engine)
        engine = InlineEngine(wiring.database.engine)
        engine.prepare()
        register_all(engine, wiring)
        wiring.attach(engine)
        measure(wiring, people, panels, table)
        wiring.database.dispose()
    Console().print(table)


if __name__ == "__main__":
    main(*(int(text) for text in sys.argv[1:3]), *sys.argv[3:])
