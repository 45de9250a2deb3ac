"""The webhook events, as the ``webhooks`` member of the OpenAPI document (docs/integrate/api.md)."""

from collections.abc import Sequence
from typing import Any

from app.api.documents.schemas import reference
from app.core.webhooks import catalogue
from app.core.webhooks.catalogue import EventKind
from app.core.webhooks.shapes import EVENT_ID, Field, Shape

_SIGNATURE: dict[str, Any] = {
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


def schemas() -> dict[str, Any]:
    """Return the component schemas: for each shape that of the body, and those of the objects in it."""
    shapes = {kind.shape.name: kind.shape for kind in catalogue.EVENTS.values()}
    bodies = {name: _body(shape) for name, shape in shapes.items()}
    subjects = {
        _subject(shape): _object(field.fields)
        | {"description": f"The member `data` of the body `{shape.name}`."}
        for shape in shapes.values()
        for field in shape.fields
        if _is_subject(field)
    }
    objects = {
        _object_name(field): _object(field.fields) | {"description": field.meaning}
        for shape in shapes.values()
        for field in (*shape.flat, *(member for field in shape.fields for member in field.fields))
        if field.fields
    }
    return bodies | subjects | objects


def _body(shape: Shape) -> dict[str, Any]:
    name, *others = shape.fields
    members: dict[str, Any] = {
        name.name: {"type": "string", "enum": catalogue.names(shape), "description": name.meaning}
    }
    for field in others:
        about = reference(_subject(shape)) | {"description": field.meaning}
        members[field.name] = about if _is_subject(field) else _schema(field)
    members |= {EVENT_ID.name: _schema(EVENT_ID)} | _SIGNATURE
    flat = {
        field.name: _schema(field)
        | {"description": f"{_ON_DISCOURSE}: {field.meaning[:1].lower()}{field.meaning[1:]}"}
        for field in shape.flat
    }
    return {
        "type": "object",
        "description": f"{shape.description} {_MORE}",
        "required": list(members),
        "properties": members | flat,
    }


def _is_subject(field: Field) -> bool:
    return field.name == "data" and bool(field.fields)


def _subject(shape: Shape) -> str:
    return f"{shape.name}Subject"


def _object_name(field: Field) -> str:
    """``classifier_evidence`` is described by the component ``ClassifierEvidence``."""
    return field.name.title().replace("_", "")


def _object(fields: Sequence[Field]) -> dict[str, Any]:
    return {
        "type": "object",
        "required": [field.name for field in fields if field.always],
        "properties": {field.name: _schema(field) for field in fields},
    }


def _schema(field: Field) -> dict[str, Any]:
    if isinstance(field.schema, type):
        shown: dict[str, Any] = reference(field.schema.__name__)
    elif field.fields:
        shown = reference(_object_name(field))
    else:
        shown = dict(field.schema)
    if field.null and "$ref" in shown:
        shown = {"anyOf": [shown, {"type": "null"}]}
    elif field.null:
        shown["type"] = [shown["type"], "null"]
    return shown | {"description": field.meaning}


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


def webhooks() -> dict[str, Any]:
    """Return the ``webhooks`` member: one POST for each event."""
    return {name: {"post": _delivery(kind)} for name, kind in catalogue.EVENTS.items()}


def _delivery(kind: EventKind) -> dict[str, Any]:
    example = catalogue.signed(catalogue.sample(kind.name))
    return {
        "operationId": "receive_" + kind.name.replace(".", "_"),
        "summary": kind.when,
        "tags": ["Webhooks"],
        "security": [],
        "parameters": [
            {"name": header, "in": "header", "required": True, **_text(description)}
            for header, description in _HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": reference(kind.shape.name), "example": example}},
        },
        "responses": {
            "2XX": {
                "description": f"Taken. Answer within {kind.deadline:g} seconds; do the work afterwards."
            },
            "4XX": {
                "description": "Refused, and not sent again. 429 is retried, and 401 and 403 while a replaced "
                "secret also signs."
            },
            "5XX": {"description": "Sent again after 10 s, and 30 s after that."},
        },
    }
