"""Settings of a community: scoring of its notes, protection against manipulation, and review by moderators.

The values are in ``communities.settings``, which only operators write; values that integrations send are stored in
``communities.supplied``. A missing or invalid value falls back to the service-wide default. ``wiring.wire`` sets the
defaults in ``Database.info`` at start-up, and every session has them in ``Session.info``.
"""

import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.orm import Session

from app.core import limits
from app.core.communities import cited_pages
from app.core.errors import Invalid
from app.core.models import Community
from app.core.vocabulary import WhoDecides

SUPPORT_TEXT = (
    "Thank you for writing this. You do not have to be alone with it. If you may be in danger, please call your local "
    "emergency number now. In many countries people listen day and night: 988 in the USA and Canada, 116 123 in "
    "much of Europe, 13 11 14 in Australia; findahelpline.com lists others."
)
"""The shipped answer to a post about self-harm."""


@dataclass(frozen=True)
class CommunitySettings:
    """One community's settings.

    ``min_ratings``: ratings that a note needs before it gets a status. ``helpful_at``: the score from which it is
    helpful; 0.40 is a predicted helpfulness of 0.75. ``published``: whether a large community shows only the notes that
    the published algorithm shows (docs/develop/consensus.md). ``lock_days``: days after which a note's status is final.
    ``stabilisation_minutes``: how long a note must stay helpful before it is published as helpful. With 0, the
    default, it is published at once, so a review is decided within the request of its last rater.

    ``min_trust_level`` and ``min_age_days``: minimums for raters whose ratings count; None: no minimum. A burst sends
    the decision to moderators. It is a burst if more than ``burst_share`` (0.0–1.0; 1.0: never) of an item's ratings of
    the last ``burst_minutes`` are by raters first seen within the last ``burst_hours``, and there are at least
    ``burst_raters`` of them. Where fewer than ``burst_known`` raters were first seen earlier, nothing is a burst.
    ``exempt_similarity`` (0.0–1.0): how similar an edited message must be to a restored one to be exempt too.

    ``second_look``: whether ratings open a second look of an action that was carried out; moderators and appeals can
    always open one. ``undo_seconds``: how long a moderator's decision can be undone. ``content_retention_days``: how
    long submitted content is stored; None: without limit.

    ``who_decides``: whose ratings decide a review (``WhoDecides``). ``panel_seats``: the seats of a drawn panel,
    ``panel_hours``: after how many hours a seat that is not used is drawn again (docs/moderate/panels.md).

    ``moderator_figures``: whether Insights shows figures about each moderator, to all who may see Insights.
    Operators are told when more than ``backlog_alert`` reviews wait, when one has waited more than ``overdue_alert``
    times its target time, and when automatic actions have been paused for ``pause_alert_hours``; None: never.

    ``note_pages``: the pages that AI notes may cite, one a line with what it says (``core.communities.cited_pages``).
    ``support_text``: what the author of a post about self-harm is told with a notice; empty: nothing.
    """

    min_ratings: int = 5
    helpful_at: float = 0.40
    published: bool = False
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
    who_decides: str = WhoDecides.EVERYONE.value
    panel_seats: int = 12
    panel_hours: int = 24
    moderator_figures: bool = False
    note_pages: str = ""
    support_text: str = SUPPORT_TEXT
    backlog_alert: int | None = 500
    overdue_alert: int | None = 3
    pause_alert_hours: int | None = 24


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
    "panel_seats": (7, 25),
    "panel_hours": (1, 168),
    "backlog_alert": (1, 10_000),
    "overdue_alert": (2, 100),
    "pause_alert_hours": (1, 8_760),
}
"""Minimum and maximum of each number. A score of 0.65 is a predicted helpfulness of 1, which no note can exceed."""
_FRACTIONS = frozenset({"helpful_at", "burst_share", "exempt_similarity", "undo_seconds"})
"""Settings that may have decimals; the other numbers are whole."""
SWITCHES = frozenset({"published", "second_look", "moderator_figures"})
_CHOICES: Mapping[str, Collection[str]] = {"who_decides": tuple(member.value for member in WhoDecides)}
_TEXTS: Mapping[str, Callable[[str], object]] = {
    "note_pages": cited_pages.parse,
    "support_text": lambda text: limits.text(text, "support_text", limits.REASON_MAX, least=0),
}
"""What raises Invalid for a text that cannot be used."""
OPTIONAL = frozenset(
    {
        "min_trust_level",
        "min_age_days",
        "content_retention_days",
        "backlog_alert",
        "overdue_alert",
        "pause_alert_hours",
    }
)
"""Settings that None switches off."""
NAMES = (*BOUNDS, *SWITCHES, *_CHOICES, *_TEXTS)
_NOT_SCORED = frozenset(
    {
        "second_look",
        "moderator_figures",
        "undo_seconds",
        "content_retention_days",
        "exempt_similarity",
        "who_decides",
        "panel_seats",
        "panel_hours",
        "note_pages",
        "support_text",
        "backlog_alert",
        "overdue_alert",
        "pause_alert_hours",
    }
)
SCORED = frozenset(NAMES) - _NOT_SCORED
"""Settings whose change requires scoring the community's notes again."""

DEFAULTS = "community_defaults"
"""The key of the service-wide defaults in ``Database.info`` and ``Session.info``."""


def defaults(session: Session) -> CommunitySettings:
    """Service-wide defaults for settings that a community has not set."""
    wired: CommunitySettings = session.info.get(DEFAULTS, CommunitySettings())
    return wired


def for_community(community: Community, defaults: CommunitySettings) -> CommunitySettings:
    """The community's settings, with defaults for those it has not set."""
    return parse_stored(community.settings, defaults)


def parse_stored(stored: Mapping[str, Any] | None, defaults: CommunitySettings) -> CommunitySettings:
    """The settings in a stored JSON object, with defaults for missing or invalid values."""
    values = stored or {}
    return replace(
        defaults,
        **{name: values[name] for name in NAMES if name in values and _is_valid(name, values[name])},
    )


def read(session: Session, community_id: uuid.UUID) -> CommunitySettings:
    """The settings of the community with this id, as ``for_community``."""
    return for_community(session.get_one(Community, community_id), defaults(session))


def check(values: Mapping[str, Any]) -> None:
    """Refuse values that are out of bounds or of the wrong type.

    Raises:
        Invalid: a value is outside its bounds or of the wrong type; names the first such field.
    """
    known = {name: values[name] for name in NAMES if name in values}
    for name, value in known.items():
        if name in SWITCHES and not isinstance(value, bool):
            raise Invalid.field(name, "must be true or false", value)
        if name in _CHOICES and value not in _CHOICES[name]:
            raise Invalid.field(name, f"must be one of {', '.join(_CHOICES[name])}", value)
        if name in _TEXTS:
            limits.text(value, name, cited_pages.TEXT_MAX, least=0)
            _TEXTS[name](value)
            continue
        if not _is_valid(name, value):
            least, most = BOUNDS[name]
            kind = "number" if name in _FRACTIONS else "whole number"
            raise Invalid.field(name, f"must be a {kind} from {least:g} to {most:g}", value)


def _is_valid(name: str, value: Any) -> bool:
    if name in SWITCHES:
        return isinstance(value, bool)
    if name in _CHOICES:
        return isinstance(value, str) and value in _CHOICES[name]
    if name in _TEXTS:
        return isinstance(value, str)
    if value is None:
        return name in OPTIONAL
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if name not in _FRACTIONS and not isinstance(value, int):
        return False
    least, most = BOUNDS[name]
    return bool(least <= value <= most)
