"""History is append-only and tells where it was altered."""

from contextlib import suppress
from typing import Any

import pytest
import sqlalchemy as sa

from app.core.history import chain as history
from app.core.history import pages
from app.core.models import Action, HistoryEntry, HistoryText, Note
from app.core.permissions import SYSTEM
from app.core.review import decision_trace
from app.wiring import Wiring
from tests import factories
from tests.cast import Cast

pytestmark = pytest.mark.both_databases


def _numbers(wiring: Wiring, cast: Cast) -> list[int]:
    with wiring.database.reading() as session:
        return list(
            session.scalars(
                sa.select(HistoryEntry.number)
                .where(HistoryEntry.community_id == cast.community_id)
                .order_by(HistoryEntry.number)
            )
        )


def test_a_whole_loop_leaves_an_unbroken_chain(wiring: Wiring, cast: Cast) -> None:
    factories.rate(wiring, cast, factories.scored_action(wiring, cast), "HHHHH")
    numbers = _numbers(wiring, cast)
    assert numbers == list(range(1, len(numbers) + 1))
    with wiring.database.reading() as session:
        assert history.verify(session, cast.community_id) == (len(numbers), None)


def test_an_altered_column_names_its_row(wiring: Wiring, cast: Cast) -> None:
    factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        entry = session.scalars(
            sa.select(HistoryEntry).where(
                HistoryEntry.community_id == cast.community_id, HistoryEntry.number == 3
            )
        ).one()
        entry.after = {"action_state": "dismissed"}
    with wiring.database.reading() as session:
        held, broken = history.verify(session, cast.community_id)
    assert held == 2
    assert broken is not None
    assert (broken.number, broken.why) == (3, "its columns were altered")


def test_a_removed_row_and_an_altered_reason_are_named(wiring: Wiring, cast: Cast) -> None:
    factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        text = session.scalars(
            sa.select(HistoryText)
            .join(HistoryEntry, HistoryEntry.id == HistoryText.entry_id)
            .where(HistoryEntry.community_id == cast.community_id, HistoryEntry.number == 2)
        ).one()
        text.reason = "something else"
    with wiring.database.reading() as session:
        assert history.verify(session, cast.community_id)[1].why == "its text was altered"  # type: ignore[union-attr]
    with wiring.database.writing() as session:
        session.execute(sa.delete(HistoryText).where(HistoryText.entry_id == text.entry_id))
        session.execute(sa.delete(HistoryEntry).where(HistoryEntry.id == text.entry_id))
    with wiring.database.reading() as session:
        assert history.verify(session, cast.community_id)[1].why == "entry 2 is missing"  # type: ignore[union-attr]


def test_erasing_a_persons_words_breaks_nothing(wiring: Wiring, cast: Cast) -> None:
    factories.scored_action(wiring, cast)
    with wiring.database.writing() as session:
        for text in session.scalars(sa.select(HistoryText)):
            text.actor_name = text.reason = text.comment = text.salt = ""
            text.erased_at = sa.func.now()
    with wiring.database.reading() as session:
        assert history.verify(session, cast.community_id)[1] is None


def test_each_community_has_a_chain_of_its_own(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        first = history.record(session, SYSTEM, cast.other_community_id, "a.b", "x", cast.other_community_id)
        second = history.record(session, SYSTEM, cast.other_community_id, "a.b", "x", cast.other_community_id)
        assert second.number == first.number + 1
        assert second.previous_hash == first.hash


def test_entries_of_a_savepoint_that_was_rolled_back_leave_no_gap(wiring: Wiring, cast: Cast) -> None:
    before = len(_numbers(wiring, cast))
    with wiring.database.writing() as session:
        for number in range(6):
            savepoint = session.begin_nested()
            history.record(session, SYSTEM, cast.community_id, f"test.{number}", "test", cast.community_id)
            history.record(session, SYSTEM, cast.community_id, f"test.{number}", "test", cast.community_id)
            if number % 3:
                savepoint.rollback()
            else:
                savepoint.commit()
            history.record(session, SYSTEM, cast.community_id, "test.outside", "test", cast.community_id)
    with wiring.database.reading() as session:
        assert history.verify(session, cast.community_id) == (before + 2 * 2 + 6, None)


def test_entries_that_are_gathered_are_written_in_order_or_not_at_all(wiring: Wiring, cast: Cast) -> None:
    before = len(_numbers(wiring, cast))
    with wiring.database.writing() as session:
        for is_kept in (True, False, True):
            with suppress(LookupError), history.gathered(session):
                for what in ("test.first", "test.second"):
                    history.record(session, SYSTEM, cast.community_id, what, "test", cast.community_id)
                if not is_kept:
                    raise LookupError
        history.record(session, SYSTEM, cast.community_id, "test.last", "test", cast.community_id)
    with wiring.database.reading() as session:
        written = session.scalars(
            sa.select(HistoryEntry.what)
            .where(HistoryEntry.community_id == cast.community_id, HistoryEntry.number > before)
            .order_by(HistoryEntry.number)
        ).all()
        assert written == ["test.first", "test.second"] * 2 + ["test.last"]
        assert history.verify(session, cast.community_id) == (before + 5, None)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_items_history_is_found_by_the_index_of_objects(wiring: Wiring, cast: Cast) -> None:
    action_id = factories.scored_action(wiring, cast)
    sent: list[tuple[str, Any]] = []

    def note_down(_c: Any, _cursor: Any, statement: str, parameters: Any, *_: object) -> None:
        sent.append((statement, parameters))

    sa.event.listen(wiring.database.engine, "before_cursor_execute", note_down)
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert pages.of_item(session, SYSTEM, action)
        pages.of_note(session, SYSTEM, session.get_one(Note, action.note_id))
        decision_trace.already_decided(session, action.id)
        decision_trace.deciders(session, [action.id])
        sa.event.remove(wiring.database.engine, "before_cursor_execute", note_down)
        read = [(statement, given) for statement, given in sent if "FROM history" in statement]
        assert len(read) == 4
        for statement, given in read:
            plan = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given).all()
            steps = " ".join(step.detail for step in plan)
            assert "ix_history_object" in steps, steps
