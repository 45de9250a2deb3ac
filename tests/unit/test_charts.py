"""Plots: what the numbers are is where the marks are."""

import pytest

from app.web.charts import HEIGHT, WIDTH, Series, count_top, duration_top, lines, stacked


def test_columns_are_as_high_as_their_values_and_stand_on_each_other() -> None:
    chart = stacked(["Mon", "Tue"], [Series("Review", [3, 0], 0), Series("Ignored", [1, 2], 1)])
    first, second, third = chart.bars
    assert chart.ticks == ["4", "2", "0"]
    assert (first.height, second.height, third.height) == (HEIGHT * 0.75, HEIGHT * 0.25, HEIGHT * 0.5)
    assert first.y == second.y + second.height
    assert first.y + first.height == third.y + third.height == HEIGHT
    assert first.x == second.x < WIDTH / 2 < third.x
    assert [column.title for column in chart.columns] == [
        "Mon: Review 3, Ignored 1",
        "Tue: Review 0, Ignored 2",
    ]


def test_a_line_breaks_where_nothing_is_known() -> None:
    chart = lines(["a", "b", "c", "d"], [Series("Share", [0.5, 1.0, None, 0.0], 0)], 1.0, "{:.0%}".format)
    assert [line.points for line in chart.lines] == ["125.0,150.0 375.0,0.0", "875.0,300.0"]
    assert chart.lines[1].dots == "M875.0,300.0h0"
    assert chart.columns[2].title == "c: nothing"


@pytest.mark.parametrize(
    ("most", "top"), [(0, 2), (2, 2), (3, 4), (9, 10), (11, 12), (25, 30), (101, 120), (7_001, 8_000)]
)
def test_the_axis_ends_at_a_round_number_with_a_whole_half(most: float, top: float) -> None:
    assert count_top(most) == top
    assert top % 2 == 0


def test_a_time_axis_ends_at_round_minutes_hours_or_days() -> None:
    assert [duration_top(seconds) for seconds in (5, 61, 4_000, 90_000)] == [60, 120, 7_200, 172_800]
