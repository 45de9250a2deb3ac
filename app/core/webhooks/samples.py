"""Invented objects for the samples of the event catalogue and the OpenAPI document. All of them tell of the same post.

They are never stored. ``payloads`` builds the samples from them, so they have the members that a real payload has.
"""

import json
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from app.core.models import Action, Community, Note, Request
from app.core.vocabulary import ActionState, ActionTier, ActionType, NoteStatus, ReviewGroup
from app.core.webhooks import signing

COMMUNITY = "019a8f00-0b6e-7c02-9a44-5d1f6e2b7a90"
REQUEST = "019a8f00-5e1c-7a31-8f5e-3c1f0a9b7d10"
ACTION = "019a8f00-5f0a-7d55-b0c2-8e7d6c5b4a39"
NOTE = "019a8f00-5f0b-7e66-a1d3-9f8e7d6c5b40"
EVENT = "019a8f00-5f0c-7f10-85b7-d3c2b1a09f84"
POST = "post-1"
"""The post by the id that its platform gave it."""
SECRET = "a sample secret, never for use"  # noqa: S105 - shown to everybody, to check a signature with
TIMESTAMP = 1_769_860_800
SINCE = datetime(2026, 1, 31, 12, tzinfo=UTC)


def community(platform: str) -> Community:
    return Community(id=uuid.UUID(COMMUNITY), platform=platform)


def request() -> Request:
    return Request(request_id=POST)


def action(state: ActionState = ActionState.UNDER_REVIEW) -> Action:
    return Action(
        id=uuid.UUID(ACTION),
        request_id=uuid.UUID(REQUEST),
        action_type=ActionType.HIDE,
        action_tier=ActionTier.IMMEDIATE,
        action_state=state,
        review_group=ReviewGroup.COMMUNITY,
        evidence={"score": 0.9712, "category": "spam"},
        note_id=uuid.UUID(NOTE),
    )


def note() -> Note:
    return Note(
        id=uuid.UUID(NOTE),
        request_id=uuid.UUID(REQUEST),
        status=NoteStatus.CURRENTLY_RATED_HELPFUL,
        helpfulness_score=78,
        force_published=False,
        ratings_count=7,
    )


def signed(sample: Mapping[str, Any]) -> dict[str, Any]:
    """The sample with its timestamp and its signature, made with ``SECRET``."""
    sent = json.loads(signing.sign_body(sample, SECRET, TIMESTAMP))
    return {
        **sample,
        **{member: sent[member] for member in (signing.TIMESTAMP_FIELD, signing.SIGNATURE_FIELD)},
    }
