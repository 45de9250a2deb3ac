"""Sets the service's clock in tests. ``tests/conftest.py`` resets it after each test."""

from datetime import datetime, timedelta

from app.core import clock


def at(moment: datetime) -> None:
    """Stop the clock at ``moment``."""
    clock.set_source(lambda: moment)


def advance(seconds: float = 0.0, **by: float) -> None:
    """Move the clock forward and stop it there; ``by`` has the arguments of ``timedelta``."""
    at(clock.now() + timedelta(seconds=seconds, **by))
