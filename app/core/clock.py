"""The only clock. All code that stores or compares times calls it, so that tests can freeze time."""

from collections.abc import Callable
from datetime import UTC, datetime


def _system() -> datetime:
    return datetime.now(UTC)


_source: Callable[[], datetime] = _system


def now() -> datetime:
    """The current time as an aware UTC datetime with microseconds."""
    return _source()


def set_source(source: Callable[[], datetime] | None) -> None:
    """Replace the clock (in tests); ``None`` restores the system clock."""
    global _source
    _source = source or _system


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with fractional seconds and ``Z`` (docs/integrate/api.md)."""
    in_utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return in_utc.isoformat(timespec="microseconds")[:-6] + "Z"
