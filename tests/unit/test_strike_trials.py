"""The what-if about strikes: whom the steps would have silenced in the past year, and for whom that was wrong."""

import pytest

from app.core.actions import strike_trials
from app.core.actions.strike_trials import Trial
from app.core.errors import Forbidden
from app.core.vocabulary import Role, StrikeStep
from app.wiring import Wiring
from tests import clocks, factories
from tests.cast import Cast
from tests.unit.test_strikes import apply, give_points, overturn

pytestmark = pytest.mark.both_databases
STEPS = {StrikeStep.WARN: 2, StrikeStep.SILENCE_1: 4}


def tried(wiring: Wiring, cast: Cast, role: Role = Role.OPERATOR) -> Trial:
    with wiring.database.reading() as session:
        return strike_trials.past_year(session, factories.member(cast, role), cast.community_id, STEPS)


def test_what_was_applied_counts_and_what_was_overturned_later_is_said(wiring: Wiring, cast: Cast) -> None:
    wanted = {"once": 1, "twice": 2, "overturned": 2, "overturned-between": 2}
    for author, posts in wanted.items():
        for number in range(posts):
            action_id = factories.scored_action(
                wiring, cast, factories.SPAM, f"{author}-{number}", author=author
            )
            apply(wiring, cast, action_id)
            clocks.advance(days=1)
            if author == "overturned-between" and number == 0:
                overturn(wiring, cast, action_id)
        if author == "overturned":
            clocks.advance(days=1)
            overturn(wiring, cast, action_id)
    assert tried(wiring, cast) == Trial(), "no category gives points"
    give_points(wiring, cast, 2)
    assert tried(wiring, cast) == Trial(warned=2, silenced=2, overturned=1)
    give_points(wiring, cast, 2, days=1)
    assert tried(wiring, cast) == Trial(warned=4), "the first no longer counts when the second comes"
    clocks.advance(days=400)
    assert tried(wiring, cast) == Trial()


def test_a_trial_reads_so_many_actions_and_says_so(
    wiring: Wiring, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_points(wiring, cast, 2)
    for number in range(3):
        apply(wiring, cast, factories.scored_action(wiring, cast, factories.SPAM, f"p-{number}", author="a"))
    monkeypatch.setattr(strike_trials, "MOST", 2)
    trial = tried(wiring, cast)
    assert (trial.silenced, trial.is_cut) == (1, True)


def test_only_operators_try(wiring: Wiring, cast: Cast) -> None:
    with pytest.raises(Forbidden):
        tried(wiring, cast, Role.MODERATOR)
