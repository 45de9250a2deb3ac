"""Rows of one name are told apart by what differs, and by no more than that."""

import uuid

from app.web.moderate.row_names import RowName, distinguish

IDS = [uuid.UUID(int=(7 << 76) + number) for number in range(1, 9)]


def row(number: int, name: str, *facts: str) -> RowName:
    return RowName(name, facts, IDS[number])


def test_a_name_that_no_other_row_has_stays_short() -> None:
    assert distinguish([row(0, "Buy now", "by kim"), row(1, "Hello", "by kim")]) == ["", ""]
    assert distinguish([]) == []


def test_only_what_differs_is_added() -> None:
    rows = [
        row(0, "Buy now", "by kim", "Monday"),
        row(1, "buy NOW", "by kim", "Tuesday"),
        row(2, "Buy now", "by kim", "Tuesday"),
        row(3, "Hello", "by kim", "Monday"),
    ]
    assert distinguish(rows) == [", Monday", ", Tuesday, id …000002", ", Tuesday, id …000003", ""]


def test_a_fact_that_one_of_them_lacks_tells_it_too() -> None:
    assert distinguish([row(0, "Buy now", "by kim"), row(1, "Buy now", "")]) == [", by kim", ""]


def test_alone_it_says_everything() -> None:
    assert row(0, "Buy now", "by kim", "", "Monday").whole == ", by kim, Monday, id …000001"
