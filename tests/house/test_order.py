"""The order of the tests loses none of them, and each worker begins with what it should."""

from dataclasses import dataclass

import pytest

from tests.order import spread


@dataclass(frozen=True)
class Item:
    nodeid: str


ITEMS = [
    Item(f"tests/{file}::test_{number}")
    for file, count in {
        "api/test_notes.py": 100,
        "api/test_fuzz.py": 8,
        "browser/test_accessibility.py": 2,
        "browser/test_lists.py": 10,
        "faults/test_engine.py": 10,
        "faults/test_storm.py": 2,
        "unit/test_consensus.py": 8,
        "unit/test_notes.py": 100,
    }.items()
    for number in range(count)
]


@pytest.mark.parametrize("workers", range(1, 11))
def test_every_test_stands_in_the_order_once(workers: int) -> None:
    ordered = spread(ITEMS, workers)  # type: ignore[arg-type]  # only the address of an item is read
    assert sorted(ordered, key=ITEMS.index) == ITEMS


@pytest.mark.parametrize(
    ("workers", "begins"),
    [
        (
            3,
            [
                "faults/test_storm.py::test_0",
                "api/test_fuzz.py::test_0",
                "browser/test_accessibility.py::test_0",
            ],
        ),
        (
            5,
            [
                "faults/test_storm.py::test_0",
                "faults/test_storm.py::test_1",
                "api/test_fuzz.py::test_0",
                "browser/test_accessibility.py::test_0",
                "browser/test_accessibility.py::test_1",
            ],
        ),
    ],
)
def test_each_worker_begins_with_its_part_of_what_takes_long(workers: int, begins: list[str]) -> None:
    ordered = spread(ITEMS, workers)  # type: ignore[arg-type]
    size = len(ITEMS) // workers
    assert [ordered[number * size].nodeid for number in range(workers)] == [f"tests/{one}" for one in begins]
