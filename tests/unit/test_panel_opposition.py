"""A panel does not act while too many of one side say no (docs/moderate/panels.md)."""

import uuid
from datetime import timedelta

import pytest
import sqlalchemy as sa

from app.core import clock
from app.core.models import Action, HistoryEntry
from app.core.panels import panels
from app.core.scoring import Counts, Model, Regime, Sides
from app.core.vocabulary import ActionState, ReviewGroup
from app.jobs import communities as jobs
from app.wiring import Wiring
from tests import camps, factories
from tests.cast import Cast
from tests.panels import answer, run_jobs, seated, set_up, settle_in

MODEL = Model(Regime.WARM, mu=0.3, rho_intercept=0.5, rho_factor=0.1, axis=True)


def with_sides(wiring: Wiring, cast: Cast, people: list[uuid.UUID]) -> dict[uuid.UUID, float]:
    """Let a fit be in force that knows half of these people on each side."""
    factor = {person: (-0.5, 0.5)[number % 2] for number, person in enumerate(people)}
    camps.put_in_force(wiring, cast.community_id, MODEL, factor)
    return factor


@pytest.mark.parametrize(
    ("against", "acts"), [((1, 1), True), ((0, 2), False)], ids=["one_each", "two_of_one"]
)
def test_a_panel_of_seven_acts_unless_two_of_one_side_say_no(
    wiring: Wiring, cast: Cast, against: tuple[int, int], acts: bool
) -> None:
    factor = with_sides(wiring, cast, settle_in(wiring, cast, 40))
    set_up(wiring, cast, who_decides="panel", panel_seats=7)
    action_id = factories.scored_action(wiring, cast)
    jobs.sweep_panels(wiring.database)
    with wiring.database.reading() as session:
        note_id = session.get_one(Action, action_id).note_id
    assert note_id is not None
    # With one of each side, a second panel is asked, which is all for it.
    left = {-0.5: against[0], 0.5: against[1]}
    # "Not sure" by the others leaves the first seats undecided, so that as many people again are asked.
    for person in seated(wiring, action_id):
        side = factor[person]
        answer(wiring, cast, note_id, [person], "N" if left[side] else "S")
        left[side] = max(0, left[side] - 1)
    for _ in range(3 if acts else 2):
        run_jobs(wiring)
        while people := seated(wiring, action_id):
            answer(wiring, cast, note_id, people[:1], "H")
    with wiring.database.reading() as session:
        action = session.get_one(Action, action_id)
        assert (action.action_state is ActionState.UNDER_REVIEW) is not acts
    if acts:
        return
    moment = clock.now() + timedelta(days=7)
    clock.set_source(lambda: moment)
    jobs.sweep_panels(wiring.database)
    with wiring.database.reading() as session:
        assert session.get_one(Action, action_id).review_group is ReviewGroup.STAFF
        causes = session.scalars(
            sa.select(HistoryEntry.cause)
            .where(HistoryEntry.what == "action.panel_ended")
            .order_by(HistoryEntry.id)
        ).all()
    assert causes == ["7 days went by; more than 1 of one side said no (panel:opposed@1)"]


@pytest.mark.parametrize(
    ("size", "one", "other", "opposed"),
    [
        (12, 2, 2, False),
        (12, 3, 0, True),
        (12, 0, 3, True),
        (7, 1, 1, False),
        (7, 2, 0, True),
        (25, 4, 4, False),
        (25, 0, 5, True),
    ],
)
def test_more_than_a_sixth_of_the_first_seats_on_one_side_are_too_many(
    size: int, one: int, other: int, opposed: bool
) -> None:
    sides = Sides(Counts(one, 5, 20), Counts(other, 5, 20))
    assert panels.is_opposed(sides, size) is opposed
