"""Parts shared by the operations of the OpenAPI document: descriptions, headers, parameters, error responses."""

from collections.abc import Mapping
from typing import Any

from app.api.documents.schemas import reference
from app.api.errors import LISTED
from app.core import limits

TITLE = "Bridgenote"
DESCRIPTION = """\
Submit content, have it scored and reviewed by a community, and apply the decision on your platform.

**The loop.** Look up the community, `POST /requests` with the content, hear of the decision by webhook or by polling, \
carry it out, acknowledge it with `PATCH /moderation-actions/{action_id}`.

**Keys.** Send `Authorization: Bearer <key>`, or the key in `X-API-Key`. A Bearer token that is no key of this service \
does not stand in the way of a key in `X-API-Key`. A key acts in its communities only; everything outside is 404.

**Bodies.** Answers are JSON:API 1.1 documents, `application/vnd.api+json`; refusals are `application/json` with \
`detail`. Send `application/vnd.api+json` or `application/json`. `Accept` is not needed; one that takes JSON:API only \
with parameters of its own is 406. A method that a path does not have is 405, with `Allow`.

**Strictness.** Unknown attributes are 422; unknown query parameters whose name, decoded and in lower case, \
begins with `filter`, `page`, `fields`, `sort` or `include`, and repeated parameters, are 400; other unknown ones are \
ignored. An `id` in the body of a creation is 403. Text and ids are kept exactly as given; NUL \
and lone surrogates are refused. A body is at most 1 MiB, that of a batch 4 MiB, of scores 8 MiB.

**Pages.** Follow `links.next`: it neither misses nor repeats a row while others come and go.

**Time** is ISO 8601 in UTC with a `Z`; in queries and bodies any zone is accepted.

**Retry** 429, 500, 502, 503 and 504 only: after `Retry-After` where given, otherwise after 0.5 s, 1 s, 2 s, … up to \
60 s, three times. Everything else needs a change first.

All paths under `/api/public/v1` also answer under `/api/v2`. The interface is a preview and may still change.
"""

TAGS: dict[str, str] = {
    "Requests": "Content submitted for moderation, and what became of it.",
    "Scores": "Scores of texts at once, of which nothing is stored.",
    "Moderation actions": "What the platform should do, and what it did.",
    "Notes": "Explanations attached to content, written by people or drafted by AI, published by agreement.",
    "Reports": "What people report, and what they hear of it.",
    "Ratings": "How helpful people found a note.",
    "Community servers": "The forums and servers that content comes from, with the thresholds in force.",
    "User profiles": "People as their platforms know them.",
    "Webhooks": "Where decisions are delivered to.",
    "Clients in the field": "Paths of earlier versions that existing integrations call: plain JSON, same keys.",
    "About": "This interface itself.",
}
"""The groups of operations, in reading order."""

SECURITY_SCHEMES: dict[str, Any] = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key with the scope `platform:adapter`, as a Bearer token. For scores, `scores:read` is "
        "enough.",
    },
    "key": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "The same key, for clients whose Bearer token is somebody else's.",
    },
}


def _header(name: str, description: str, schema: dict[str, Any], example: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": False,
        "description": description,
        "schema": schema,
        "example": example,
    }


_BOOLEAN = reference("HeaderBoolean")
_PLAIN = "^[^,\\u0000]+$"

