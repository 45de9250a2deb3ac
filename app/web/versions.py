"""The list of versions that the pages of thresholds and of rules share: who made each, why, and what it changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar


class Version(Protocol):
    """What a kept version knows of itself; newer ones have higher numbers."""

    @property
    def version(self) -> int: ...
    @property
    def made_by(self) -> str: ...
    @property
    def created_at(self) -> datetime: ...
    @property
    def reason(self) -> str: ...


AnyVersion = TypeVar("AnyVersion", bound=Version)


@dataclass(frozen=True)
class VersionRow:
    """A version as the list shows it; ``changes`` are against the version before it."""

    number: int
    made_by: str
    made_at: datetime
    reason: str
    changes: Sequence[str]
    is_current: bool


def rows(
    versions: Sequence[AnyVersion],
    most: int,
    *,
    current: int,
    changes: Callable[[AnyVersion | None, AnyVersion], Sequence[str]],
) -> list[VersionRow]:
    """The first ``most`` of ``versions``, which come newest first; ``changes(before, after)`` tells what differs.

    Before the oldest there is None.
    """
    older: list[AnyVersion | None] = [*versions[1:], None]
    return [
        VersionRow(
            number=made.version,
            made_by=made.made_by,
            made_at=made.created_at,
            reason=made.reason,
            changes=changes(before, made),
            is_current=made.version == current,
        )
        for made, before in list(zip(versions, older, strict=False))[:most]
    ]
