"""Memory of large computations goes back to the system (``app.jobs.rescoring``)."""

import ctypes
import subprocess
import sys

import pytest

from app.jobs import rescoring as memory

FREED = """
from app.jobs.rescoring import LARGE, give_back_large
import numpy as np

give_back_large()

def resident():
    with open("/proc/self/statm") as pages:
        return int(pages.read().split()[1]) * 4096

first = np.ones(2 * LARGE)  # from here on glibc by itself would keep arrays of this size
del first
before = resident()
arrays = [(np.ones(LARGE // 4), np.ones(100)) for _ in range(20)]
held = resident() - before
kept = [small for _, small in arrays]
del arrays
print(held, resident() - before)
"""


def test_large_arrays_that_were_freed_do_not_stay_with_the_process() -> None:
    child = subprocess.run([sys.executable, "-c", FREED], check=True, capture_output=True, text=True)
    held, left = map(int, child.stdout.split())
    assert held > 20 * memory.LARGE
    assert left < 5 * memory.LARGE


def test_a_libc_that_knows_no_such_option_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    memory.give_back_large.cache_clear()
    memory.give_back_large()
    assert memory.give_back_large.cache_info().misses == 1, (
        "it was tried, and the refusal is nobody's trouble"
    )
    memory.give_back_large.cache_clear()
