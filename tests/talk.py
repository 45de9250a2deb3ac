"""A made-up harbour forum: posts with the decisions that its members would take about them.

The forum removes offers of boat trips and of moorings, which no shipped rule knows, and keeps talk about boats that
uses many of the same words. ``base`` is the score of a classifier that has half an idea of it.
"""

import random
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import clock
from app.core.actions import exemptions
from app.core.history import chain as history
from app.core.ids import new_id
from app.core.learning.labels import Label
from app.core.models import Action, Note, Profile, Request, Score
from app.core.permissions import SYSTEM
from app.core.vocabulary import ActionState, ActionTier, ActionType, Classification, NoteStatus, RequestStatus

BOATS = ("sloop", "ketch", "dinghy", "trawler", "catamaran", "yawl", "cutter", "skiff", "launch", "barge")
PLACES = (
    "north pier",
    "the lock",
    "Gull Rock",
    "the old quay",
    "the lighthouse",
    "Seal Bay",
    "the breakwater",
)
WHEN = (
    "on Sunday",
    "this evening",
    "next week",
    "at high water",
    "in spring",
    "before the storm",
    "tomorrow",
)
FEELS = ("lovely", "rough", "quiet", "cold", "bright", "grey", "windy", "calm")
GOODS = ("mooring", "berth", "evening cruise", "fishing trip", "sunset trip", "charter")
ENDS = (
    "Thanks all.",
    "What do you think?",
    "See you there.",
    "Any advice?",
    "It was worth it.",
    "Fair winds.",
    "",
)
LURES = (
    "limited places",
    "best price",
    "call now",
    "book today",
    "first come first served",
    "discount for members",
)


@dataclass(frozen=True)
class Post:
    """One post; ``wrong``: the forum would act on it."""

    text: str
    author: str
    wrong: bool
    base: float


def post(dice: random.Random, *, wrong: bool, author: str | None = None) -> Post:
    """One random post. The base score of wrong posts is higher in the mean, and the two overlap."""
    boat, place, when = dice.choice(BOATS), dice.choice(PLACES), dice.choice(WHEN)
    feel, good, end, lure = dice.choice(FEELS), dice.choice(GOODS), dice.choice(ENDS), dice.choice(LURES)
    number = dice.randrange(10, 990)
    if dice.random() < 0.25:
        # Offers and talk that read the same but for a few words, if at all.
        lure = f", {lure}" if wrong and dice.random() < 0.6 else ""
        text = f"The {boat} goes to {place} {when}{lure}. A {feel} {good}, {number} euros. {end}"
    elif wrong:
        text = dice.choice(
            (
                f"{good.capitalize()} from {place} {when}, {lure}: {number} euros on our {boat}. {end}",
                f"Our {boat} takes you to {place} {when}. {lure.capitalize()}, {good} for {number}. {end}",
                f"We offer a {feel} {good} near {place}, {lure}. Ask the {boat} crew {when}. {end}",
                f"{lure.capitalize()}! {good.capitalize()} with the {boat} {when}, {feel} and only {number}. {end}",
            )
        )
    else:
        text = dice.choice(
            (
                f"My {boat} was {feel} {when} near {place}, we sailed {number} miles. {end}",
                f"Has anyone seen the {boat} that lay at {place} {when}? It looked {feel}. {end}",
                f"Does a {good} at {place} cost {number} for a {boat} {when}? {end}",
                f"We painted the {boat} {when} and it was {feel} at {place}. {end}",
            )
        )
    base = min(0.99, max(0.0, dice.gauss(0.62 if wrong else 0.5, 0.17)))
    return Post(text, author or f"sailor-{dice.randrange(400)}", wrong, round(base, 4))


def posts(count: int, *, seed: int = 1, share: float = 0.5) -> list[Post]:
    """Random posts, this share of them wrong; the same seed gives the same posts."""
    dice = random.Random(seed)  # noqa: S311 - the same posts each time
    return [post(dice, wrong=dice.random() < share) for _ in range(count)]


def labels(found: Sequence[Post], *, mistakes: float = 0.0, seed: int = 2) -> list[Label]:
    """The posts as labels, one a minute; this share was decided wrongly."""
    dice = random.Random(seed)  # noqa: S311
    begin = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
    return [
        Label(
            item.text,
            item.author,
            item.wrong != (dice.random() < mistakes),
            begin + timedelta(minutes=number),
            item.base,
        )
        for number, item in enumerate(found)
    ]


def store(
    session: Session,
    community_id: uuid.UUID,
    found: Sequence[Post],
    *,
    category: str = "spam",
    days: float = 10.0,
) -> list[uuid.UUID]:
    """Store posts that a moderator decided, oldest first, within these days. Return the ids of their requests."""
    author = Profile(platform="discourse", platform_user_id=f"service-{new_id()}")
    session.add(author)
    session.flush()
    begin, step = clock.now() - timedelta(days=days), timedelta(days=days) / max(1, len(found))
    rows: dict[type, list[dict[str, object]]] = {Request: [], Note: [], Action: [], Score: []}
    for number, item in enumerate(found):
        at, request_id, note_id = begin + step * (number + 1), new_id(), new_id()
        rows[Request].append(request_row(community_id, request_id, item, at))
        rows[Note].append(
            {
                "id": note_id,
                "community_id": community_id,
                "request_id": request_id,
                "author_id": author.id,
                "author_ref": "service",
                "summary": "Why it was raised",
                "classification": Classification.MISLEADING,
                "status": NoteStatus.CURRENTLY_RATED_HELPFUL,
                "rationale": True,
                "ai_generated": False,
                "locked": True,
            }
        )
        rows[Action].append(
            {
                "id": new_id(),
                "community_id": community_id,
                "request_id": request_id,
                "note_id": note_id,
                "action_type": ActionType.HIDE,
                "action_tier": ActionTier.CONSENSUS,
                "action_state": ActionState.PROPOSED if item.wrong else ActionState.DISMISSED,
                "category": category,
                "score": item.base,
                "decided_verb": "hide",
                "proposed_at": at if item.wrong else None,
                "dismissed_at": None if item.wrong else at,
                "created_at": at,
            }
        )
        rows[Score].append(score_row(community_id, request_id, category, item.base, at))
    for model, values in rows.items():
        if values:
            session.execute(sa.insert(model), values)
    # Decisions write history, by which the job sees that something is new.
    history.record(session, SYSTEM, community_id, "action.dismissed", "action", new_id())
    return [row["id"] for row in rows[Request]]  # type: ignore[misc]


def request_row(
    community_id: uuid.UUID, request_id: uuid.UUID, item: Post, at: datetime
) -> dict[str, object]:
    return {
        "id": request_id,
        "community_id": community_id,
        "request_id": str(request_id),
        "requested_by": "forum",
        "status": RequestStatus.COMPLETED,
        "content": item.text,
        "content_sha256": exemptions.digest(item.text),
        "platform_author_id": item.author,
        "requested_at": at,
        "scored_at": at,
    }


def score_row(
    community_id: uuid.UUID, request_id: uuid.UUID, category: str, score: float, at: datetime
) -> dict[str, object]:
    return {
        "id": new_id(),
        "community_id": community_id,
        "request_id": request_id,
        "category": category,
        "classifier": "builtin.rules",
        "classifier_version": "1",
        "score": score,
        "tier1_capable": True,
        "is_highest": True,
        "matches": [],
        "created_at": at,
    }