ADAPTER_HEADERS: dict[str, Any] = {
    "AdapterPlatform": _header(
        "X-Adapter-Platform",
        "Platform of the acting user, default of `platform` in lookups, and where a submission may open a community.",
        {"type": "string", "pattern": limits.PLATFORM_PATTERN},
        "discourse",
    ),
    "AdapterUserId": _header(
        "X-Adapter-User-Id",
        "The platform's id of the acting user. With X-Adapter-Platform it says who acts; otherwise the key does.",
        {"type": "string", "minLength": 1, "maxLength": limits.ID_MAX, "pattern": _PLAIN},
        "user-7",
    ),
    "AdapterUsername": _header(
        "X-Adapter-Username",
        "Name of the acting user; becomes the profile's display name.",
        {"type": "string", "maxLength": limits.NAME_MAX},
        "ann",
    ),
    "AdapterTrustLevel": _header(
        "X-Adapter-Trust-Level",
        f"Trust level of the acting user on the platform: a whole number from 0 to {limits.TRUST_LEVEL_MAX}.",
        {"type": "string", "pattern": "^([0-9]{1,2}|100)$"},
        "2",
    ),
    "AdapterAdmin": _header(
        "X-Adapter-Admin", "Whether the acting user is an administrator.", _BOOLEAN, "false"
    ),
    "AdapterModerator": _header(
        "X-Adapter-Moderator", "Whether the acting user is a moderator.", _BOOLEAN, "true"
    ),
    "AdapterScope": _header(
        "X-Adapter-Scope",
        "Community that the call is about: our UUID, the platform's id or the slug. Another key's community is 403.",
        {"type": "string", "minLength": 1, "maxLength": limits.ID_MAX, "pattern": _PLAIN},
        "forum-1",
    ),
}
"""Header parameters of every operation that needs a key."""

_WHOLE = {"type": "integer", "minimum": 1}

HEADERS: dict[str, Any] = {
    "RequestId": {
        "description": "Names this call in our logs; quote it when you ask us.",
        "required": True,
        "schema": {"type": "string"},
        "example": "0f4a4a2a3c5e4f7e9b1d2c3b4a596877",
    },
    "RateLimit": {
        "description": "What is left in this window, `r`, and the seconds until it ends, `t`.",
        "schema": {"type": "string"},
        "example": '"key";r=599;t=60',
    },
    "RateLimitPolicy": {
        "description": "Calls, `q`, that a window of `w` seconds holds.",
        "schema": {"type": "string"},
        "example": '"key";q=600;w=60',
    },
    "RetryAfter": {
        "description": "Seconds to wait before the next try.",
        "required": True,
        "schema": _WHOLE,
        "example": 12,
    },
    "RetryAfterIfKnown": {
        "description": "Seconds to wait before the next try, when known.",
        "schema": _WHOLE,
        "example": 2,
    },
    "Location": {
        "description": "Address of the resource.",
        "required": True,
        "schema": {"type": "string", "format": "uri"},
        "example": "https://bridgenote.example/api/public/v1/requests/019a8f00-5e1c-7a31-8f5e-3c1f0a9b7d10",
    },
    "WwwAuthenticate": {
        "description": "How to identify.",
        "required": True,
        "schema": {"const": "Bearer"},
        "example": "Bearer",
    },
}

BASE_HEADERS = {"X-Request-Id": "RequestId"}
LIMIT_HEADERS = {"RateLimit": "RateLimit", "RateLimit-Policy": "RateLimitPolicy"}


def headers(names: Mapping[str, str]) -> dict[str, Any]:
    """References to header components by header name."""
    return {name: {"$ref": f"#/components/headers/{component}"} for name, component in names.items()}


