"""Plots: what the numbers are is where the marks are."""

import pytest

from app.web.charts import (
    HEIGHT,
    WIDTH,
    Label,
    Series,
    count_top,
    duration_top,
    lines,
    sparkline,
    spread,
    stacked,
)


def test_columns_are_as_high_as_their_values_and_stand_on_each_other() -> None:
    chart = stacked(["Mon", "Tue"], [Series("Review", [3, 0], 0), Series("Ignored", [1, 2], 1)])
    first, second, third = chart.bars
    assert chart.ticks == ["4", "2", "0"]
    assert (first.height, second.height, third.height) == (HEIGHT * 0.75, HEIGHT * 0.25, HEIGHT * 0.5)
    assert first.y == second.y + second.height
    assert first.y + first.height == third.y + third.height == HEIGHT
    assert first.x == second.x < WIDTH / 2 < third.x
    assert list(chart.columns) == [
        "Mon: Review 3, Ignored 1",
        "Tue: Review 0, Ignored 2",
    ]


def test_a_line_breaks_where_nothing_is_known() -> None:
    chart = lines(["a", "b", "c", "d"], [Series("Share", [0.5, 1.0, None, 0.0], 0)], 1.0, "{:.0%}".format)
    assert [line.points for line in chart.lines] == ["125.0,150.0 375.0,0.0", "875.0,300.0"]
    assert chart.lines[1].dots == "M875.0,300.0h0"
    assert chart.columns[2] == "c: nothing"


@pytest.mark.parametrize(
    ("most", "top"), [(0, 2), (2, 2), (3, 4), (9, 10), (11, 12), (25, 30), (101, 120), (7_001, 8_000)]
)
def test_the_axis_ends_at_a_round_number_with_a_whole_half(most: float, top: float) -> None:
    assert count_top(most) == top
    assert top % 2 == 0


def test_a_time_axis_ends_at_round_minutes_hours_or_days() -> None:
    assert [duration_top(seconds) for seconds in (5, 61, 4_000, 90_000)] == [60, 120, 7_200, 172_800]


def test_columns_have_their_number_above_and_their_parts_their_names_beside() -> None:
    chart = stacked(["Mon", "Tue"], [Series("Review", [3, 0], 0), Series("Ignored", [1, 2], 1)])
    assert [(label.text, label.x, label.y) for label in chart.totals] == [("4", 25, 0), ("2", 75, 50)]
    assert [(label.text, label.y, label.look) for label in chart.ends] == [("Ignored", 75, 1)]
    many = [str(day) for day in range(30)]
    assert stacked(many, [Series("Review", [1] * 30, 0)]).totals == []


def test_a_line_has_its_name_at_its_end_and_a_level_too() -> None:
    series = [Series("Half", [1, 5, None], 0), Series("Most", [2, 10, None], 1)]
    chart = lines(["a", "b", "c"], series, 10, level=("Target", 5))
    assert [(label.text, label.y) for label in chart.ends] == [("Most", 0), ("Half", 50), ("Target", 58)]


def test_labels_move_apart_and_stay_within_the_chart() -> None:
    moved = spread([Label("low", 100), Label("lower", 99), Label("top", 0), Label("next", 1)])
    assert [(label.text, label.y) for label in moved] == [
        ("top", 0),
        ("next", 8),
        ("lower", 92),
        ("low", 100),
    ]


def test_a_sparkline_begins_at_nothing_and_breaks_where_nothing_is_known() -> None:
    assert sparkline([0, 4, 2]) == ["0.0,22.0 50.0,2.0 100.0,12.0"]
    assert sparkline([1, None, 1]) == ["0.0,2.0 0.0,2.0", "100.0,2.0 100.0,2.0"]
    assert sparkline([0, 0]) == ["0.0,22.0 100.0,22.0"]
    assert sparkline([]) == []
