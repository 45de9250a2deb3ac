from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.decision_event_decision import DecisionEventDecision
from ..models.decision_event_event_type import DecisionEventEventType
from ..models.decision_event_tier import DecisionEventTier

T = TypeVar("T", bound="DecisionEvent")


@_attrs_define
class DecisionEvent:
    """Shape B: the one decision on a request. `request_id` is the integration's own string. A `request_id` that was
    withdrawn and submitted again is a new request, whose decision has an `event_id` of its own: deduplicate on
    `event_id`, never on `request_id`. Other members may be there; leave what you do not know alone.

        Attributes:
            event_type (DecisionEventEventType): What happened, by the event's name.
            request_id (str): The post, by your own id.
            community_server_id (UUID): The community, by our UUID.
            decision (DecisionEventDecision): The verb that was decided, such as `hide`; `none` if the review ended without
                action.
            confidence (float): How sure, from 0 to 1.
            tier (DecisionEventTier): 1: acted by itself. 2: asked people.
            event_id (UUID): The same for every attempt, webhook and replay: deduplicate on it.
            field_webhook_timestamp (int): Unix time of this attempt, seconds.
            field_webhook_signature (str): HMAC-SHA256, hex, of the timestamp, a colon, and the canonical JSON (RFC 8785) of
                the payload without `_webhook_timestamp` and `_webhook_signature`.
    """

    event_type: DecisionEventEventType
    request_id: str
    community_server_id: UUID
    decision: DecisionEventDecision
    confidence: float
    tier: DecisionEventTier
    event_id: UUID
    field_webhook_timestamp: int
    field_webhook_signature: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event_type = self.event_type.value

        request_id = self.request_id

        community_server_id = str(self.community_server_id)

        decision = self.decision.value

        confidence = self.confidence

        tier = self.tier.value

        event_id = str(self.event_id)

        field_webhook_timestamp = self.field_webhook_timestamp

        field_webhook_signature = self.field_webhook_signature

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event_type": event_type,
                "request_id": request_id,
                "community_server_id": community_server_id,
                "decision": decision,
                "confidence": confidence,
                "tier": tier,
                "event_id": event_id,
                "_webhook_timestamp": field_webhook_timestamp,
                "_webhook_signature": field_webhook_signature,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        event_type = DecisionEventEventType(d.pop("event_type"))

        request_id = d.pop("request_id")

        community_server_id = UUID(d.pop("community_server_id"))

        decision = DecisionEventDecision(d.pop("decision"))

        confidence = d.pop("confidence")

        tier = DecisionEventTier(d.pop("tier"))

        event_id = UUID(d.pop("event_id"))

        field_webhook_timestamp = d.pop("_webhook_timestamp")

        field_webhook_signature = d.pop("_webhook_signature")

        decision_event = cls(
            event_type=event_type,
            request_id=request_id,
            community_server_id=community_server_id,
            decision=decision,
            confidence=confidence,
            tier=tier,
            event_id=event_id,
            field_webhook_timestamp=field_webhook_timestamp,
            field_webhook_signature=field_webhook_signature,
        )

        decision_event.additional_properties = d
        return decision_event

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
