"""Imports as jobs: read, reported, stored, killed and continued, refreshed from feeds, retired."""

import json
from typing import Any

import pytest
import sqlalchemy as sa

from app.core import clock, limits
from app.core.batches import BatchSize
from app.core.errors import Conflict, Forbidden, Invalid
from app.core.factcheck import import_steps, imports, items
from app.core.factcheck.imports import Upload
from app.core.models import (
    Account,
    HistoryEntry,
)
from app.core.permissions import SYSTEM, Actor
from app.core.vocabulary import AfterReading, ImportState
from app.jobs import fact_checks
from app.wiring import Wiring
from tests.cast import Cast
from tests.clocks import advance
from tests.inline_engine import InlineEngine
from tests.unit.factcheck.importing import Killed, begin, line, lines, reread, rows_left, served


@pytest.mark.both_databases
def test_a_file_is_reported_on_first_and_stored_when_somebody_says_so(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    with wiring.database.writing() as session:
        items.keep(session, [items.Item(**_of(7))], cast.other_community_id)
        items.keep(session, [items.Item(**_of(8))], cast.community_id)
    content = (
        lines(1, 2, 7)
        + line(8, claim="Other words")
        + line(9, url="nowhere")
        + line(1)
        + line(3, rating="Odd")
    )
    found = begin(wiring, operator, cast, content)
    assert found.state is ImportState.READING
    jobs.run_all()
    found = reread(wiring, found)
    assert (found.state, found.records) == (ImportState.READ, 7)
    counts = (found.added, found.changed, found.unchanged, found.taken, found.refused)
    assert counts == (3, 1, 0, 1, 2)
    assert (found.unknown, found.serves_all) == ({"Odd": 1}, False)
    assert served(wiring) == {"item-7", "item-8"}, "reading changes no dataset"
    with wiring.database.reading() as session:
        assert [(row.place, row.why) for row in imports.refusals(session, found)] == [
            ("line 5", "url must be an address that begins with https:// or http://"),
            ("line 6", "item_id is that of line 1 too"),
        ]
    with wiring.database.writing() as session:
        imports.store(session, operator, found.id)
    jobs.run_all()
    found = reread(wiring, found)
    assert (found.state, found.stored) == (ImportState.FINISHED, 4)
    assert served(wiring) == {"item-1", "item-2", "item-3", "item-7", "item-8"}
    assert rows_left(wiring) == (0, 2), "only the refused ones stay, for the report"
    with wiring.database.writing() as session:
        entry = session.scalars(sa.select(HistoryEntry).where(HistoryEntry.what == "dataset.imported")).one()
        assert (entry.after["new"], entry.after["changed"], entry.after["datasets"]) == (3, 1, ["example"])
        with pytest.raises(Conflict):
            imports.store(session, operator, found.id)
    again = begin(wiring, operator, cast, lines(1, 2), after_reading=AfterReading.STORE_IF_ALL_GOOD)
    jobs.run_all()
    again = reread(wiring, again)
    assert (again.state, again.unchanged, again.stored) == (ImportState.FINISHED, 2, 0)


def _of(number: int) -> dict[str, Any]:
    row = json.loads(line(number))
    row["rating_given"] = row.pop("rating")
    return row | {"meaning": "false"}


def test_a_killed_import_goes_on_where_it_ended_and_stores_nothing_twice(
    wiring: Wiring, cast: Cast, operator: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_steps, "READ_BATCH", 10)
    monkeypatch.setattr(import_steps, "STORE_BATCH", 10)
    numbers = range(1, 48)
    found = begin(wiring, operator, cast, lines(*numbers), after_reading=AfterReading.STORE)
    kills = 0
    for step in ("add", "store_batch"):
        whole = getattr(import_steps, step)
        for after in (1, 2):
            calls = iter(range(after))

            def dying(*given: Any, whole: Any = whole, calls: Any = calls) -> Any:
                if next(calls, None) is None:
                    raise Killed
                return whole(*given)

            with monkeypatch.context() as patched:
                patched.setattr(import_steps, step, dying)
                try:
                    fact_checks.run_import(wiring.database, found.id)
                    fact_checks.run_import(wiring.database, found.id)
                except Killed:
                    kills += 1
    now = reread(wiring, found)
    assert (kills, now.state, now.stored) == (4, ImportState.STORING, 30)
    assert len(served(wiring)) == 30
    fact_checks.run_import(wiring.database, found.id)
    now = reread(wiring, found)
    assert (now.state, now.records, now.added, now.stored) == (ImportState.FINISHED, 47, 47, 47)
    assert served(wiring) == {f"item-{number}" for number in numbers}
    fact_checks.run_import(wiring.database, found.id)
    with wiring.database.reading() as session:
        imported = sa.select(sa.func.count()).where(HistoryEntry.what == "dataset.imported")
        assert session.scalar(imported) == 1


def test_a_slow_machine_gets_smaller_batches_and_a_quick_one_larger() -> None:
    size = BatchSize(250)
    sizes = []
    for seconds in (0.01, 0.01, 0.01, 5.8, 0.4, 9.0, 9.0, 0.7):
        sizes.append(size.rows)
        size.took(seconds)
    assert sizes == [50, 100, 200, 250, 32, 60, 10, 10]
    assert BatchSize(3).rows == 3


def test_a_lost_job_is_enqueued_again_and_a_stopped_import_does_nothing_more(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    found = begin(wiring, operator, cast, lines(1))
    jobs.register(imports.IMPORT_JOB, lambda import_id: None)
    jobs.run_all()
    advance(seconds=600)
    with wiring.database.writing() as session:
        imports.enqueue_stalled(session)
    assert [job.args for job in jobs.jobs()] == [{"import_id": str(found.id)}]
    with wiring.database.writing() as session:
        imports.stop(session, operator, found.id)
    fact_checks.run_import(wiring.database, found.id)
    assert reread(wiring, found).state is ImportState.STOPPED
    assert (served(wiring), rows_left(wiring)) == (set(), (0, 0))


def test_an_operator_who_loses_the_role_stores_nothing_more_and_bad_files_say_why(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    found = begin(wiring, operator, cast, lines(1))
    jobs.run_all()
    with wiring.database.writing() as session:
        imports.store(session, operator, found.id)
        session.get_one(Account, cast.operator.account_id).disabled_at = clock.now()
    jobs.run_all()
    found = reread(wiring, found)
    assert (found.state, served(wiring)) == (ImportState.FAILED, set())
    assert found.problem == "The person who began it may no longer import."
    malformed = begin(wiring, operator, cast, b'{"@type": "ClaimReview",', "review.json")
    jobs.run_all()
    assert reread(wiring, malformed).problem.startswith("The file is malformed JSON: expecting property name")
    for content, why in ((b"  \n", "holds no fact-checks"), (b"\x1f\x8bno", "damaged")):
        with pytest.raises(Invalid, match=why):
            begin(wiring, operator, cast, content)


def test_unfinished_imports_are_few_and_do_not_wait_for_ever(
    wiring: Wiring, jobs: InlineEngine, cast: Cast, operator: Actor
) -> None:
    begun = [begin(wiring, operator, cast, line(number)) for number in range(limits.IMPORTS.number)]
    with pytest.raises(Invalid, match="at most 5 imports that are not finished"):
        begin(wiring, operator, cast, line(9))
    jobs.run_all()
    advance(seconds=8 * 86_400)
    with wiring.database.writing() as session:
        imports.stop_abandoned(session)
    assert {reread(wiring, found).state for found in begun} == {ImportState.STOPPED}
    jobs.run_all()
    assert rows_left(wiring) == (0, 0)
    begin(wiring, operator, cast, line(9))


def test_only_a_service_admin_goes_on_with_an_import_that_serves_every_community(
    wiring: Wiring, cast: Cast, operator: Actor
) -> None:
    with wiring.database.writing() as session:
        found = imports.begin(session, SYSTEM, cast.community_id, Upload("items.jsonl", lines(1)))
        for change in (
            lambda: imports.stop(session, operator, found.id),
            lambda: imports.store(session, operator, found.id),
            lambda: imports.choose_columns(session, operator, found.id, {}, Upload("items.csv", b"")),
        ):
            with pytest.raises(Forbidden, match="serves every community"):
                change()
        assert imports.get(session, operator, found.id) is found, "they still see it"
        assert imports.stop(session, SYSTEM, found.id).state is ImportState.STOPPED
