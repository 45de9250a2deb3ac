"""Rows of lists of changes: what they say of a setting that is a list."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from app.core.communities.settings import SETTINGS
from app.core.models import HistoryEntry, HistoryText
from app.web.community import changes

LABEL = SETTINGS["note_pages"].label
SALT, WATER, TEA = (
    f"https://health.example.org/{name} What doctors say" for name in ("salt", "water", "tea")
)
MANY = "\n".join(f"https://health.example.org/{number} It" for number in range(9))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("", SALT, [f"added {SALT}"]),
        (None, SALT, [f"added {SALT}"]),
        (SALT, "", [f"removed {SALT}"]),
        (f"{SALT}\n{WATER}", f"{SALT}\n\n{TEA}", [f"removed {WATER}", f"added {TEA}"]),
        (f"{SALT}\n{WATER}", f"{WATER}\n{SALT}", ["in another order"]),
        (f"{SALT} {'x' * 99}", "", [f"removed {SALT} {'x' * (58 - len(SALT))}…"]),
        ("", MANY, [*(f"added {line}" for line in MANY.splitlines()[:6]), "3 more lines changed"]),
    ],
)
def test_a_change_of_the_pages_names_the_lines_that_came_and_went(
    before: str | None, after: str, said: Sequence[str]
) -> None:
    entry = HistoryEntry(
        at=datetime(2026, 3, 1, tzinfo=UTC),
        what="community.revised",
        object_type="community",
        before={} if before is None else {"note_pages": before},
        after={"note_pages": after},
    )
    (row,) = changes.rows([(entry, HistoryText(actor_name="Olga", reason="Better pages"))])
    assert row["changes"] == [f"{LABEL}: {line}" for line in said]
