"""What surrounds the demonstration: what was said before its posts, and the reasons its moderators choose from."""

from datetime import datetime, timedelta
from typing import Any

from app.core import clock
from app.core.reason_templates import ReasonDraft

REASONS = (
    ReasonDraft("Advertising", "This advertises something. Selling is not what this forum is for.", "spam"),
    ReasonDraft("Attack on a person", "This attacks a person instead of what they said.", "toxicity"),
    ReasonDraft("Private details", "This names private details of somebody who did not agree to it.", "pii"),
    ReasonDraft("Within the rules", "This is sharp, but it stays with the subject and attacks nobody."),
)
_THREADS = (
    (
        "Ferry on Sundays?",
        "Does anybody know whether the ferry runs on Sundays in winter?",
        "Only in the morning, and only when the wind allows it.",
    ),
    (
        "New berths at the old quay",
        "The harbour office wants to rent out six more berths.",
        "Then the rowing club has nowhere to land.",
        "Nobody asked us, as ever.",
    ),
    ("Market day moved", "The market is on Thursday this week, because of the regatta."),
)
_EVERY = 3
"""One post in so many answers to something."""


def surroundings(number: int, at: datetime) -> dict[str, Any] | None:
    """The ``metadata`` of a post, as a forum's integration gives it; None for one that begins a thread."""
    if number % _EVERY:
        return None
    title, *said = _THREADS[number // _EVERY % len(_THREADS)]
    return {
        "title": title,
        "thread": [
            {
                "author": f"member-{1 + (number + place) % 17}",
                "text": text,
                "timestamp": clock.iso(at - timedelta(minutes=7 * (len(said) - place))),
            }
            for place, text in enumerate(said)
        ],
    }
