"""What commands share: reading the settings and opening the service for one command."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from app.process import logs, runtime
from app.settings import Settings
from app.wiring import Wiring


def prepared_settings(**given: Any) -> Settings:
    """The settings in force, with what was given on the command line on top, and the data folder made."""
    settings = runtime.check(read_settings(given))
    logs.configure("WARNING")
    return settings.ready()


def read_settings(given: Mapping[str, Any]) -> Settings:
    """The settings of the environment and of .env, with what was given on the command line on top."""
    return Settings(**{name: value for name, value in given.items() if value is not None})


@contextlib.contextmanager
def opened_wiring() -> Iterator[Wiring]:
    """The service over a migrated database, for one command."""
    with runtime.opened(prepared_settings()) as wiring:
        yield wiring
