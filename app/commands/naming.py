"""The options --platform and --community, which name communities. Unknown communities are opened."""

from collections.abc import Sequence

import click
from sqlalchemy.orm import Session

from app.core.communities import communities
from app.core.models import Community
from app.core.permissions import SYSTEM


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
