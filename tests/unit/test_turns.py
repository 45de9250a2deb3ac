"""The threads of a process work in turn, by community."""

import threading
import uuid

from app.jobs.turns import Turns
from tests.faults.waiting import eventually

BUSY, OTHER, THIRD = (uuid.UUID(int=number) for number in range(3))


def test_threads_that_wait_are_served_by_community_in_turn_and_a_failure_passes_the_turn_on() -> None:
    turns, served, threads = Turns(1), list[uuid.UUID](), list[threading.Thread]()

    def work(community_id: uuid.UUID) -> None:
        try:
            with turns.taken(community_id):
                served.append(community_id)
                raise LookupError
        except LookupError:
            pass

    with turns.taken(BUSY):
        for community_id in (BUSY, BUSY, BUSY, OTHER, OTHER, THIRD):
            waiting = sum(map(len, turns._waiting.values()))
            thread = threading.Thread(target=work, args=(community_id,))
            thread.start()
            threads.append(thread)
            eventually(lambda: sum(map(len, turns._waiting.values())) > waiting, "it waits")  # noqa: B023
    for thread in threads:
        thread.join(60)
    assert served == [BUSY, OTHER, THIRD, BUSY, OTHER, BUSY]


def test_as_many_work_at_once_as_may_and_no_more() -> None:
    turns, both, third = Turns(2), threading.Barrier(3), threading.Event()

    def work() -> None:
        with turns.taken(BUSY):
            both.wait(60)

    def wait() -> None:
        with turns.taken(OTHER):
            third.set()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    eventually(lambda: both.n_waiting == 2, "two work")
    threads.append(threading.Thread(target=wait))
    threads[-1].start()
    eventually(lambda: bool(turns._waiting), "the third waits")
    assert not third.is_set()
    both.wait(60)
    for thread in threads:
        thread.join(60)
    assert third.is_set()
