"""Webhook payloads: shapes A and B (docs/integrate/api.md). No text of users; at most 4 decimals.

Shape A carries what the author of a post is to be told, in the words of moderators or operators; Shape B never does.

Communities on Discourse also get the flat members that the Discourse plugin reads beside Shape A's, and the
plugin's own name for ``moderation_action.created`` (docs/integrate/api.md).
"""

import uuid
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from app.core import clock
from app.core.models import Action, Community, Decision, Note, Report, Request
from app.core.questions import question_of
from app.core.vocabulary import ActionState, ActionType, AttentionReason, EventName

DISCOURSE = "discourse"
RECOMMENDED = {
    ActionType.HIDE: "hide_post",
    ActionType.UNHIDE: "unhide_post",
    ActionType.DELETE: "delete_post",
    ActionType.WARN: "warn_user",
    ActionType.SILENCE: "silence_user",
}
"""The platform operation for each action type, in the terms of existing integrations (docs/integrate/api.md)."""

PROPOSED = "moderation_action.proposed"
"""The Discourse plugin's name for ``moderation_action.created``."""
_ENDED = frozenset({ActionState.DISMISSED, ActionState.OVERTURNED, ActionState.SCAN_EXEMPT})
"""States in which the platform must not carry out what the action proposed."""


def as_subscribed(payload: Mapping[str, Any], names: Collection[str] | None) -> Mapping[str, Any]:
    """The payload under the event name that the webhook subscribed to; ``names`` is its ``events``.

    ``moderation_action.created`` is sent as ``moderation_action.proposed`` to webhooks that subscribe to that name,
    and on Discourse to those that subscribe to everything. ``event`` and ``event_type``, if present, get the same
    name.
    """
    name = payload.get("event")
    if name is None:
        return payload
    is_discourse = "event_type" in payload
    if name == EventName.ACTION_CREATED and (is_discourse if names is None else PROPOSED in names):
        name = PROPOSED
    return {**payload, "event": name} | ({"event_type": name} if is_discourse else {})


def name_of(payload: Mapping[str, Any]) -> str:
    """The event name in the payload, for the header that repeats it."""
    return str(payload.get("event") or payload["event_type"])


def number(value: float) -> float | int:
    """Round to 4 decimals; a whole number has no fraction: ``1``, never ``1.0``."""
    rounded = round(value, 4)
    return int(rounded) if rounded == int(rounded) else rounded


def classifier_evidence(action: Action) -> dict[str, Any] | None:
    """``score`` and ``category`` as specified, with further evidence beside them; None without evidence."""
    if action.evidence is None:
        return None
    return dict(action.evidence)


def action_event(name: EventName, community: Community, action: Action) -> dict[str, Any]:
    """Shape A; ``request_id`` is our UUID."""
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
            "classifier_evidence": _slim(action),
            "note_id": str(action.note_id) if action.note_id else None,
            "category": action.filed_under,
            "author_text": action.author_text,
            "until": clock.iso(action.until) if action.until else None,
        },
    }
    if name is EventName.ACTION_ENDED:
        payload["data"]["ended_at"] = clock.iso(action.ended_at) if action.ended_at else None
    if name is EventName.ACTION_OVERTURNED:
        payload["data"] |= {
            "undo": action.undo.value if action.undo else None,
            "undo_state": action.undo_state.value if action.undo_state else None,
        }
    if community.platform == DISCOURSE:
        payload |= _flat(payload, action)
        recommended = payload["action_type"] if action.action_state not in _ENDED else None
        payload |= {"recommended_action": recommended, "status": action.action_state.value}
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


def note_event(community: Community, note: Note, action: Action | None) -> dict[str, Any]:
    """``note.status_changed`` in Shape A; ``action`` is the action whose rationale the note is, or None."""
    payload: dict[str, Any] = {
        "event": EventName.NOTE_STATUS.value,
        "community_server_id": str(community.id),
        "data": {
            "id": str(note.id),
            "request_id": str(note.request_id) if note.request_id else None,
            "community_server_id": str(community.id),
            "kind": note.kind.value,
            "status": note.status.value,
            "helpfulness_score": note.helpfulness_score,
            "force_published": note.force_published,
            "ratings_count": note.ratings_count,
        },
    }
    if community.platform == DISCOURSE:
        payload |= _flat(payload, action)
        # The plugin hides the post of a helpful note that recommends it. Ratings may continue after the action has
        # ended, and must not make the plugin act then.
        is_recommended = action is not None and action.action_state not in _ENDED
        payload |= {
            "note_id": str(note.id),
            "recommended_action": payload["action_type"] if is_recommended else None,
            "status": note.status.value,
        }
    return payload


