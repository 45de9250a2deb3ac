from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.event_name import EventName
from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookPatchAttributes")


@_attrs_define
class WebhookPatchAttributes:
    """Members left out stay unchanged. A new secret starts a rotation of 24 hours.

    Attributes:
        url (str | Unset): Where the events are sent: https on port 443 or 8443 of a public host, at most 2,048
            characters.
        secret (str | Unset): Signs the deliveries; 8 to 500 characters, never shown again. After `whsec_` it must be
            base64 of at least 24 bytes. **Before you replace one**, make the receiver accept a delivery if any one
            signature in `webhook-signature` holds. Give it the new secret within 24 hours after.
        events (list[EventName] | None | Unset): The events that the webhook wants; null for all of them.
            `moderation_action.proposed` is `moderation_action.created` as the Discourse plugin knows it; on Discourse null
            asks for that name.
        is_active (bool | Unset): False stops the deliveries; true resumes them, with no failures counted.
        previous_secret_until (None | Unset): Null: the secrets that were replaced sign no more, also the one that
            `secret` replaces.
    """

    url: str | Unset = UNSET
    secret: str | Unset = UNSET
    events: list[EventName] | None | Unset = UNSET
    is_active: bool | Unset = UNSET
    previous_secret_until: None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        secret = self.secret

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

        is_active = self.is_active

        previous_secret_until = self.previous_secret_until

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if url is not UNSET:
            field_dict["url"] = url
        if secret is not UNSET:
            field_dict["secret"] = secret
        if events is not UNSET:
            field_dict["events"] = events
        if is_active is not UNSET:
            field_dict["is_active"] = is_active
        if previous_secret_until is not UNSET:
            field_dict["previous_secret_until"] = previous_secret_until

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url", UNSET)

        secret = d.pop("secret", UNSET)

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

        is_active = d.pop("is_active", UNSET)

        previous_secret_until = d.pop("previous_secret_until", UNSET)

        webhook_patch_attributes = cls(
            url=url,
            secret=secret,
            events=events,
            is_active=is_active,
            previous_secret_until=previous_secret_until,
        )

        return webhook_patch_attributes
