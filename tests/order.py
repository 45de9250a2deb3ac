"""Which tests run, and in which order, when several workers share them.

``--dist worksteal`` gives each worker an equal stretch of the list, and whoever has ended takes over the end of the
longest stretch that is left. So one stretch begins with the fault tests (two of them from five workers on), which wait
more than they compute, another with what computes longest, so that the processors have work meanwhile, and the others
with the browser tests, each of whose workers needs a service and a Chromium. These take a third of the whole: of few
workers, the one with the fault tests goes on with half of them.
"""

from collections.abc import Iterable
from itertools import cycle, islice

import pytest

DATABASES = ("sqlite", "postgresql")
LONGEST = (
    "faults/test_storm.py",
    "faults/test_first_admin.py",
    "faults/test_simulate.py",
    "faults/test_outages.py",
    "faults/test_overturn.py",
    "browser/test_accessibility.py",
    "browser/test_first_hour.py",
    "browser/test_layout.py",
    "browser/test_run.py",
    "browser/test_desk_speed.py",
    "browser/test_hostile.py",
    "browser/test_joining.py",
    "browser/test_services.py",
    "api/test_fuzz.py",
    "api/test_guide.py",
    "api/test_generated_clients.py",
    "unit/test_consensus.py",
    "unit/test_cli.py",
    "unit/test_seed.py",
    "house/test_wheel.py",
)
"""Files whose tests take several seconds each, longest first."""
TOGETHER = ("faults/test_framing.py", "api/test_generated_clients.py", "api/test_guide.py")
"""Files whose tests share something that takes long to make: one worker begins with all of them."""


SINGLE = ("api/", "unit/", "web/")
"""Groups of which most tests need only one of the two databases."""


def chosen(items: list[pytest.Item], only: str | None) -> tuple[list[pytest.Item], list[pytest.Item]]:
    """What is to run, and what is not.

    With ``only``, a test of the `SINGLE` groups that could run on both databases runs on this one alone, unless it is
    marked ``both_databases``. A test that asks for one of them itself runs there.
    """
    left_out = {
        item
        for item in items
        if only is not None
        and item.get_closest_marker("both_databases") is None
        and _file(item).startswith(SINGLE)
        and (database := _database(item)) not in (None, only)
        and not _asks_for(item, database)
    }
    return [item for item in items if item not in left_out], [item for item in items if item in left_out]


def _database(item: pytest.Item) -> str | None:
    """Which of the two the test runs on, if it runs on either."""
    if not isinstance(item, pytest.Function) or not hasattr(item, "callspec"):
        return None
    given = item.callspec.params.values()
    return next((name for name in DATABASES if name in given), None)


def _asks_for(item: pytest.Item, database: str | None) -> bool:
    """Whether the test itself asks for this database and for nothing else."""
    return any(mark.args[1] == [database] for mark in item.iter_markers("parametrize"))


def spread(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """The same tests, so that every stretch of a worker begins with its part of what takes long."""
    stretches: list[list[pytest.Item]] = [[] for _ in range(workers)]
    faults = [item for item in items if _file(item).startswith("faults/")]
    browser = [item for item in items if _file(item).startswith("browser/")]
    others = [item for item in items if _file(item) in LONGEST and item not in {*faults, *browser}]
    turn = cycle(range(workers))
    with_faults = 1 if workers < 5 else 2
    with_browser = max(2, workers * 2 // 5)
    with_others = max(1, workers - with_faults - with_browser)
    for group, parts in ((faults, with_faults), (others, with_others), (browser, with_browser)):
        _deal(group, [stretches[next(turn)] for _ in range(min(parts, workers))])
    dealt = {item for stretch in stretches for item in stretch}
    rest = iter([item for item in items if item not in dealt])
    left = len(items)
    ordered: list[pytest.Item] = []
    for number, stretch in enumerate(stretches):
        length = left // (workers - number)
        left -= length
        ordered += stretch
        ordered += islice(rest, max(0, length - len(stretch)))
    return [*ordered, *rest]


def _deal(items: Iterable[pytest.Item], stretches: list[list[pytest.Item]]) -> None:
    ordered = sorted(items, key=lambda item: _rank(_file(item)))
    turn = cycle(stretches)
    for item in ordered:
        if _file(item) in TOGETHER:
            stretches[-1].append(item)
        else:
            next(turn).append(item)


def _rank(file: str) -> int:
    return LONGEST.index(file) if file in LONGEST else len(LONGEST)


def _file(item: pytest.Item) -> str:
    """The test's file below ``tests/``."""
    return item.nodeid.partition("::")[0].partition("tests/")[2]
