"""What reports weigh: the share that was upheld, and the caps of one side and of newcomers."""

import pytest

from app.core.reports.asking import route_of
from app.core.reports.weighing import Alike, Tally, has_both_sides, share, tally, weigh
from app.core.thresholds.routing import ESCALATED, CategoryRule, Route
from app.core.vocabulary import ReviewGroup


def alike(
    weight: float, side: int = 0, *, new: bool = False, category: str = "spam", number: int = 1
) -> Alike:
    return Alike(category, side, new, number, weight)


@pytest.mark.parametrize(
    ("upheld", "rejected", "expected"),
    [(0, 0, 0.5), (4, 0, 0.75), (0, 4, 0.25), (2, 2, 0.5), (96, 0, 0.98), (0, 96, 0.02), (1, 0, 0.6)],
)
def test_a_share_is_shrunk_by_four_cases_of_which_half_were_upheld(
    upheld: int, rejected: int, expected: float
) -> None:
    assert share(upheld, rejected) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("reports", "expected"),
    [
        ([], 0.0),
        ([alike(2.5)], 2.5),
        ([alike(0.5, -1)], 0.5),
        # One side weighs at most one together, whichever it is and however many they are.
        ([alike(15.0, -1)], 1.0),
        ([alike(15.0, 1)], 1.0),
        ([alike(15.0, 1), alike(1.5)], 2.5),
        # Until the other side reports too.
        ([alike(15.0, -1), alike(0.5, 1)], 15.5),
        # A muted person of the other side lifts nothing.
        ([alike(15.0, -1), alike(0.0, 1)], 1.0),
        # So do people of today, on whatever side.
        ([alike(20.0, new=True)], 1.0),
        ([alike(20.0, new=True), alike(0.5)], 1.5),
        ([alike(15.0, -1), alike(20.0, 1, new=True)], 2.0),
    ],
)
def test_one_side_and_newcomers_weigh_at_most_one_together(reports: list[Alike], expected: float) -> None:
    assert weigh(reports) == pytest.approx(expected)


def test_both_sides_are_there_only_with_reports_that_weigh_something() -> None:
    assert has_both_sides([alike(0.5, -1), alike(0.5, 1)])
    assert not has_both_sides([alike(5.0, -1), alike(0.5)])
    assert not has_both_sides([alike(0.5, -1), alike(0.0, 1)])
    assert not has_both_sides([alike(0.5, -1), alike(0.5, 1, new=True)])


@pytest.mark.parametrize(
    ("number", "right", "words"),
    [
        (1, 0, "1 report"),
        (1, 1, "1 report, by a person whose reports were right before"),
        (3, 2, "3 reports, 2 of them by people whose reports were right before"),
        (3, 3, "3 reports, all by people whose reports were right before"),
        (1200, 0, "1,200 reports"),
    ],
)
def test_weight_is_said_in_words(number: int, right: int, words: str) -> None:
    assert Tally(number, right).words == words


def test_categories_are_in_the_order_of_their_numbers() -> None:
    counted = tally([alike(1, category="spam"), alike(1, 1, category="hate"), alike(1, category="hate")])
    assert (counted.number, counted.categories) == (3, ("hate", "spam"))


RULES = [
    CategoryRule("hate", 0.5, severity=50, report_threshold=1.0, review_group=ReviewGroup.TRUSTED),
    CategoryRule("spam", 0.5, severity=10, report_threshold=2.0),
    CategoryRule("pii", 0.5, report_threshold=None),
    CategoryRule("sexual", 0.5, report_threshold=0.0, enabled=False),
    CategoryRule("threat", 0.5, report_threshold=0.0, observe_only=True),
]


def _asked(*reports: Alike, together: float = 100.0) -> Route | None:
    return route_of(list(reports), RULES, together)


def test_a_review_opens_above_the_threshold_of_its_category_and_goes_to_its_group() -> None:
    assert _asked(alike(1.0, category="hate")) is None
    found = _asked(alike(1.5, category="hate"))
    assert found is not None
    assert (found.category, found.review_group, found.tier.number) == ("hate", ReviewGroup.TRUSTED, 2)


def test_reports_of_no_category_weigh_along_with_each() -> None:
    found = _asked(alike(0.5, category="hate"), alike(1.0, category="other"))
    assert found is not None
    assert found.category == "hate"
    assert _asked(alike(5.0, category="other")) is None


def test_of_several_categories_the_most_severe_is_asked_about() -> None:
    found = _asked(alike(9.0, category="spam"), alike(1.5, category="hate"))
    assert found is not None
    assert found.category == "hate"


@pytest.mark.parametrize("category", ["pii", "sexual", "threat"])
def test_a_category_without_threshold_or_out_of_use_asks_nobody(category: str) -> None:
    assert _asked(alike(50.0, category=category)) is None


def test_reports_that_agree_on_nothing_go_to_the_moderators() -> None:
    reports = (alike(0.6, category="hate"), alike(0.6, category="spam"), alike(0.6, category="pii"))
    assert _asked(*reports, together=2.0) is None
    found = _asked(*reports, together=1.5)
    assert found is not None
    assert (found.category, found.review_group) == (ESCALATED, ReviewGroup.STAFF)
