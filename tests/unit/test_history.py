"""History is append-only and tells where it was altered."""

import pytest
import sqlalchemy as sa

from app.core.history import chain as history
from app.core.models import HistoryEntry, HistoryText
from app.core.permissions import SYSTEM
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
            text.actor_name, text.reason, text.erased_at = "erased", "", sa.func.now()
    with wiring.database.reading() as session:
        assert history.verify(session, cast.community_id)[1] is None


def test_each_community_has_a_chain_of_its_own(wiring: Wiring, cast: Cast) -> None:
    with wiring.database.writing() as session:
        first = history.record(session, SYSTEM, cast.other_community_id, "a.b", "x", cast.other_community_id)
        second = history.record(session, SYSTEM, cast.other_community_id, "a.b", "x", cast.other_community_id)
        assert second.number == first.number + 1
        assert second.previous_hash == first.hash
