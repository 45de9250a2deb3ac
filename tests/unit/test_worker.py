"""The worker of the server, as far as it can be looked at without a server (tests/faults/test_serve.py has one)."""

import logging
import os
import signal

import pytest
from gunicorn.config import Config

from app.process.worker import WaitressWorker


@pytest.mark.parametrize(("graceful", "seconds"), [(30, 15), (10, 5), (1, 1)])
def test_running_requests_get_half_of_the_time_until_the_worker_is_killed(
    graceful: int, seconds: float
) -> None:
    settings = Config()
    settings.set("graceful_timeout", graceful)
    worker = WaitressWorker(1, os.getpid(), [], None, 60, settings, logging.getLogger())
    try:
        assert worker.patience() == seconds
        worker.handle_quit(signal.SIGINT, None)
        assert worker.patience() == 2, "after Ctrl-C"
    finally:
        worker.tmp.close()