def completed_event(community: Community, request: Request, decision: Decision | None) -> dict[str, Any]:
    """``request.completed`` in Shape A: a request that ended without action."""
    return {
        "event": EventName.REQUEST_COMPLETED.value,
        "community_server_id": str(community.id),
        "data": {
            "request_id": str(request.id),
            "community_server_id": str(community.id),
            "decision": decision.decision if decision is not None else None,
            "completed_at": clock.iso(request.completed_at or clock.now()),
        },
    }


def review_event(community: Community, action: Action, time: timedelta) -> dict[str, Any]:
    """``review.opened`` in Shape A: what is asked, of whom, and when the review ends by itself after ``time``."""
    opened_at = action.review_opened_at or action.created_at
    return {
        "event": EventName.REVIEW_OPENED.value,
        "community_server_id": str(community.id),
        "data": {
            "request_id": str(action.request_id),
            "action_id": str(action.id),
            "note_id": str(action.note_id) if action.note_id else None,
            "community_server_id": str(community.id),
            "review_group": action.review_group.value if action.review_group else None,
            "question": question_of(action.action_type, action.decided_verb),
            "closes_at": clock.iso(opened_at + time),
        },
    }


def report_event(community: Community, report: Report) -> dict[str, Any]:
    """``report.resolved`` in Shape A: what the reporter hears, and in which words."""
    return {
        "event": EventName.REPORT_RESOLVED.value,
        "community_server_id": str(community.id),
        "data": {
            "id": str(report.id),
            "report_id": report.report_id,
            "reporter_id": report.reporter_ref,
            "request_id": str(report.request_id),
            "community_server_id": str(community.id),
            "outcome": report.outcome.value if report.outcome else None,
            "outcome_text": report.outcome_text,
        },
    }


def panel_event(
    community: Community, action: Action, note_id: uuid.UUID, rater_ids: Sequence[str], expires_at: datetime
) -> dict[str, Any]:
    """``panel.drawn`` in Shape A: which of the platform's users were drawn, and until when they can answer."""
    return {
        "event": EventName.PANEL_DRAWN.value,
        "community_server_id": str(community.id),
        "data": {
            "request_id": str(action.request_id),
            "note_id": str(note_id),
            "community_server_id": str(community.id),
            "rater_ids": list(rater_ids),
            "expires_at": clock.iso(expires_at),
        },
    }


def attention_event(
    community: Community, reason: AttentionReason, since: datetime, count: int | None
) -> dict[str, Any]:
    """``community.attention`` in Shape A: why operators are wanted, since when, and how many are counted."""
    return {
        "event": EventName.ATTENTION.value,
        "community_server_id": str(community.id),
        "data": {"reason": reason.value, "since": clock.iso(since), "count": count},
    }


def test_event(community_id: uuid.UUID) -> dict[str, Any]:
    """``webhook.test`` in Shape A, about nothing."""
    return {"event": EventName.TEST.value, "community_server_id": str(community_id), "data": {}}


def veiled(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """The payload for people who look at deliveries: who was drawn is for the platform alone."""
    if payload.get("event") != EventName.PANEL_DRAWN:
        return payload
    count = len(payload["data"]["rater_ids"])
    return {**payload, "data": {**payload["data"], "rater_ids": [f"{count} not shown"]}}


def _flat(payload: Mapping[str, Any], action: Action | None) -> dict[str, Any]:
    """The top-level members that the Discourse plugin reads in every event; null without an action."""
    return {
        "event_type": payload["event"],
        "request_id": payload["data"]["request_id"],
        "action_id": str(action.id) if action else None,
        "action_type": RECOMMENDED[action.action_type] if action else None,
        "review_group": action.review_group.value if action and action.review_group else None,
        "classifier_evidence": _slim(action) if action else None,
    }


def _slim(action: Action) -> dict[str, Any] | None:
    evidence = classifier_evidence(action)
    return None if evidence is None else {key: evidence[key] for key in ("score", "category")}
