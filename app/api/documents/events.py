"""The webhook events, as the ``webhooks`` member of the OpenAPI document (docs/integrate/api.md)."""

from typing import Any

from app.api.documents.schemas import reference
from app.core.vocabulary import ActionType, AttentionReason, EventName, NoteStatus, Verb
from app.core.webhooks import catalogue, samples
from app.core.webhooks.payloads import PROPOSED

_ID = {"type": "string", "format": "uuid"}
_SIGNED: dict[str, Any] = {
    "event_id": _ID | {"description": "The same for every attempt, endpoint and replay: deduplicate on it."},
    "_webhook_timestamp": {"type": "integer", "description": "Unix time of this attempt, seconds."},
    "_webhook_signature": {
        "type": "string",
        "pattern": "^[0-9a-f]{64}$",
        "description": "HMAC-SHA256, hex, of the timestamp, a colon, and the canonical JSON (RFC 8785) of the "
        "payload without `_webhook_timestamp` and `_webhook_signature`.",
    },
}
_MORE = "Other members may be there; leave what you do not know alone."


_ON_DISCOURSE = "Only in communities whose platform is `discourse`, for its plugin"


def _event(description: str, members: dict[str, Any], flat: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the schema of an event's body. ``flat`` are members that only communities on Discourse get."""
    return {
        "type": "object",
        "description": f"{description} {_MORE}",
        "required": [*members, *_SIGNED],
        "properties": members | _SIGNED | (flat or {}),
    }


def _flat(**more: str) -> dict[str, Any]:
    """Return the flat members that the Discourse plugin reads; ``more`` describes some of them for this event."""
    descriptions = {
        "event_type": "the same as `event`.",
        "request_id": "our UUID.",
        "action_id": "the action.",
        "action_type": "its operation on the platform, such as `hide_post`.",
        "recommended_action": "as `action_type`; null once the action was dismissed or overturned.",
        "review_group": "who reviews.",
        "status": "the action's state.",
    }
    members: dict[str, Any] = {
        name: {"type": ["string", "null"], "description": f"{_ON_DISCOURSE}: {words}"}
        for name, words in (descriptions | more).items()
    }
    members["event_type"]["type"] = members["status"]["type"] = "string"
    members["classifier_evidence"] = _EVIDENCE | {"description": f"{_ON_DISCOURSE}."}
    return members


_EVIDENCE: dict[str, Any] = {
    "type": ["object", "null"],
    "required": ["score", "category"],
    "properties": {
        "score": {"type": "number", "minimum": 0, "maximum": 1},
        "category": {"type": "string"},
    },
}


def _shape_a(names: list[str], subject: str) -> dict[str, Any]:
    return {
        "event": {"type": "string", "enum": names},
        "community_server_id": _ID,
        "data": reference(subject),
    }


_ACTION_NAMES = [name.value for name in EventName if name.value.startswith("moderation_action.")] + [PROPOSED]

SCHEMAS: dict[str, Any] = {
    "DecisionEvent": _event(
        "Shape B: the one decision on a request. `request_id` is the integration's own string. A `request_id` that was "
        "withdrawn and submitted again is a new request, whose decision has an `event_id` of its own: deduplicate on "
        "`event_id`, never on `request_id`.",
        {
            "event_type": {"const": EventName.DECISION.value},
            "request_id": {"type": "string"},
            "community_server_id": _ID,
            "decision": {
                "type": "string",
                "enum": [*(verb.value for verb in Verb), ActionType.SILENCE.value, "none"],
                "description": "`none`: a review ended without action.",
            },
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
            "tier": {"type": "integer", "enum": [1, 2]},
        },
    ),
    "ActionEvent": _event(
        "Shape A: a moderation action. `data.request_id` is our UUID. On Discourse `moderation_action.created` is sent "
        f"as `{PROPOSED}`, unless a webhook subscribes to the former name and not to the latter.",
        _shape_a(_ACTION_NAMES, "ActionEventSubject"),
        _flat(),
    ),
    "ActionEventSubject": {
        "type": "object",
        "required": [
            "id",
            "request_id",
            "community_server_id",
            "action_type",
            "action_tier",
            "action_state",
            "review_group",
            "classifier_evidence",
            "note_id",
        ],
        "properties": {
            "id": _ID,
            "request_id": _ID,
            "community_server_id": _ID,
            "action_type": reference("ActionType"),
            "action_tier": {"anyOf": [reference("ActionTier"), {"type": "null"}]},
            "action_state": reference("ActionState"),
            "review_group": {"anyOf": [reference("ReviewGroup"), {"type": "null"}]},
            "classifier_evidence": _EVIDENCE,
            "note_id": {"type": ["string", "null"], "format": "uuid"},
        },
    },
    "NoteEvent": _event(
        "A note's status changed. `data.request_id` is our UUID.",
        _shape_a([EventName.NOTE_STATUS.value], "NoteEventSubject"),
        _flat(
            note_id="the note.",
            action_id="the action whose rationale the note is; null where it is none, as the other members about it.",
            status="the note's status.",
        ),
    ),
    "NoteEventSubject": {
        "type": "object",
        "required": ["id", "request_id", "community_server_id", "status", "helpfulness_score"],
        "properties": {
            "id": _ID,
            "request_id": {"type": ["string", "null"], "format": "uuid"},
            "community_server_id": _ID,
            "status": {"type": "string", "enum": [status.value for status in NoteStatus]},
            "helpfulness_score": {"type": "integer", "minimum": 0, "maximum": 100},
            "force_published": {"type": "boolean"},
            "ratings_count": {"type": "integer", "minimum": 0},
        },
    },
    "PanelEvent": _event(
        "Users of this platform were drawn to rate a note; ask them. Only for webhooks that name this event. "
        "`data.request_id` is our UUID, `data.rater_ids` are the platform's user ids.",
        _shape_a([EventName.PANEL_DRAWN.value], "PanelEventSubject"),
    ),
    "PanelEventSubject": {
        "type": "object",
        "required": ["request_id", "note_id", "community_server_id", "rater_ids", "expires_at"],
        "properties": {
            "request_id": _ID,
            "note_id": _ID,
            "community_server_id": _ID,
            "rater_ids": {"type": "array", "items": {"type": "string"}, "minItems": 1},
            "expires_at": {"type": "string", "format": "date-time"},
        },
    },
    "AttentionEvent": _event(
        "The community wants an operator. Sent once for each reason when it begins, and again only after it has ended. "
        "Only for webhooks that name this event.",
        _shape_a([EventName.ATTENTION.value], "AttentionEventSubject"),
    ),
    "AttentionEventSubject": {
        "type": "object",
        "required": ["reason", "since", "count"],
        "properties": {
            "reason": {"type": "string", "enum": [reason.value for reason in AttentionReason]},
            "since": {"type": "string", "format": "date-time"},
            "count": {"type": ["integer", "null"], "minimum": 0},
        },
    },
    "TestEvent": _event(
        "Sent on request only, to one webhook.",
        {
            "event": {"const": EventName.TEST.value},
            "community_server_id": _ID,
            "data": {"type": "object"},
        },
    ),
}


def _text(description: str) -> dict[str, Any]:
    return {"description": description, "schema": {"type": "string"}}


_HEADERS = {
    "X-Webhook-Event": "The event's name.",
    "X-Webhook-Timestamp": "Unix time of this attempt, seconds.",
    "X-Webhook-Signature": "`sha256=` and the hex HMAC-SHA256 of the raw body.",
    "webhook-id": "The `event_id` (Standard Webhooks).",
    "webhook-timestamp": "Unix time of this attempt, seconds (Standard Webhooks).",
    "webhook-signature": "`v1,` and the base64 HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{raw body}`; during a "
    "rotation one for each secret, with a space between (Standard Webhooks).",
}


def schema_of(name: EventName) -> str:
    """Return the name of the component schema of an event's body."""
    if name is EventName.DECISION:
        return "DecisionEvent"
    if name is EventName.TEST:
        return "TestEvent"
    if name is EventName.PANEL_DRAWN:
        return "PanelEvent"
    if name is EventName.ATTENTION:
        return "AttentionEvent"
    return "NoteEvent" if name is EventName.NOTE_STATUS else "ActionEvent"


def webhooks() -> dict[str, Any]:
    """Return the ``webhooks`` member: one POST for each event."""
    return {name.value: {"post": _delivery(name)} for name in EventName}


def _delivery(name: EventName) -> dict[str, Any]:
    schema = schema_of(name)
    example = samples.signed(samples.payload(name))
    deadline = 5 if name is EventName.DECISION else 10
    return {
        "operationId": "receive_" + name.value.replace(".", "_"),
        "summary": catalogue.WHEN[name],
        "tags": ["Webhooks"],
        "security": [],
        "parameters": [
            {"name": header, "in": "header", "required": True, **_text(description)}
            for header, description in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": reference(schema), "example": example}},
        },
        "responses": {
            "2XX": {"description": f"Taken. Answer within {deadline} seconds; do the work afterwards."},
            "4XX": {"description": "Refused for good, and not sent again; 429 is retried."},
            "5XX": {"description": "Sent again after 10 s, and 30 s after that."},
        },
    }
