"""Functions that commands share: the settings, the wiring, and communities named by options."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
from sqlalchemy.orm import Session

from app.core.communities import communities
from app.core.models import Community
from app.core.permissions import SYSTEM
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


def pairs(platforms: Sequence[str], community_ids: Sequence[str]) -> list[tuple[str, str]]:
    """Return (platform, id) of each community. One --platform may be given for several --community.

    Raises click.UsageError if the numbers do not match.
    """
    if platforms and not community_ids:
        raise click.UsageError("--platform needs a --community: the platform's own id of it")
    if community_ids and not platforms:
        raise click.UsageError("--community needs a --platform, such as discourse")
    if len(platforms) == 1:
        platforms = list(platforms) * len(community_ids)
    if len(platforms) != len(community_ids):
        raise click.UsageError("Give one --platform for all, or one --platform for each --community")
    return list(zip(platforms, community_ids, strict=True))


def community_of(session: Session, platform: str, community_id: str) -> Community:
    """Return the community with this platform id; open it if unknown."""
    return communities.look_up(session, SYSTEM, platform, community_id)[0]
