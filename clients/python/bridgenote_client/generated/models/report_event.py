from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.report_event_event import ReportEventEvent

if TYPE_CHECKING:
    from ..models.report_event_subject import ReportEventSubject


T = TypeVar("T", bound="ReportEvent")


@_attrs_define
class ReportEvent:
    """A report was resolved: say so to its reporter, once. It says neither the penalty nor who decided. `data.request_id`
    is our UUID. Only for webhooks that name this event. Other members may be there; leave what you do not know alone.

        Attributes:
            event (ReportEventEvent): What happened, by the event's name.
            community_server_id (UUID): The community, by our UUID.
            data (ReportEventSubject): The member `data` of the body `ReportEvent`.
            event_id (UUID): The same for every attempt, webhook and replay: deduplicate on it.
            field_webhook_timestamp (int): Unix time of this attempt, seconds.
            field_webhook_signature (str): HMAC-SHA256, hex, of the timestamp, a colon, and the canonical JSON (RFC 8785) of
                the payload without `_webhook_timestamp` and `_webhook_signature`.
    """

    event: ReportEventEvent
    community_server_id: UUID
    data: ReportEventSubject
    event_id: UUID
    field_webhook_timestamp: int
    field_webhook_signature: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        event = self.event.value

        community_server_id = str(self.community_server_id)

        data = self.data.to_dict()

        event_id = str(self.event_id)

        field_webhook_timestamp = self.field_webhook_timestamp

        field_webhook_signature = self.field_webhook_signature

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "community_server_id": community_server_id,
                "data": data,
                "event_id": event_id,
                "_webhook_timestamp": field_webhook_timestamp,
                "_webhook_signature": field_webhook_signature,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.report_event_subject import ReportEventSubject

        d = dict(src_dict)
        event = ReportEventEvent(d.pop("event"))

        community_server_id = UUID(d.pop("community_server_id"))

        data = ReportEventSubject.from_dict(d.pop("data"))

        event_id = UUID(d.pop("event_id"))

        field_webhook_timestamp = d.pop("_webhook_timestamp")

        field_webhook_signature = d.pop("_webhook_signature")

        report_event = cls(
            event=event,
            community_server_id=community_server_id,
            data=data,
            event_id=event_id,
            field_webhook_timestamp=field_webhook_timestamp,
            field_webhook_signature=field_webhook_signature,
        )

        report_event.additional_properties = d
        return report_event

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