REFUSALS: dict[int, tuple[str, str, str]] = {
    400: (
        "Malformed",
        "The body cannot be parsed, or a query parameter or header cannot be read. Fix it; do not retry.",
        "Unknown query parameter filter[color]; this call reads: page[number], page[size]",
    ),
    401: ("Unauthorized", "No key, or one that does not hold.", "Missing authentication credentials"),
    403: (
        "Forbidden",
        "The key or the acting user may not do this, X-Adapter-Scope names no community of the key, or what is to be "
        "created has an id already.",
        "API key lacks required scope",
    ),
    404: (
        "NotFound",
        "Unknown, or outside the key's communities: the two look the same.",
        "request not found",
    ),
    406: (
        "NotAcceptable",
        "`Accept` takes JSON:API only with parameters that are not served.",
        "application/vnd.api+json is served without parameters other than profile",
    ),
    409: (
        "Conflict",
        "It contradicts what is there: the `id` differs from the path's, or it exists already.",
        "The id in the body differs from the id in the path",
    ),
    413: (
        "TooLarge",
        "The body is larger than the call takes: 1 MiB, a batch 4 MiB, scores 8 MiB.",
        "Request body is larger than 1048576 bytes",
    ),
    415: (
        "UnsupportedMediaType",
        "The body is neither JSON nor JSON:API.",
        "Content-Type must be application/vnd.api+json, with no parameter but profile, or application/json in UTF-8",
    ),
    422: ("Invalid", "It parses, and a value breaks a rule; `loc` names the field.", ""),
    429: ("TooMany", "Over a rate limit. Retry after `Retry-After` seconds.", "Rate limit exceeded"),
    500: ("Unexpected", "Our fault. Retry with backoff.", "Internal server error"),
    502: (
        "UpstreamFailed",
        "A service that we depend on failed. Retry with backoff.",
        "The AI provider could not be reached",
    ),
    503: (
        "Unavailable",
        "Overloaded or in maintenance. Retry after `Retry-After` where given.",
        "Service temporarily unavailable",
    ),
    504: (
        "UpstreamTimeout",
        "A service that we depend on took too long. Retry with backoff.",
        "The AI provider took too long",
    ),
}
"""By status: the component's name, its description, the sentence in the example."""

PROBLEM_EXAMPLE: list[dict[str, Any]] = [
    {
        "type": "missing",
        "loc": ["body", "data", "attributes", "request_id"],
        "msg": "Field required",
        "input": {"requested_by": "user-7"},
    }
]

COMMON_SCHEMAS: dict[str, Any] = {
    "HeaderBoolean": {
        "type": "string",
        "description": "Yes or no, as text in a header.",
        "enum": ["true", "false"],
    },
    "OpenApi": {"type": "object", "description": "This document: OpenAPI 3.1, as JSON."},
    "ErrorDocument": {
        "type": "object",
        "description": "The body of every refusal but 422.",
        "required": ["detail"],
        "properties": {"detail": {"type": "string", "description": "One sentence that says why."}},
        "additionalProperties": False,
    },
    "ValidationErrorDocument": {
        "type": "object",
        "description": (
            f"The body of a 422: one item per problem. Of more than {LISTED}, the last item, "
            "`too_many_problems`, says how many are not listed."
        ),
        "required": ["detail"],
        "properties": {
            "detail": {
                "type": "array",
                "minItems": 1,
                "maxItems": LISTED,
                "items": reference("ValidationProblem"),
                "description": "What is wrong, one item per problem.",
            }
        },
        "additionalProperties": False,
    },
    "ValidationProblem": {
        "type": "object",
        "description": "One thing that is wrong with a call.",
        "required": ["type", "loc", "msg", "input"],
        "properties": {
            "type": {"type": "string", "description": "What kind of problem, such as `missing`."},
            "loc": {
                "type": "array",
                "minItems": 1,
                "items": {"type": ["string", "integer"]},
                "description": "Where: starts with `body`, `query`, `path` or `header`.",
            },
            "msg": {"type": "string", "description": "The problem in words."},
            "input": {"description": "What stood there, shortened; secrets are hidden."},
        },
        "additionalProperties": False,
    },
}


def responses() -> dict[str, Any]:
    """Return the component responses: every error response with its headers and an example."""
    components = {}
    for status, (name, description, detail) in REFUSALS.items():
        header_names = dict(BASE_HEADERS)
        if status == 401:
            header_names["WWW-Authenticate"] = "WwwAuthenticate"
        elif status not in {500, 503}:
            header_names |= LIMIT_HEADERS
        if status == 429:
            header_names["Retry-After"] = "RetryAfter"
        elif status == 503:
            header_names["Retry-After"] = "RetryAfterIfKnown"
        schema = reference("ValidationErrorDocument" if status == 422 else "ErrorDocument")
        example = {"detail": PROBLEM_EXAMPLE if status == 422 else detail}
        components[name] = {
            "description": description,
            "headers": headers(header_names),
            "content": {"application/json": {"schema": schema, "example": example}},
        }
    return components
