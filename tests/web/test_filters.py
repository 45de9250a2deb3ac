"""Filters of the templates: how numbers read."""

import pytest

from app.web.filters import percent


@pytest.mark.parametrize(
    ("share", "digits", "shown"),
    [
        (None, 0, "–"),
        (0.0, 0, "0\u00a0%"),
        (1.0, 0, "100\u00a0%"),
        (1.0, 1, "100.0\u00a0%"),
        (0.874, 0, "87\u00a0%"),
        (0.998, 0, "99\u00a0%"),
        (0.9999, 1, "99.9\u00a0%"),
        (0.0004, 0, "1\u00a0%"),
    ],
)
def test_a_share_that_is_not_whole_never_reads_as_all_or_nothing(
    share: float | None, digits: int, shown: str
) -> None:
    assert percent(share, digits) == shown
