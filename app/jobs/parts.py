"""The parts of a periodic job: one that fails is logged and does not keep the others from running."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

log = logging.getLogger(__name__)


@contextmanager
def part(what: str) -> Iterator[None]:
    """Run one part of a job. An error in it is logged as that of a failed job is, and the next run tries it again.

    ``what`` is the part's name in the log, such as "training the model of community …".
    """
    try:
        yield
    except Exception:
        log.exception("A part of a job failed, and the next run tries it again: %s.", what)
