"""Where a member of a known side says no, a second panel has to act, too (docs/moderate/panels.md)."""

import uuid

import pytest
import sqlalchemy as sa

from app.core.models import HistoryEntry, Panel
from app.core.panels import panels, results
from app.core.scoring import Counts, Sides
from app.core.vocabulary import ActionState, PanelOutcome
from app.wiring import Wiring
from tests.cast import Cast
from tests.panels import answer, reviewed, run_jobs, seated, set_up, settle_in, state_of
from tests.unit.test_panel_opposition import with_sides


def among_sides(wiring: Wiring, cast: Cast) -> tuple[uuid.UUID, uuid.UUID]:
    """A post whose panel of twelve is drawn from forty people of known sides: the action and its rationale."""
    with_sides(wiring, cast, settle_in(wiring, cast, 40))
    set_up(wiring, cast, who_decides="panel")
    return reviewed(wiring, cast)


def outcomes(wiring: Wiring, action_id: uuid.UUID) -> list[tuple[PanelOutcome | None, bool]]:
    """How the panels of an action ended, oldest first, and whether each was the second of its review."""
    with wiring.database.reading() as session:
        found = session.scalars(
            sa.select(Panel).where(Panel.action_id == action_id).order_by(Panel.opened_at)
        )
        return [(panel.outcome, panels.is_second(panel.reason)) for panel in found]


def answered(
    wiring: Wiring, cast: Cast, action_id: uuid.UUID, note_id: uuid.UUID, levels: str
) -> list[uuid.UUID]:
    """Let the open panel answer, a letter for each seat, until it ends; return who did."""
    people = []
    for level in levels:
        if seat := seated(wiring, action_id)[:1]:
            answer(wiring, cast, note_id, seat, level)
            people += seat
    run_jobs(wiring)
    return people


def test_a_panel_acts_alone_where_nobody_of_a_side_says_no(wiring: Wiring, cast: Cast) -> None:
    action_id, note_id = among_sides(wiring, cast)
    answered(wiring, cast, action_id, note_id, "H" * 12)
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED
    assert outcomes(wiring, action_id) == [(PanelOutcome.DECIDED, False)]


def test_where_somebody_says_no_a_second_panel_of_others_acts_or_keeps(wiring: Wiring, cast: Cast) -> None:
    action_id, note_id = among_sides(wiring, cast)
    first = answered(wiring, cast, action_id, note_id, "N" + "H" * 11)
    assert state_of(wiring, action_id)[0] is ActionState.UNDER_REVIEW
    assert outcomes(wiring, action_id) == [(PanelOutcome.OVERTAKEN, False), (None, True)]
    second = seated(wiring, action_id)
    assert len(second) == 12
    assert not set(first) & set(second)
    with wiring.database.reading() as session:
        assert results.decided(session, note_id) is None
    # Its own "no" does not ask a third.
    answered(wiring, cast, action_id, note_id, "N" + "H" * 11)
    assert state_of(wiring, action_id)[0] is ActionState.PROPOSED
    assert outcomes(wiring, action_id)[1] == (PanelOutcome.DECIDED, True)
    with wiring.database.reading() as session:
        told = results.decided(session, note_id)
        assert told is not None
        said = panels.explained(told.panel, told.volunteers, told.reason)
        causes = session.scalars(
            sa.select(HistoryEntry.cause)
            .where(HistoryEntry.what == "action.panel_ended")
            .order_by(HistoryEntry.id)
        ).all()
        every = session.scalars(sa.select(Panel.id).where(Panel.action_id == action_id)).all()
        faults = [results.repeat(session, panel_id).faults for panel_id in every]
    assert said.startswith("A first panel and volunteers: ")
    assert causes == [panels.CONFIRMS, said]
    assert faults == [(), ()]


def test_a_second_panel_that_is_against_it_keeps_the_post(wiring: Wiring, cast: Cast) -> None:
    action_id, note_id = among_sides(wiring, cast)
    answered(wiring, cast, action_id, note_id, "N" + "H" * 11)
    answered(wiring, cast, action_id, note_id, "N" * 12)
    assert state_of(wiring, action_id)[0] is ActionState.DISMISSED


@pytest.mark.parametrize(("one", "other"), [(1, 0), (0, 1), (0, 0)])
def test_a_no_of_either_side_is_enough_and_people_of_no_side_do_not_matter(one: int, other: int) -> None:
    sides = Sides(Counts(one, 2, 6), Counts(other, 2, 6))
    assert panels.is_contested(sides) is (one + other > 0)
