"""What the core refuses. Each edge (API, dashboard, command line) maps this tree to its messages and status once.

Refused
├── Invalid            422  a value breaks a rule; names the field
│   └── IllegalMove    422  the state table has no such row
├── Malformed          400  the request itself cannot be read
├── Unauthenticated    401
├── Forbidden          403
├── NotFound           404  unknown, or another community's: the two look the same
├── Conflict           409  someone else was first
├── TooMany            429  with the seconds to wait
└── Unavailable        503  with the seconds to wait, when known
    ├── UpstreamFailed   502
    └── UpstreamTimeout  504
"""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One thing wrong with one field (docs/integrate/api.md)."""

    type: str
    loc: tuple[str | int, ...]
    msg: str
    input: Any = None


class Refused(Exception):
    """The core refuses the call; ``detail`` is one sentence for the caller."""

    def __init__(self, detail: str) -> None:
        detail = str(detail)  # a constant is said in the language of this thread
        super().__init__(detail)
        self.detail = detail


class Invalid(Refused):
    """A value breaks a rule. Each of ``problems`` names its field by the bare path (no ``body`` prefix)."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__("; ".join(f"{'.'.join(map(str, p.loc))}: {p.msg}" for p in problems))
        self.problems = problems

    @classmethod
    def field(cls, name: str, msg: str, value: Any = None, type: str = "value_error") -> "Invalid":
        return cls(Problem(type, (name,), msg, value))


class IllegalMove(Invalid):
    """The state table has no row from ``current`` to ``wanted`` (docs/integrate/api.md)."""

    def __init__(self, field: str, current: str, wanted: str) -> None:
        super().__init__(
            Problem("illegal_move", (field,), f"cannot move from {current} to {wanted}", wanted),
        )
        self.current = current
        self.wanted = wanted


class Malformed(Refused):
    """The request cannot be read: it is ambiguous, or in no known form."""


class Unauthenticated(Refused):
    """The caller sent no credentials, or invalid ones."""


class Forbidden(Refused):
    """The caller is known but not allowed to do this."""


class Settled(Forbidden):
    """The rating can no longer change, because its rater has seen the outcome (decision 0030)."""


class NotFound(Refused):
    """Unknown, or outside the actor's communities; the two look the same on purpose."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")


class Conflict(Refused):
    """Someone else was first. ``object_id`` is the object that conflicts, if there is one."""

    def __init__(self, detail: str, object_id: Any = None) -> None:
        super().__init__(detail)
        self.object_id = object_id


class TooMany(Refused):
    """Over a rate limit. ``retry_after`` is in whole seconds, at least 1."""

    def __init__(self, detail: str, retry_after: int) -> None:
        super().__init__(detail)
        self.retry_after = max(1, retry_after)


class Unavailable(Refused):
    """The service cannot answer now. ``retry_after`` is in seconds, None when unknown."""

    def __init__(self, detail: str, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class UpstreamFailed(Unavailable):
    """A service that we depend on failed or returned an invalid answer."""


class UpstreamTimeout(Unavailable):
    """A service that we depend on did not answer before the deadline."""
