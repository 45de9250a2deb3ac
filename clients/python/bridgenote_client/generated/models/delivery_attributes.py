from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define

from ..models.delivery_state import DeliveryState
from ..models.event_name import EventName

T = TypeVar("T", bound="DeliveryAttributes")


@_attrs_define
class DeliveryAttributes:
    """One event for one webhook.

    Attributes:
        event_id (UUID): The same in every attempt and replay; deduplicate on it.
        event (EventName): An event that webhooks can receive; the member `webhooks` has the body of each.
        state (DeliveryState): `parked`: restored from a backup; perhaps sent since, so a person must decide whether to
            send it again.
        attempts (int): Attempts since it was last put into the queue.
        due_at (datetime.datetime | None): When it is sent next; null unless it is `due`, and while its webhook is
            disabled.
        delivered_at (datetime.datetime | None): When the receiver answered with 2xx; null before.
        last_attempt_at (datetime.datetime | None): When the last attempt began; null before the first, and 30 days
            after the last.
        last_status (int | None): HTTP status of the answer to the last attempt; null if there was no answer.
        last_error (None | str): Why the last attempt had no answer, such as `timeout after 5 s`; null if it had one.
        created_at (datetime.datetime): When the event happened and was put into the queue.
        updated_at (datetime.datetime): When the delivery last changed.
    """

    event_id: UUID
    event: EventName
    state: DeliveryState
    attempts: int
    due_at: datetime.datetime | None
    delivered_at: datetime.datetime | None
    last_attempt_at: datetime.datetime | None
    last_status: int | None
    last_error: None | str
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        event_id = str(self.event_id)

        event = self.event.value

        state = self.state.value

        attempts = self.attempts

        due_at: None | str
        if isinstance(self.due_at, datetime.datetime):
            due_at = self.due_at.isoformat()
        else:
            due_at = self.due_at

        delivered_at: None | str
        if isinstance(self.delivered_at, datetime.datetime):
            delivered_at = self.delivered_at.isoformat()
        else:
            delivered_at = self.delivered_at

        last_attempt_at: None | str
        if isinstance(self.last_attempt_at, datetime.datetime):
            last_attempt_at = self.last_attempt_at.isoformat()
        else:
            last_attempt_at = self.last_attempt_at

        last_status: int | None
        last_status = self.last_status

        last_error: None | str
        last_error = self.last_error

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "event_id": event_id,
                "event": event,
                "state": state,
                "attempts": attempts,
                "due_at": due_at,
                "delivered_at": delivered_at,
                "last_attempt_at": last_attempt_at,
                "last_status": last_status,
                "last_error": last_error,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        event_id = UUID(d.pop("event_id"))

        event = EventName(d.pop("event"))

        state = DeliveryState(d.pop("state"))

        attempts = d.pop("attempts")

        def _parse_due_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                due_at_type_0 = datetime.datetime.fromisoformat(data)

                return due_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        due_at = _parse_due_at(d.pop("due_at"))

        def _parse_delivered_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                delivered_at_type_0 = datetime.datetime.fromisoformat(data)

                return delivered_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        delivered_at = _parse_delivered_at(d.pop("delivered_at"))

        def _parse_last_attempt_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                last_attempt_at_type_0 = datetime.datetime.fromisoformat(data)

                return last_attempt_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        last_attempt_at = _parse_last_attempt_at(d.pop("last_attempt_at"))

        def _parse_last_status(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        last_status = _parse_last_status(d.pop("last_status"))

        def _parse_last_error(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last_error = _parse_last_error(d.pop("last_error"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        delivery_attributes = cls(
            event_id=event_id,
            event=event,
            state=state,
            attempts=attempts,
            due_at=due_at,
            delivered_at=delivered_at,
            last_attempt_at=last_attempt_at,
            last_status=last_status,
            last_error=last_error,
            created_at=created_at,
            updated_at=updated_at,
        )

        return delivery_attributes
