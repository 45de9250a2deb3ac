"""What a transaction leaves to be done once it commits: jobs for the engine, a wake-up for the dispatcher.

The core never sees the job engine: a verb notes the job on its session, and ``Database.writing`` hands what was
noted to the engine just before the commit, in the same transaction. A rollback forgets it all.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session


@dataclass(frozen=True)
class Job:
    """A named piece of work. ``key`` makes it run once however often it is noted; ``delay`` is in seconds.

    ``community`` is whose work it is, as text: the jobs of one community hold up no other's. None is the service's own.
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    delay: float = 0.0
    community: str | None = None


def enqueue(
    session: Session,
    name: str,
    args: Mapping[str, Any],
    *,
    community_id: uuid.UUID | None,
    key: str | None = None,
    delay: float = 0.0,
) -> None:
    """Note a job on the session. ``args`` must be plain JSON values."""
    community = None if community_id is None else str(community_id)
    session.info.setdefault("jobs", []).append(Job(name, dict(args), key, delay, community))


def take_jobs(session: Session) -> list[Job]:
    return list(session.info.pop("jobs", []))


def wake_dispatcher(session: Session) -> None:
    """Say that deliveries are due as soon as this transaction commits."""
    session.info["wake"] = True


def take_wake(session: Session) -> bool:
    return bool(session.info.pop("wake", False))
