"""The list of versions on the thresholds and classifiers pages: who created each, why, and what changed."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, TypeVar

from app.core import texts
from app.core.permissions import SYSTEM
from app.core.texts import gettext as _


class Version(Protocol):
    """A stored version; newer ones have higher numbers."""

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
    """A version in the list. ``changes`` describes the differences to the version before it."""

    number: int
    made_by: str
    made_at: datetime
    reason: str
    changes: Sequence[str]
    is_current: bool

    @property
    def mark(self) -> str:
        return _("in force") if self.is_current else ""


def rows(
    versions: Sequence[AnyVersion],
    most: int,
    *,
    current: int,
    changes: Callable[[AnyVersion | None, AnyVersion], Sequence[str]],
) -> list[VersionRow]:
    """Return rows for the first ``most`` of ``versions``, newest first.

    ``changes(before, after)`` describes the differences; ``before`` is None for the oldest version.
    """
    older: list[AnyVersion | None] = [*versions[1:], None]
    return [
        VersionRow(
            number=version.version,
            made_by=version.made_by,
            made_at=version.created_at,
            reason=texts.stored(version.reason) if version.made_by == SYSTEM.name else version.reason,
            changes=changes(before, version),
            is_current=version.version == current,
        )
        for version, before in list(zip(versions, older, strict=False))[:most]
    ]
