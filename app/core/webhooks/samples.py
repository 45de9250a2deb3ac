"""Sample payloads of all events: for the OpenAPI document and the event catalogue of the dashboard.

They are built by ``payloads`` from invented objects that are never stored, so they have the members that a real
payload has. All of them tell of the same post.
"""

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from app.core.models import Action, Community, Decision, Note, Request
from app.core.vocabulary import (
    ActionState,
    ActionTier,
    ActionType,
    AttentionReason,
    EventName,
    NoteStatus,
    ReviewGroup,
)
from app.core.webhooks import payloads, signing

COMMUNITY = "019a8f00-0b6e-7c02-9a44-5d1f6e2b7a90"
REQUEST = "019a8f00-5e1c-7a31-8f5e-3c1f0a9b7d10"
ACTION = "019a8f00-5f0a-7d55-b0c2-8e7d6c5b4a39"
NOTE = "019a8f00-5f0b-7e66-a1d3-9f8e7d6c5b40"
EVENT = "019a8f00-5f0c-7f10-85b7-d3c2b1a09f84"
POST = "post-1"
"""The post by the id that its platform gave it."""
SECRET = "a sample secret, never for use"  # noqa: S105 - shown to everybody, to check a signature with
TIMESTAMP = 1_769_860_800
_SINCE = datetime(2026, 1, 31, 12, tzinfo=UTC)
_EVIDENCE = {"score": 0.9712, "category": "spam"}
_STATES = {
    EventName.ACTION_CREATED: ActionState.PROPOSED,
    EventName.ACTION_APPLIED: ActionState.APPLIED,
    EventName.ACTION_RETRO_REVIEW: ActionState.RETRO_REVIEW,
    EventName.ACTION_CONFIRMED: ActionState.CONFIRMED,
    EventName.ACTION_OVERTURNED: ActionState.OVERTURNED,
    EventName.ACTION_DISMISSED: ActionState.DISMISSED,
}
"""The action's state when the event is sent."""


def payload(name: EventName, platform: str = "") -> dict[str, Any]:
    """A sample of this event's payload as it is stored, for communities of this platform."""
    community = Community(id=uuid.UUID(COMMUNITY), platform=platform)
    built = _payload(name, community)
    (first, named), *rest = built.items()
    return {first: named, "event_id": EVENT, **dict(rest)}


def signed(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The sample with its timestamp and its signature, made with ``SECRET``."""
    sent = json.loads(signing.sign_body(sample, SECRET, TIMESTAMP))
    return {
        **sample,
        **{member: sent[member] for member in (signing.TIMESTAMP_FIELD, signing.SIGNATURE_FIELD)},
    }


def _payload(name: EventName, community: Community) -> dict[str, Any]:
    if name in _STATES:
        return payloads.action_event(name, community, _action(_STATES[name]))
    if name is EventName.DECISION:
        decision = Decision(decision="hide", confidence=0.9712, tier=1)
        return payloads.decision_event(community, Request(request_id=POST), decision)
    if name is EventName.NOTE_STATUS:
        return payloads.note_event(community, _note(), _action(ActionState.UNDER_REVIEW))
    if name is EventName.PANEL_DRAWN:
        closes_at = _SINCE + timedelta(days=1)
        action = _action(ActionState.UNDER_REVIEW)
        return payloads.panel_event(community, action, uuid.UUID(NOTE), ["17", "204"], closes_at)
    if name is EventName.ATTENTION:
        return payloads.attention_event(community, AttentionReason.BACKLOG, _SINCE, 512)
    return payloads.test_event(community.id)


def _action(state: ActionState) -> Action:
    return Action(
        id=uuid.UUID(ACTION),
        request_id=uuid.UUID(REQUEST),
        action_type=ActionType.HIDE,
        action_tier=ActionTier.IMMEDIATE,
        action_state=state,
        review_group=ReviewGroup.COMMUNITY,
        evidence=_EVIDENCE,
        note_id=uuid.UUID(NOTE),
    )


def _note() -> Note:
    return Note(
        id=uuid.UUID(NOTE),
        request_id=uuid.UUID(REQUEST),
        status=NoteStatus.CURRENTLY_RATED_HELPFUL,
        helpfulness_score=78,
        force_published=False,
        ratings_count=7,
    )
