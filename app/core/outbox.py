"""Work that a transaction leaves for after its commit: jobs for the job engine, a wake-up for the dispatcher.

The core does not know the job engine. A verb adds the job to its session, and ``Database.writing`` passes all added
jobs to the engine just before the commit, in the same transaction. A rollback discards them.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.orm import Session


@dataclass(frozen=True)
class Job:
    """A named job. Jobs with the same ``key`` run once; ``delay`` is in seconds.

    ``community`` is the id of the community that the job works for, as text; a backlog of one community's jobs does not
    delay another's. None: the job belongs to the service itself. Of the jobs of one community that wait, those with a
    lower ``priority`` run first.
    """

    name: str
    args: Mapping[str, Any] = field(default_factory=dict)
    key: str | None = None
    delay: float = 0.0
    community: str | None = None
    priority: int = 0


def enqueue(
    session: Session,
    name: str,
    args: Mapping[str, Any],
    *,
    community_id: uuid.UUID | None,
    key: str | None = None,
    delay: float = 0.0,
    priority: int = 0,
) -> None:
    """Add a job to the session. ``args`` must be plain JSON values."""
    community = None if community_id is None else str(community_id)
    session.info.setdefault("jobs", []).append(Job(name, dict(args), key, delay, community, priority))


def take_jobs(session: Session) -> list[Job]:
    return list(session.info.pop("jobs", []))


def wake_dispatcher(session: Session) -> None:
    """Wake the webhook dispatcher as soon as this transaction commits, because deliveries are due."""
    session.info["wake"] = True


def take_wake(session: Session) -> bool:
    return bool(session.info.pop("wake", False))
