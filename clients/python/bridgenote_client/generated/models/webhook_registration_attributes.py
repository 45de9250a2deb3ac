from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.event_name import EventName
from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookRegistrationAttributes")


@_attrs_define
class WebhookRegistrationAttributes:
    """Where to send a community's events. Registering the same community and URL again replaces secret and events.

    A new secret starts a rotation of 24 hours, in which the replaced one signs too.

        Attributes:
            url (str): Where the events are sent: https on port 443 or 8443 of a public host, at most 2,048 characters.
            secret (str): Signs the deliveries; 8 to 500 characters, never shown again. After `whsec_` it must be base64 of
                at least 24 bytes. **Before you replace one**, make the receiver accept a delivery if any one signature in
                `webhook-signature` holds. Give it the new secret within 24 hours after.
            platform_community_server_id (str): The platform's id of the community, on X-Adapter-Platform where two
                platforms share it.
            events (list[EventName] | None | Unset): The events that the webhook wants; null for all of them.
                `moderation_action.proposed` is `moderation_action.created` as the Discourse plugin knows it; on Discourse null
                asks for that name.
    """

    url: str
    secret: str
    platform_community_server_id: str
    events: list[EventName] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        secret = self.secret

        platform_community_server_id = self.platform_community_server_id

        events: list[str] | None | Unset
        if isinstance(self.events, Unset):
            events = UNSET
        elif isinstance(self.events, list):
            events = []
            for events_type_0_item_data in self.events:
                events_type_0_item = events_type_0_item_data.value
                events.append(events_type_0_item)

        else:
            events = self.events

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
                "secret": secret,
                "platform_community_server_id": platform_community_server_id,
            }
        )
        if events is not UNSET:
            field_dict["events"] = events

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

        secret = d.pop("secret")

        platform_community_server_id = d.pop("platform_community_server_id")

        def _parse_events(data: object) -> list[EventName] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                events_type_0 = []
                _events_type_0 = data
                for events_type_0_item_data in _events_type_0:
                    events_type_0_item = EventName(events_type_0_item_data)

                    events_type_0.append(events_type_0_item)

                return events_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[EventName] | None | Unset, data)

        events = _parse_events(d.pop("events", UNSET))

        webhook_registration_attributes = cls(
            url=url,
            secret=secret,
            platform_community_server_id=platform_community_server_id,
            events=events,
        )

        return webhook_registration_attributes
