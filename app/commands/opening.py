"""Functions that commands share: read the settings, and open the wiring for one command."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from app.process import logs, runtime
from app.settings import Settings
from app.wiring import Wiring


def prepared_settings(**options: Any) -> Settings:
    """Read and check the settings, overridden by command line options that are not None. Creates the data folder."""
    settings = runtime.check(read_settings(options))
    logs.configure("WARNING", security_level="WARNING")
    return settings.ready()


def read_settings(options: Mapping[str, Any]) -> Settings:
    """Read the settings from the environment and .env, overridden by command line options that are not None."""
    return Settings(**{name: value for name, value in options.items() if value is not None})


@contextlib.contextmanager
def opened_wiring() -> Iterator[Wiring]:
    """Open the wiring with a migrated database, for one command."""
    with runtime.opened(prepared_settings()) as wiring:
        yield wiring
