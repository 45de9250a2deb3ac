"""The examples of the OpenAPI document. All operations show the same case.

Tests validate each example, and compare each answer with what the operation really answers.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from app.core.webhooks import catalogue

COMMUNITY = catalogue.COMMUNITY
REQUEST = catalogue.REQUEST
ACTION = catalogue.ACTION
NOTE = catalogue.NOTE
RATING = "019a8f04-11aa-7f77-92e4-a09f8e7d6c51"
PROFILE = "019a8e10-22bb-7a88-83f5-b1a09f8e7d62"
WEBHOOK = "019a8e20-33cc-7b99-94a6-c2b1a09f8e73"
EVENT = catalogue.EVENT
CONTENT = "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back."
SUMMARY = "The offer is a known scam: nobody doubles what is sent to them."
BASE = "https://bridgenote.example"
PREFIX = "/api/public/v1"
_CREATED = "2026-01-31T12:00:00.000000Z"
_UPDATED = "2026-01-31T12:00:00.420000Z"
_TIMES = {"created_at": _CREATED, "updated_at": _UPDATED}
_RULES = {"name": "builtin.rules", "version": "2.1"}

ATTRIBUTES: dict[str, tuple[str, dict[str, Any]]] = {
    "requests": (
        REQUEST,
        {
            "request_id": "post-1",
            "requested_by": "user-7",
            "status": "COMPLETED",
            "note_id": NOTE,
            "community_server_id": COMMUNITY,
            "requested_at": _CREATED,
            **_TIMES,
            "content": CONTENT,
            "platform_message_id": "message-1",
            "decided_at": _UPDATED,
            "decision": "hide",
            "tier": 1,
            "moderation_action": "immediate_action",
            "recommended_action": "hide_post",
            "action_id": ACTION,
            "note_status": "NEEDS_MORE_RATINGS",
        },
    ),
    "moderation-actions": (
        ACTION,
        {
            "request_id": "post-1",
            "community_server_id": COMMUNITY,
            "action_type": "hide",
            "action_tier": "tier_1_immediate",
            "action_state": "applied",
            "review_group": "community",
            "classifier_evidence": {
                "score": 0.9712,
                "category": "spam",
                "labels": ["spam"],
                "scores": {"spam": 0.9712, "toxicity": 0.2083},
                "details": {
                    "tier": 1,
                    "threshold": 0.95,
                    "decided_by": _RULES,
                    "classifiers": [_RULES | {"model": "builtin.rules 2.1", "ms": 4}],
                    "matches": [
                        {
                            "rule": "spam.crypto-double",
                            "category": "spam",
                            "start": 0,
                            "end": 19,
                            "weight": 0.8,
                        }
                    ],
                    "config_version": 1,
                    "content_sha256": "1de0d6efaa252a6b2dfb33ba16775f3baa085b59fb3ac12f1bd030b2f54b00bd",
                },
            },
            "note_id": NOTE,
            "platform_action_id": "hidden-1",
            "applied_at": "2026-01-31T12:00:02.000000Z",
            "confirmed_at": None,
            "overturned_at": None,
            "overturned_reason": None,
            "reason": None,
            "scan_exempt_content_hash": None,
            **_TIMES,
        },
    ),
    "notes": (
        NOTE,
        {
            "author_id": "user-7",
            "summary": SUMMARY,
            "classification": "MISINFORMED_OR_POTENTIALLY_MISLEADING",
            "status": "NEEDS_MORE_RATINGS",
            "helpfulness_score": 50,
            "ratings_count": 1,
            "ai_generated": False,
            "force_published": False,
            "community_server_id": COMMUNITY,
            **_TIMES,
            "request_id": REQUEST,
            "platform_message_id": "message-1",
        },
    ),
    "ratings": (
        RATING,
        {"note_id": NOTE, "rater_id": "user-8", "helpfulness_level": "HELPFUL", **_TIMES},
    ),
    "rating-stats": (
        NOTE,
        {
            "total": 3,
            "helpful": 2,
            "somewhat_helpful": 1,
            "not_helpful": 0,
            "average_score": 2.6667,
            **_TIMES,
        },
    ),
    "community-servers": (
        COMMUNITY,
        {
            "platform": "discourse",
            "platform_community_server_id": "forum-1",
            "slug": "harbour-forum",
            "name": "Harbour forum",
            "description": None,
            "is_active": True,
            "is_public": False,
            "config_version": 1,
            "categories": [
                {
                    "name": "spam",
                    "enabled": True,
                    "tier1_threshold": 0.9,
                    "tier2_threshold": 0.6,
                    "tier1_action": "hide",
                    "tier2_action": "hide",
                    "review_group": "community",
                }
            ],
            **_TIMES,
        },
    ),
    "user-profiles": (
        PROFILE,
        {
            "platform": "discourse",
            "platform_user_id": "user-7",
            "provider_scope": "forum-1",
            "display_name": "ann",
            "trust_level": 2,
            "is_linked": True,
            **_TIMES,
        },
    ),
    "webhooks": (
        WEBHOOK,
        {
            "url": "https://forum.example/hooks/bridgenote",
            "events": ["moderation.decision", "moderation_action.created"],
            "community_server_id": COMMUNITY,
            "platform_community_server_id": "forum-1",
            "is_active": True,
            "disabled_reason": None,
            "failures": 0,
            "failing_since": None,
            "last_success_at": None,
            "previous_secret_until": None,
            **_TIMES,
        },
    ),
}
"""An example resource by type: its id and attributes. Other types have no example."""


@dataclass(frozen=True)
class Answer:
    """How the answer of one operation with one status differs from the example resource of its type."""

    changes: Mapping[str, Any] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()
    """Attributes that are left out, because they have no value yet."""
    meta: Mapping[str, Any] = field(default_factory=dict)


_UNDECIDED = frozenset(
    {
        "decided_at",
        "decision",
        "tier",
        "moderation_action",
        "recommended_action",
        "action_id",
        "note_status",
    }
)
_SCORED = {"helpfulness_score": 0, "ratings_count": 0}
_ROTATED = {"previous_secret_until": "2026-02-01T12:00:00.000000Z"}

ANSWERS: dict[tuple[str, str], Answer] = {
    ("create_request", "201"): Answer(
        {"status": "pending", "note_id": None, "updated_at": _CREATED}, absent=_UNDECIDED
    ),
    ("create_request", "200"): Answer(
        {"status": "completed"}, meta={"duplicate": True, "content_differs": False}
    ),
    ("patch_request", "200"): Answer(
        {"status": "IN_PROGRESS", "moderation_action": "community_review"},
        absent=frozenset({"decided_at", "decision", "tier", "recommended_action"}),
    ),
    ("create_moderation_action", "201"): Answer(
        {
            "action_tier": None,
            "review_group": None,
            "classifier_evidence": None,
            "note_id": None,
            "platform_action_id": None,
            "reason": "Reported by three members",
        }
    ),
    ("create_note", "201"): Answer(_SCORED),
    ("create_ai_note", "201"): Answer(
        {
            "author_id": PROFILE,
            "summary": "No fact-check among 120 items in this community's datasets matches this post "
            "(checked 2026-01-31).",
            "classification": "NOT_MISLEADING",
            "ai_generated": True,
            "ai_provider": "builtin",
            "ai_model": "nomatch-1",
            **_SCORED,
        },
        meta={"language": {"post": "en", "note": "en"}},
    ),
    ("force_publish_note", "200"): Answer(
        {"status": "CURRENTLY_RATED_HELPFUL", "force_published": True, "force_published_at": _UPDATED}
    ),
    ("dismiss_note", "200"): Answer({"status": "CURRENTLY_RATED_NOT_HELPFUL"}),
    ("put_rating", "200"): Answer({"helpfulness_level": "SOMEWHAT_HELPFUL"}),
    ("look_up_profile", "200"): Answer(
        {"display_name": None, "is_linked": False}, absent=frozenset({"trust_level"})
    ),
    ("register_webhook", "200"): Answer(_ROTATED),
    ("patch_webhook", "200"): Answer(_ROTATED),
    ("test_webhook", "202"): Answer(meta={"event_id": EVENT}),
    ("list_moderation_actions", "200"): Answer(meta={"limit": 50}),
    ("rename_community", "200"): Answer({"server_stats": {"members": 812}}),
}
"""Operations and statuses whose answer differs from the example resource of its type; the others show that."""

FLAT: dict[str, dict[str, Any]] = {
    "FlatCommunity": {
        "id": COMMUNITY,
        "platform": "discourse",
        "platform_community_server_id": "forum-1",
        "slug": "harbour-forum",
        "name": "Harbour forum",
        "description": None,
        "settings": {},
        "server_stats": None,
        "is_active": True,
        "is_public": False,
        **_TIMES,
    },
    "RatingThresholds": {"min_ratings_needed": 5, "min_raters_per_note": 5},
    "ScoringAnalysis": {
        "activity": {
            "requests": 120,
            "requests_last_7_days": 14,
            "actions": 31,
            "notes": 36,
            "ratings": 210,
            "ratings_last_7_days": 42,
            "raters": 9,
        },
        "classification": {"spam": 18, "toxicity": 13},
        "consensus": {
            "in_review": 3,
            "second_look": 1,
            "decided_in_review": 12,
            "decided_to_act": 8,
            "decided_not_to_act": 4,
            "notes_needing_ratings": 6,
            "notes_helpful": 20,
            "notes_not_helpful": 5,
            "agreement": 0.87,
        },
        "top_reviewers": [{"username": "ann", "review_count": 42, "accuracy": 0.9}],
    },
}
"""Example bodies that are not JSON:API documents, by schema."""


def resource(type: str, answer: Answer) -> dict[str, Any]:
    """Return the example resource object of a type."""
    id, attributes = ATTRIBUTES[type]
    shown = {name: value for name, value in attributes.items() if name not in answer.absent}
    return {"type": type, "id": id, "attributes": {**shown, **answer.changes}}


def flat(schema: str, operation: str, status: str) -> dict[str, Any]:
    """Return the example of a body that is not a JSON:API document."""
    return {**FLAT[schema], **_answer(operation, status).changes}


def document(type: str, operation: str, status: str) -> dict[str, Any]:
    """Return the example document of one resource, as the operation answers it with this status."""
    answer = _answer(operation, status)
    shown = resource(type, answer)
    members: dict[str, Any] = {"jsonapi": {"version": "1.1"}, "data": shown}
    if type in _SELF:
        link = BASE + _SELF[type].format(id=shown["id"])
        members["links"] = {"self": link, "describedby": f"{BASE}{PREFIX}/openapi.json"}
    if answer.meta:
        members["meta"] = dict(answer.meta)
    return members | ({"id": shown["id"]} if type == "webhooks" else {})


_SELF = {
    **{
        type: f"{PREFIX}/{type}/{{id}}"
        for type in ("requests", "moderation-actions", "notes", "ratings", "community-servers")
    },
    "rating-stats": f"{PREFIX}/notes/{{id}}/ratings/stats",
    "webhooks": "/webhooks/{id}",
}
"""The path of a resource by its type. Profiles have none."""


def listing(type: str, operation: str, status: str, path: str) -> dict[str, Any]:
    """Return the example document of a page with one resource, as returned at ``path``."""
    answer = _answer(operation, status)
    first = f"{BASE}{path}?page%5Bnumber%5D=1"
    links = {
        "self": BASE + path,
        "first": first,
        "prev": None,
        "next": None,
        "last": first,
        "describedby": f"{BASE}{PREFIX}/openapi.json",
    }
    meta = {"count": 1, "page": 1, "pages": 1, "limit": 20, "offset": 0, **answer.meta}
    return {"jsonapi": {"version": "1.1"}, "data": [resource(type, answer)], "links": links, "meta": meta}


def _answer(operation: str, status: str) -> Answer:
    return ANSWERS.get((operation, status), Answer())
