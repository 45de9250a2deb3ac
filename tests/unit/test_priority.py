"""Long computations give way (``app.jobs.priority``)."""

import os
import sys
import threading

import pytest

from app.jobs import priority


def nice() -> int:
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id())


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere priorities are of processes")
def test_a_computation_gives_way_and_its_caller_does_not() -> None:
    before, of_threads = nice(), list[int]()

    def work() -> int:
        inner = threading.Thread(target=lambda: of_threads.append(nice()))
        inner.start()
        inner.join()
        return nice()

    assert priority.giving_way(work) == max(before, priority.NICE)
    assert of_threads == [max(before, priority.NICE)]
    assert nice() == before


def test_what_a_computation_raises_reaches_its_caller() -> None:
    def work() -> None:
        raise ValueError("no known value")

    with pytest.raises(ValueError, match="no known value"):
        priority.giving_way(work)
