"""What a community may set about the scoring of its notes, against manipulation, and about its moderators' desk.

The values are in ``communities.settings``, which only operators write; what integrations send is kept apart in
``communities.supplied``. A value that is missing or invalid is at the service-wide default. The defaults are wired:
``wiring.wire`` puts them on the ``Database``, and every session carries them.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from app.core import limits
from app.core.errors import Invalid
from app.core.models import Community


@dataclass(frozen=True)
class CommunitySettings:
    """One community's settings.

    ``min_ratings``: ratings that a note needs before it gets a status. ``helpful_at``: the score from which it is
    helpful; 0.40 is a predicted helpfulness of 0.75. ``lock_days``: days after which a note's status is final.
    ``stabilisation_minutes``: how long a note must stay helpful before it is published as such; 0 is at once,
    because a review decides within its rater's request.

    ``min_trust_level`` and ``min_age_days``: whose ratings count; None: everybody's. A burst, which moderators decide
    instead, is: more than ``burst_share`` (0.0–1.0; 1.0 never) of an item's ratings of the last ``burst_minutes`` are
    by raters first seen within the last ``burst_hours``, and there are at least ``burst_raters`` of them. Where fewer
    than ``burst_known`` raters have been known for longer, everybody is new and nothing is a burst.
    ``exempt_similarity`` (0.0–1.0): how alike an edited message must be to one that was restored, to be exempt too.

    ``second_look``: whether raters' ratings open the second look of an action that was carried out; moderators and
    appeals always may. ``undo_seconds``: how long a moderator's decision can be undone. ``content_retention_days``:
    how long submitted content is kept; None keeps it.
    """

    min_ratings: int = 5
    helpful_at: float = 0.40
    lock_days: int = 14
    stabilisation_minutes: int = 0
    min_trust_level: int | None = None
    min_age_days: int | None = None
    burst_share: float = 0.5
    burst_minutes: int = 60
    burst_hours: int = 24
    burst_raters: int = 3
    burst_known: int = 20
    exempt_similarity: float = 0.9
    second_look: bool = True
    undo_seconds: float = 10.0
    content_retention_days: int | None = None


BOUNDS: Mapping[str, tuple[float, float]] = {
    "min_ratings": (1, 1_000),
    "helpful_at": (0.0, 0.64),
    "lock_days": (1, 3_650),
    "stabilisation_minutes": (0, 1_440),
    "min_trust_level": (0, limits.TRUST_LEVEL_MAX),
    "min_age_days": (0, 3_650),
    "burst_share": (0.0, 1.0),
    "burst_minutes": (1, 10_080),
    "burst_hours": (1, 8_760),
    "burst_raters": (1, 10_000),
    "burst_known": (0, 10_000),
    "exempt_similarity": (0.0, 1.0),
    "undo_seconds": (0.0, 600.0),
    "content_retention_days": (1, 36_500),
}
"""Least and most of each number. A score of 0.65 is a predicted helpfulness of 1: nothing could reach it."""
_FRACTIONS = frozenset({"helpful_at", "burst_share", "exempt_similarity", "undo_seconds"})
"""The other numbers are whole."""
_SWITCHES = frozenset({"second_look"})
OPTIONAL = frozenset({"min_trust_level", "min_age_days", "content_retention_days"})
"""Those that None switches off."""
NAMES = (*BOUNDS, *_SWITCHES)
_NOT_SCORED = frozenset({"second_look", "undo_seconds", "content_retention_days", "exempt_similarity"})
SCORED = frozenset(NAMES) - _NOT_SCORED
"""Those whose change asks for the notes to be scored anew."""

DEFAULTS = "community_defaults"
"""The key of the service-wide defaults in ``Database.info`` and ``Session.info``."""


def defaults(session: Session) -> CommunitySettings:
    """Service-wide defaults for settings that a community has not set."""
    wired: CommunitySettings = session.info.get(DEFAULTS, CommunitySettings())
    return wired


def for_community(community: Community, defaults: CommunitySettings) -> CommunitySettings:
    """The community's settings in force."""
    return parse_stored(community.settings, defaults)


def parse_stored(given: Mapping[str, Any] | None, defaults: CommunitySettings) -> CommunitySettings:
    """The settings in a stored object; what is missing or invalid is at its default."""
    stored = given or {}
    return replace(
        defaults,
        **{name: stored[name] for name in NAMES if name in stored and _is_valid(name, stored[name])},
    )


def read(session: Session, community_id: uuid.UUID) -> CommunitySettings:
    """The settings in force of the community with this id."""
    return for_community(session.get_one(Community, community_id), defaults(session))


def check(values: Mapping[str, Any]) -> None:
    """Refuse values that cannot be stored.

    Raises:
        Invalid: a value is outside its bounds or of the wrong kind; names every field.
    """
    known = {name: values[name] for name in NAMES if name in values}
    for name, value in known.items():
        if name in _SWITCHES and not isinstance(value, bool):
            raise Invalid.field(name, "must be true or false", value)
        if not _is_valid(name, value):
            least, most = BOUNDS[name]
            kind = "number" if name in _FRACTIONS else "whole number"
            raise Invalid.field(name, f"must be a {kind} from {least:g} to {most:g}", value)


def _is_valid(name: str, value: Any) -> bool:
    if name in _SWITCHES:
        return isinstance(value, bool)
    if value is None:
        return name in OPTIONAL
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name not in _FRACTIONS and not isinstance(value, int):
        return False
    least, most = BOUNDS[name]
    return bool(least <= value <= most)
