"""A busy quarter of a community in rows: submissions, actions, decisions, ratings, deliveries. No verbs, for speed."""

import random
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import sqlalchemy as sa

from app.core import clock
from app.core.ids import new_id
from app.core.models import (
    Action,
    Attempt,
    Decision,
    Delivery,
    Event,
    Note,
    Profile,
    Rating,
    Request,
    Score,
    Webhook,
)
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionType,
    Classification,
    DeliveryState,
    EventName,
    HelpfulnessLevel,
    NoteStatus,
    RequestStatus,
    ReviewGroup,
)
from app.wiring import Wiring

SUBMITTED, RATERS, BATCH = 100_000, 300, 2_500
DAYS = 90
TEXT = (
    "What somebody wrote about the harbour, the ferry and the quay, at the usual length of a post in a forum. "
    * 3
)

Rows = dict[type[Any], list[dict[str, Any]]]


def fill(wiring: Wiring, community_id: uuid.UUID, categories: tuple[str, ...]) -> None:
    """One submission in three is reviewed, one in twenty acted on at once; five ratings a review."""
    endpoint_id, raters = _people(wiring, community_id)
    for rows in _batches(community_id, endpoint_id, raters, categories):
        with wiring.database.writing() as session:
            for model, values in rows.items():
                session.execute(sa.insert(model), values)
    with wiring.database.writing() as session:
        session.execute(sa.text("ANALYZE"))


def _people(wiring: Wiring, community_id: uuid.UUID) -> tuple[uuid.UUID, list[uuid.UUID]]:
    with wiring.database.writing() as session:
        raters = [Profile(platform="bench", platform_user_id=f"rater-{number}") for number in range(RATERS)]
        webhook = Webhook(
            community_id=community_id, url="https://bench.example/hook", secret=b"x", is_active=False
        )
        session.add_all([*raters, webhook])
        session.flush()
        return webhook.id, [rater.id for rater in raters]


def _batches(
    community_id: uuid.UUID, endpoint_id: uuid.UUID, raters: list[uuid.UUID], categories: tuple[str, ...]
) -> Iterator[Rows]:
    chance = random.Random(11)  # noqa: S311 - the same figures each time
    begin = clock.now() - timedelta(days=DAYS)
    step = timedelta(days=DAYS) / SUBMITTED
    rows: Rows = {}
    for number in range(SUBMITTED):
        at = begin + number * step
        kind = chance.random()
        _submission(rows, community_id, raters[0], number, at, kind, chance.choice(categories))
        if kind < 0.38:
            _decided(rows, community_id, endpoint_id, raters, at, kind < 0.05, chance)
        if number % BATCH == BATCH - 1:
            yield rows
            rows = {}


def _submission(
    rows: Rows,
    community_id: uuid.UUID,
    author_id: uuid.UUID,
    number: int,
    at: Any,
    kind: float,
    category: str,
) -> None:
    same = {"community_id": community_id, "created_at": at, "updated_at": at}
    request_id, note_id = new_id(), new_id()
    rows.setdefault(Request, []).append(
        same
        | {
            "id": request_id,
            "request_id": f"year-{number}",
            "requested_by": "bench",
            "content": TEXT,
            "content_sha256": "0" * 64,
            "requested_at": at,
            "status": RequestStatus.COMPLETED,
            "completed_at": at,
        }
    )
    if kind >= 0.38:
        return
    rows.setdefault(Note, []).append(
        same
        | {
            "id": note_id,
            "author_id": author_id,
            "author_ref": "bench",
            "summary": "Why",
            "classification": Classification.NOT_MISLEADING,
            "status": NoteStatus.CURRENTLY_RATED_HELPFUL
            if number % 3
            else NoteStatus.CURRENTLY_RATED_NOT_HELPFUL,
            "rationale": True,
            "ratings_count": 5,
        }
    )
    at_once = kind < 0.05
    rows.setdefault(Action, []).append(
        same
        | {
            "id": new_id(),
            "request_id": request_id,
            "note_id": note_id,
            "action_type": ActionType.HIDE,
            "action_tier": ActionTier.IMMEDIATE if at_once else ActionTier.CONSENSUS,
            "action_state": ActionState.APPLIED,
            "review_group": ReviewGroup.COMMUNITY,
            "category": category,
            "score": 0.9,
            "decided_verb": "hide",
            "evidence": {"score": 0.9, "category": category, "details": {"matches": [TEXT]}},
            "proposed_at": at + timedelta(seconds=0 if at_once else 3_600),
            "applied_at": at + timedelta(hours=2),
            "overturned_at": at + timedelta(days=1) if number % 30 == 0 else None,
        }
    )
    rows.setdefault(Score, []).append(
        {
            "id": new_id(),
            "community_id": community_id,
            "request_id": request_id,
            "category": category,
            "classifier": ("builtin.rules", "community")[number % 2],
            "classifier_version": "1",
            "score": 0.9,
            "created_at": at,
        }
    )


def _decided(
    rows: Rows,
    community_id: uuid.UUID,
    endpoint_id: uuid.UUID,
    raters: list[uuid.UUID],
    at: Any,
    at_once: bool,
    chance: random.Random,
) -> None:
    action = rows[Action][-1]
    decided = at + (timedelta() if at_once else timedelta(minutes=chance.randint(5, 600)))
    rows.setdefault(Decision, []).append(
        {
            "id": new_id(),
            "community_id": community_id,
            "request_id": action["request_id"],
            "action_id": action["id"],
            "decision": "hide",
            "tier": 1 if at_once else 2,
            "confidence": 0.9,
            "decided_at": decided + timedelta(microseconds=len(rows.get(Decision, []))),
        }
    )
    for rater in [] if at_once else chance.sample(raters, 5):
        rows.setdefault(Rating, []).append(
            {
                "id": new_id(),
                "community_id": community_id,
                "note_id": action["note_id"],
                "rater_id": rater,
                "rater_ref": "bench",
                "helpfulness_level": chance.choice(list(HelpfulnessLevel)),
                "created_at": at + timedelta(minutes=30),
                "updated_at": at,
            }
        )
    event_id, delivery_id = new_id(), new_id()
    rows.setdefault(Event, []).append(
        {
            "id": event_id,
            "community_id": community_id,
            "name": EventName.DECISION,
            "payload": {"event_type": "moderation.decision"},
            "request_id": action["request_id"],
            "action_id": action["id"],
            "created_at": decided,
        }
    )
    dead = chance.random() < 0.02
    rows.setdefault(Delivery, []).append(
        {
            "id": delivery_id,
            "event_id": event_id,
            "event_name": EventName.DECISION,
            "endpoint_id": endpoint_id,
            "community_id": community_id,
            "state": DeliveryState.DEAD if dead else DeliveryState.DELIVERED,
            "due_at": None,
            "attempts_made": 1,
            "created_at": decided,
            "updated_at": decided,
        }
    )
    rows.setdefault(Attempt, []).append(
        {
            "id": new_id(),
            "delivery_id": delivery_id,
            "endpoint_id": endpoint_id,
            "at": decided,
            "status": 404 if dead else 200,
            "milliseconds": chance.randint(20, 900),
        }
    )
