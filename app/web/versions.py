"""The list of versions on the thresholds and classifiers pages: who created each, why, and what changed."""

from collections.abc import Callable, Sequence
from typing import Any

from app.core import texts
from app.core.permissions import SYSTEM
from app.core.texts import gettext as _


def rows(
    versions: Sequence[Any], most: int, *, current: int, changes: Callable[[Any, Any], Sequence[str]]
) -> list[dict[str, Any]]:
    """Return rows of ``macros/versions.html`` for the first ``most`` of ``versions``, newest first.

    ``changes(before, after)`` describes the differences; ``before`` is None for the oldest version.
    """
    return [
        {
            "number": version.version,
            "made_by": version.made_by,
            "made_at": version.created_at,
            "reason": texts.stored(version.reason) if version.made_by == SYSTEM.name else version.reason,
            "changes": changes(before, version),
            "is_current": version.version == current,
            "mark": _("in force") if version.version == current else "",
        }
        for version, before in list(zip(versions, [*versions[1:], None], strict=False))[:most]
    ]
