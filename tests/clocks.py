"""The service's clock in tests: put where a test wants it, and put right again after each (``tests/conftest.py``)."""

from datetime import datetime, timedelta

from app.core import clock


def at(moment: datetime) -> None:
    """It is ``moment`` from now on, and stays so."""
    clock.set_source(lambda: moment)


def advance(seconds: float = 0.0, **by: float) -> None:
    """So much later than it is now, and there it stays; ``by`` as ``timedelta`` takes it."""
    at(clock.now() + timedelta(seconds=seconds, **by))
