"""How urgent a review is: when people should have decided it, and its place in the order "Most urgent".

The place is a moment, computed once when the review opens: the target time, brought forward by a head start for harm.
The earliest moment comes first. So an item rises in the queue as it grows older, and an index serves the order, because
nothing in it changes while time passes (docs/moderate/moderator.md).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

_SEVERITY_HOURS, _SEVERITY_MOST = 0.1, 24.0
_REPORT_HOURS, _REPORTS_MOST = 2.0, 12.0
_VIEW_HOURS, _VIEWS_MOST = 1.0, 6.0
_SCORE_HOURS = 2.0
"""Head starts in hours: for each point of severity, each doubling of the reports, each tenfold of the views, and for
the score 1.0; with the most that each can give."""


@dataclass(frozen=True)
class Urgency:
    """``due_at``: when people should have decided. ``urgent_at``: the place in the queue, the earliest first."""

    due_at: datetime
    urgent_at: datetime


def urgency(
    opened_at: datetime, target_minutes: int, severity: int, score: float, metadata: Mapping[str, Any] | None
) -> Urgency:
    """Return how urgent a review is. ``metadata`` is the request's; its ``reports`` and ``views`` count."""
    due_at = opened_at + timedelta(minutes=target_minutes)
    hours = (
        min(severity * _SEVERITY_HOURS, _SEVERITY_MOST)
        + min(_REPORT_HOURS * math.log2(1 + figure(metadata, "reports")), _REPORTS_MOST)
        + min(_VIEW_HOURS * math.log10(1 + figure(metadata, "views")), _VIEWS_MOST)
        + _SCORE_HOURS * score
    )
    return Urgency(due_at, due_at - timedelta(hours=hours))


def figure(metadata: Mapping[str, Any] | None, name: str) -> int:
    """Return a number that an integration gave, such as ``reports``; of a list its length; 0 for anything else."""
    value = (metadata or {}).get(name)
    if isinstance(value, list):
        return len(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        return 0
    return int(min(value, 10**12))
