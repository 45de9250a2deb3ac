"""The event catalogue: when each event is sent, which webhooks get it, and what its fields mean.

The OpenAPI document and the dashboard show the same texts.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from app.core.vocabulary import EventName
from app.core.webhooks import payloads


class Receivers(StrEnum):
    """Which webhooks get an event. ``ONE``: only the webhook that it is requested for."""

    SUBSCRIBED = "subscribed"
    NAMED = "named"
    ONE = "one"


@dataclass(frozen=True)
class Field:
    """A field of a payload by its path ("data.id"), the kind of value that the sample has, and what it means."""

    path: str
    kind: str
    meaning: str


WHEN: Mapping[EventName, str] = {
    EventName.DECISION: "The service decided about a request: at once (Tier 1) or when raters agreed (Tier 2).",
    EventName.ACTION_CREATED: "An action waits to be carried out on the platform.",
    EventName.ACTION_APPLIED: "An action was acknowledged or recorded.",
    EventName.ACTION_RETRO_REVIEW: "An applied action gets a second look.",
    EventName.ACTION_CONFIRMED: "The second look confirmed the action.",
    EventName.ACTION_OVERTURNED: "The action was overturned; an `unhide` of its own follows a `hide`.",
    EventName.ACTION_DISMISSED: "A review ended without action, or a proposal was withdrawn.",
    EventName.NOTE_STATUS: "A note was published, withdrawn, or went back to needing ratings.",
    EventName.PANEL_DRAWN: "Users of the platform were drawn for a panel. Off unless a webhook names this event.",
    EventName.ATTENTION: "The community wants an operator: once for each reason when it begins. "
    "Off unless a webhook names this event.",
    EventName.TEST: "You asked for it with `POST /webhooks/{webhook_id}/test`.",
}
_MEANINGS: Mapping[str, str] = {
    "event": "The event's name.",
    "event_id": "The same for every attempt, webhook and replay: deduplicate on it.",
    "community_server_id": "The community, by our UUID.",
    "data": "Empty.",
    "data.id": "The action.",
    "data.request_id": "The post, by our UUID.",
    "data.community_server_id": "The community again.",
    "data.action_type": "What is done: `hide`, `unhide`, `delete`, `warn` or `silence`.",
    "data.action_tier": "`tier_1_immediate` acted by itself, `tier_2_consensus` asked people; null if neither did.",
    "data.action_state": "The action's state when the event was written.",
    "data.review_group": "Who reviews it; null if nobody does.",
    "data.classifier_evidence.score": "The highest score, from 0 to 1. `classifier_evidence` is null if there is none.",
    "data.classifier_evidence.category": "The category of that score.",
    "data.note_id": "The note that raters rate about it; null if there is none.",
    "event_type": "The same as `event`.",
    "request_id": "The post, by our UUID.",
    "action_id": "The action.",
    "action_type": "Its operation on the platform, such as `hide_post`.",
    "recommended_action": "As `action_type`; null once the action ended without being carried out.",
    "review_group": "Who reviews it.",
    "classifier_evidence.score": "The highest score, from 0 to 1.",
    "classifier_evidence.category": "The category of that score.",
    "status": "The state of the action.",
    "note_id": "The note.",
}
_OF_EVENT: Mapping[EventName, Mapping[str, str]] = {
    EventName.DECISION: {
        "event_type": "The event's name.",
        "request_id": "The post, by your own id.",
        "decision": "The verb that was decided, such as `hide`; `none` if the review ended without action.",
        "confidence": "How sure, from 0 to 1.",
        "tier": "1: acted by itself. 2: asked people.",
    },
    EventName.NOTE_STATUS: {
        "data.id": "The note.",
        "data.request_id": "The post, by our UUID; null if the note is about none.",
        "data.status": "The note's status now.",
        "data.helpfulness_score": "From 0 to 100.",
        "data.force_published": "Whether a moderator published it.",
        "data.ratings_count": "How many people rated it.",
        "action_id": "The action whose rationale the note is; null for other notes.",
        "status": "The note's status.",
    },
    EventName.ATTENTION: {
        "data.reason": "`backlog`: many reviews wait. `overdue`: reviews wait far beyond their target time. "
        "`webhook_failing`: nothing arrives at a webhook. `paused`: automatic actions have been paused for long.",
        "data.since": "When it began.",
        "data.count": "How many reviews wait or are that late, or how many attempts failed; null for `paused`.",
    },
    EventName.PANEL_DRAWN: {
        "data.note_id": "The note to rate.",
        "data.rater_ids": "Who was drawn, by the platform's user ids: ask them.",
        "data.expires_at": "Until when they can answer.",
    },
}


def receivers(name: EventName) -> Receivers:
    """Which webhooks get this event."""
    if name is EventName.TEST:
        return Receivers.ONE
    return Receivers.NAMED if name in payloads.OPT_IN else Receivers.SUBSCRIBED


def fields(name: EventName, sample: Mapping[str, Any]) -> list[Field]:
    """The fields of this event in the order of the sample.

    Raises:
        KeyError: nobody has said yet what a field of the sample means.
    """
    meanings = {**_MEANINGS, **_OF_EVENT.get(name, {})}
    return [Field(path, kind, meanings[path]) for path, kind in _paths(sample)]


def _paths(sample: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, str]]:
    for member, value in sample.items():
        path = f"{above}{member}"
        if isinstance(value, Mapping) and value:
            yield from _paths(value, f"{path}.")
        else:
            yield path, _kind(value)


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "list" if isinstance(value, list) else "object"
