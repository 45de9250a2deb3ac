"""The request bodies among the examples of the OpenAPI document."""

from collections.abc import Mapping
from typing import Any

from app.api.documents.examples import CONTENT, NOTE, RATING, REQUEST, SUMMARY, WEBHOOK

_SUBMISSION = {
    "request_id": "post-1",
    "requested_by": "user-7",
    "community_server_id": "forum-1",
    "original_message_content": CONTENT,
    "platform_message_id": "message-1",
}


def _wrapped(type: str, attributes: Mapping[str, Any], id: str | None = None) -> dict[str, Any]:
    identity = {} if id is None else {"id": id}
    return {"data": {"type": type, **identity, "attributes": dict(attributes)}}


_ACKNOWLEDGEMENT = {"action_state": "applied", "platform_action_id": "hidden-1"}
_REGISTRATION = {
    "url": "https://forum.example/hooks/bridgenote",
    "secret": "a-secret-of-mine",
    "platform_community_server_id": "forum-1",
    "events": ["moderation.decision", "moderation_action.created"],
}

BODIES: dict[str, dict[str, tuple[str, Any]]] = {
    "create_request": {"post": ("A post of a forum", _wrapped("requests", _SUBMISSION))},
    "patch_request": {
        "escalate": ("Send it to staff", {"escalated": True}),
        "retry": ("Score it again after it failed", _wrapped("requests", {"status": "PENDING"}, REQUEST)),
    },
    "create_moderation_action": {
        "taken": (
            "An action that the platform took",
            {
                "action_type": "hide",
                "request_id": "post-1",
                "community_server_id": "forum-1",
                "reason": "Reported by three members",
            },
        )
    },
    "patch_moderation_action": {
        "acknowledge": ("The platform has carried it out", _ACKNOWLEDGEMENT),
        "appeal": ("The author appeals", {"action_state": "retro_review", "reason": "It was a quotation"}),
    },
    "create_note": {
        "note": (
            "A note on a request",
            _wrapped(
                "notes",
                {
                    "summary": SUMMARY,
                    "classification": "MISINFORMED_OR_POTENTIALLY_MISLEADING",
                    "community_server_id": "forum-1",
                    "author_id": "user-7",
                    "request_id": "post-1",
                },
            ),
        )
    },
    "patch_note": {"text": ("Another text", _wrapped("notes", {"summary": SUMMARY}, NOTE))},
    "force_publish_note": {"reason": ("With the reason", {"reason": "Clear breach of the forum's rules"})},
    "dismiss_note": {"reason": ("With the reason", {"reason": "A joke between friends"})},
    "create_rating": {
        "helpful": (
            "A rating by a member",
            _wrapped("ratings", {"note_id": NOTE, "helpfulness_level": "HELPFUL", "rater_id": "user-8"}),
        )
    },
    "put_rating": {
        "changed": (
            "A second thought",
            _wrapped("ratings", {"helpfulness_level": "SOMEWHAT_HELPFUL"}, RATING),
        )
    },
    "link_profile": {"code": ("The code that the account shows", {"code": "K7QD-M2XP"})},
    "register_webhook": {"endpoint": ("Two kinds of events", _REGISTRATION)},
    "patch_webhook": {
        "rotate": (
            "A new secret; the old one also signs for 24 hours",
            _wrapped("webhooks", {"secret": "my-next-secret"}, WEBHOOK),
        ),
        "end": (
            "The old secret signs no more",
            _wrapped("webhooks", {"previous_secret_until": None}, WEBHOOK),
        ),
    },
    "create_community": {
        "forum": (
            "A forum",
            {"platform": "discourse", "platform_community_server_id": "forum-1", "name": "Harbour forum"},
        )
    },
    "rename_community": {
        "name": ("Its name now", {"name": "Harbour forum", "server_stats": {"members": 812}})
    },
}
"""By operation: name, summary and value of each example."""
