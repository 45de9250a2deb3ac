from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define

from ..models.event_name import EventName

T = TypeVar("T", bound="WebhookAttributes")


@_attrs_define
class WebhookAttributes:
    """Where a community's events are sent, and how deliveries go.

    Attributes:
        url (str): Where the events are sent: https on port 443 or 8443 of a public host, at most 2,048 characters.
        events (list[EventName] | None): The events that the webhook wants; null for all of them.
            `moderation_action.proposed` is `moderation_action.created` as the Discourse plugin knows it; on Discourse null
            asks for that name.
        community_server_id (UUID): The community, by our UUID.
        platform_community_server_id (str): The community's id on its platform, exactly as sent.
        is_active (bool): Whether events are sent.
        disabled_reason (None | str): Why nothing is sent, in words; null while it is active.
        failures (int): How many attempts in a row have failed.
        failing_since (datetime.datetime | None): When the first of them failed; null if none has.
        last_success_at (datetime.datetime | None): When a delivery last arrived; null if none ever has.
        previous_secret_until (datetime.datetime | None): Until when deliveries are also signed with the secret replaced
            last; null if with none. The one that was replaced before it also signs until its own 24 hours end; older ones
            do not.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
    """

    url: str
    events: list[EventName] | None
    community_server_id: UUID
    platform_community_server_id: str
    is_active: bool
    disabled_reason: None | str
    failures: int
    failing_since: datetime.datetime | None
    last_success_at: datetime.datetime | None
    previous_secret_until: datetime.datetime | None
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        url = self.url

        events: list[str] | None
        if isinstance(self.events, list):
            events = []
            for events_type_0_item_data in self.events:
                events_type_0_item = events_type_0_item_data.value
                events.append(events_type_0_item)

        else:
            events = self.events

        community_server_id = str(self.community_server_id)

        platform_community_server_id = self.platform_community_server_id

        is_active = self.is_active

        disabled_reason: None | str
        disabled_reason = self.disabled_reason

        failures = self.failures

        failing_since: None | str
        if isinstance(self.failing_since, datetime.datetime):
            failing_since = self.failing_since.isoformat()
        else:
            failing_since = self.failing_since

        last_success_at: None | str
        if isinstance(self.last_success_at, datetime.datetime):
            last_success_at = self.last_success_at.isoformat()
        else:
            last_success_at = self.last_success_at

        previous_secret_until: None | str
        if isinstance(self.previous_secret_until, datetime.datetime):
            previous_secret_until = self.previous_secret_until.isoformat()
        else:
            previous_secret_until = self.previous_secret_until

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "url": url,
                "events": events,
                "community_server_id": community_server_id,
                "platform_community_server_id": platform_community_server_id,
                "is_active": is_active,
                "disabled_reason": disabled_reason,
                "failures": failures,
                "failing_since": failing_since,
                "last_success_at": last_success_at,
                "previous_secret_until": previous_secret_until,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        url = d.pop("url")

        def _parse_events(data: object) -> list[EventName] | None:
            if data is None:
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
            return cast(list[EventName] | None, data)

        events = _parse_events(d.pop("events"))

        community_server_id = UUID(d.pop("community_server_id"))

        platform_community_server_id = d.pop("platform_community_server_id")

        is_active = d.pop("is_active")

        def _parse_disabled_reason(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        disabled_reason = _parse_disabled_reason(d.pop("disabled_reason"))

        failures = d.pop("failures")

        def _parse_failing_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                failing_since_type_0 = datetime.datetime.fromisoformat(data)

                return failing_since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        failing_since = _parse_failing_since(d.pop("failing_since"))

        def _parse_last_success_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_success_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_success_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_success_at = _parse_last_success_at(d.pop("last_success_at"))

        def _parse_previous_secret_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                previous_secret_until_type_0 = datetime.datetime.fromisoformat(data)

                return previous_secret_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        previous_secret_until = _parse_previous_secret_until(
            d.pop("previous_secret_until")
        )

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        webhook_attributes = cls(
            url=url,
            events=events,
            community_server_id=community_server_id,
            platform_community_server_id=platform_community_server_id,
            is_active=is_active,
            disabled_reason=disabled_reason,
            failures=failures,
            failing_since=failing_since,
            last_success_at=last_success_at,
            previous_secret_until=previous_secret_until,
            created_at=created_at,
            updated_at=updated_at,
        )

        return webhook_attributes
