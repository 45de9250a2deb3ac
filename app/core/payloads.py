"""What webhooks carry: shapes A and B (Spec: Events; Contract: section 7). No user text; at most 4 decimals."""

from collections.abc import Collection, Mapping
from typing import Any

from app.core.models import Action, Community, Decision, Note, Request
from app.core.vocabulary import ActionType, EventName

RECOMMENDED = {
    ActionType.HIDE: "hide_post",
    ActionType.UNHIDE: "unhide_post",
    ActionType.DELETE: "delete_post",
    ActionType.WARN: "warn_user",
    ActionType.SILENCE: "silence_user",
}
"""How existing integrations name the platform's own operation (Contract: sections 3 and 8)."""

PROPOSED = "moderation_action.proposed"
"""How the Discourse plugin calls ``moderation_action.created``. It reads ``event`` before ``event_type``, so a webhook
that subscribes to this name gets it as ``event`` (Contract: section 8)."""
_DISCOURSE_NAMES = {EventName.ACTION_CREATED: PROPOSED}


def subscriptions(name: EventName) -> frozenset[str]:
    """The names under which an event can be subscribed to."""
    return frozenset({name.value, _DISCOURSE_NAMES.get(name, name.value)})


def as_subscribed(payload: Mapping[str, Any], names: Collection[str] | None) -> Mapping[str, Any]:
    """The payload under the name that a webhook subscribed to; ``names`` as its ``events``."""
    if names is None or PROPOSED not in names or payload.get("event") != EventName.ACTION_CREATED:
        return payload
    return {**payload, "event": PROPOSED}


def number(value: float) -> float | int:
    """At most 4 decimals, and a whole number without a fraction: ``1``, never ``1.0``."""
    rounded = round(value, 4)
    return int(rounded) if rounded == int(rounded) else rounded


def classifier_evidence(action: Action) -> dict[str, Any] | None:
    """``score`` and ``category`` as specified, with what else is known beside them."""
    if action.evidence is None:
        return None
    return dict(action.evidence)


def action_event(name: EventName, community: Community, action: Action) -> dict[str, Any]:
    """Shape A; ``request_id`` is our UUID. Communities on Discourse get the flat members of their receiver too."""
    evidence = classifier_evidence(action)
    slim = None if evidence is None else {key: evidence[key] for key in ("score", "category")}
    payload: dict[str, Any] = {
        "event": name.value,
        "community_server_id": str(community.id),
        "data": {
            "id": str(action.id),
            "request_id": str(action.request_id),
            "community_server_id": str(community.id),
            "action_type": action.action_type.value,
            "action_tier": action.action_tier.value if action.action_tier else None,
            "action_state": action.action_state.value,
            "review_group": action.review_group.value if action.review_group else None,
            "classifier_evidence": slim,
            "note_id": str(action.note_id) if action.note_id else None,
        },
    }
    if community.platform == "discourse":
        payload |= {
            "event_type": _DISCOURSE_NAMES.get(name, name.value),
            "action_id": str(action.id),
            "request_id": str(action.request_id),
            "action_type": RECOMMENDED[action.action_type],
            "recommended_action": RECOMMENDED[action.action_type],
            "review_group": payload["data"]["review_group"],
            "classifier_evidence": slim,
            "status": action.action_state.value,
        }
    return payload


def decision_event(community: Community, request: Request, decision: Decision) -> dict[str, Any]:
    """Shape B; ``request_id`` is the integration's own string. ``event_id`` is added when the event is written."""
    return {
        "event_type": EventName.DECISION.value,
        "request_id": request.request_id,
        "community_server_id": str(community.id),
        "decision": decision.decision,
        "confidence": number(decision.confidence),
        "tier": decision.tier,
    }


def note_event(community: Community, note: Note) -> dict[str, Any]:
    """``note.status_changed`` in Shape A's form."""
    payload: dict[str, Any] = {
        "event": EventName.NOTE_STATUS.value,
        "community_server_id": str(community.id),
        "data": {
            "id": str(note.id),
            "request_id": str(note.request_id) if note.request_id else None,
            "community_server_id": str(community.id),
            "status": note.status.value,
            "helpfulness_score": note.helpfulness_score,
            "force_published": note.force_published,
            "ratings_count": note.ratings_count,
        },
    }
    if community.platform == "discourse":
        payload |= {
            "event_type": EventName.NOTE_STATUS.value,
            "note_id": str(note.id),
            "request_id": payload["data"]["request_id"],
            "status": note.status.value,
        }
    return payload
