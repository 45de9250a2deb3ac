"""The viewpoint strip: where Yes and No lie between the camps, without telling anybody's side."""

import random

from hypothesis import given
from hypothesis import strategies as st

from app.core.scoring import Camp, Mark, Model, Rater, Regime, Strip, strip
from app.core.scoring.viewpoints import LEAST, NO, YES

CAMPS = Model(
    Regime.WARM,
    mu=0.4,
    rho_intercept=2,
    rho_factor=1,
    axis=True,
    low_factor=-1.0,
    high_factor=1.0,
)
ANSWER = st.tuples(
    st.one_of(st.none(), st.builds(Rater, factor=st.floats(-1, 1), kept=st.booleans())),
    st.sampled_from([NO, 0.5, YES]),
)
ANSWERS = st.lists(ANSWER, max_size=40)
EMPTY = Camp(None, None)


def answers(*groups: tuple[int, float, float]) -> list[tuple[Rater | None, float]]:
    """The number of people with this factor who gave this answer."""
    return [(Rater(factor=factor), value) for count, factor, value in groups for _ in range(count)]


def laid_out(given_answers: list[tuple[Rater | None, float]]) -> Strip:
    found = strip(given_answers, CAMPS)
    assert found is not None
    return found


def test_each_camp_has_its_answers_at_their_mean_position() -> None:
    found = laid_out(answers((4, -0.8, YES), (4, -0.4, YES), (3, 0.2, YES), (5, 1.0, NO)))
    assert found == Strip(Camp(Mark(8, 0.6), None), Camp(Mark(3, 0.2), Mark(5, 1.0)))
    assert (found.first.leans, found.second.leans) == (1, 0)


def test_a_camp_leans_by_two_thirds_of_what_is_drawn() -> None:
    for yes, no, leans in ((6, 3, 1), (5, 3, 0), (3, 6, -1), (3, 0, 1), (0, 3, -1), (2, 2, 0)):
        found = laid_out(answers((yes, -0.5, YES), (no, -0.5, NO)))
        camp = found.first if found.first != EMPTY else found.second
        assert camp.leans == leans, (yes, no)


def test_unknown_raters_and_not_sure_lie_nowhere() -> None:
    unknown = [(None, YES)] * 9 + [(Rater(factor=0.9, kept=False), YES)] * 9
    assert laid_out([*unknown, *answers((9, -0.5, 0.5))]).is_empty


def test_without_camps_there_is_no_strip() -> None:
    for model in (Model.cold(), Model(Regime.WARM, mu=0.4, rho_intercept=2, rho_factor=1)):
        assert strip(answers((9, -0.5, YES), (9, 0.5, YES)), model) is None


def test_notes_that_act_are_laid_out_by_the_model_that_judges_them() -> None:
    acting = Model(
        Regime.WARM,
        0.4,
        2,
        1,
        axis=True,
        low_factor=-1.0,
        high_factor=1.0,
        of_acting=True,
    )
    raters = [(Rater(factor=-0.9, acting_intercept=0.1, acting_factor=0.6), YES)] * 3
    unknown = [(Rater(factor=-0.9), YES)] * 3
    assert strip([*raters, *unknown], acting) == Strip(Camp(Mark(3, 0.6), None), EMPTY)


@given(ANSWERS)
def test_no_mark_stands_for_fewer_people_than_the_least(some: list[tuple[Rater | None, float]]) -> None:
    found = laid_out(some)
    for camp in (found.first, found.second):
        for mark in (camp.yes, camp.no):
            assert mark is None or mark.count >= LEAST
            assert mark is None or 0 <= mark.position <= 1


@given(ANSWERS, st.floats(-1, 1), st.sampled_from([NO, YES]))
def test_fewer_people_than_the_least_cannot_be_told_from_none(
    some: list[tuple[Rater | None, float]], factor: float, value: float
) -> None:
    """Whoever is nearly alone with an answer on their side is not to be seen, wherever they stand."""
    others = [
        (rater, given_value)
        for rater, given_value in some
        if rater is None or given_value != value or (rater.factor < 0) != (factor < 0)
    ]
    alone = [(Rater(factor=factor), value)] * (LEAST - 1)
    assert laid_out([*others, *alone]) == laid_out(others)


@given(ANSWERS, st.integers(0, 1_000))
def test_the_order_of_the_answers_changes_nothing(some: list[tuple[Rater | None, float]], seed: int) -> None:
    shuffled = some.copy()
    random.Random(seed).shuffle(shuffled)  # noqa: S311 - an order, nothing secret
    assert laid_out(shuffled) == laid_out(some)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.booleans(), st.sampled_from([NO, YES])), max_size=40))
def test_a_fit_that_calls_the_sides_the_other_way_round_draws_the_same(
    some: list[tuple[float, bool, float]],
) -> None:
    """So no camp has a side of the drawing of its own, and none can be followed from post to post."""
    one = [(Rater(factor=-size if below else size), value) for size, below, value in some]
    other = [(Rater(factor=size if below else -size), value) for size, below, value in some]
    assert laid_out(one) == laid_out(other)
