"""Why something was done: the words that go with a change, from the form or the service to its history entry."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """What a person says about a change, or the service's own reason for it.

    ``reason`` is shown in the action history. ``comment`` is for other moderators. Both are a person's words and go
    when that person is erased. ``cause`` is written by the service and stays.
    """

    reason: str = ""
    comment: str = ""
    cause: str = ""


NO_REASON = Reason()
"""Neither a person nor the service gave a reason."""
