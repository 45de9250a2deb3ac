"""Work that a thread does during a block."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def alongside(name: str, work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Do ``work`` in a thread of this name during the block, whose end sets the event and waits for the thread."""
    ended = threading.Event()
    thread = threading.Thread(target=work, args=(ended,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
