from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.action_type import ActionType
from ..types import UNSET, Unset

T = TypeVar("T", bound="ActionCreateAttributes")


@_attrs_define
class ActionCreateAttributes:
    """An action that the integration took on its platform.

    Attributes:
        action_type (ActionType): What the integration does on its platform.
        request_id (str): The request, by our UUID or by the integration's own id.
        community_server_id (str): The community, by our UUID or by the platform's id of it.
        reason (None | str | Unset): Why it was done, in words; at most 2,000 characters.
        until (datetime.datetime | None | Unset): When a `silence` ends on the platform; null: never. Not with other
            types.
    """

    action_type: ActionType
    request_id: str
    community_server_id: str
    reason: None | str | Unset = UNSET
    until: datetime.datetime | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        action_type = self.action_type.value

        request_id = self.request_id

        community_server_id = self.community_server_id

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        elif isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "action_type": action_type,
                "request_id": request_id,
                "community_server_id": community_server_id,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason
        if until is not UNSET:
            field_dict["until"] = until

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        action_type = ActionType(d.pop("action_type"))

        request_id = d.pop("request_id")

        community_server_id = d.pop("community_server_id")

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        def _parse_until(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                until_type_0 = datetime.datetime.fromisoformat(data)

                return until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        until = _parse_until(d.pop("until", UNSET))

        action_create_attributes = cls(
            action_type=action_type,
            request_id=request_id,
            community_server_id=community_server_id,
            reason=reason,
            until=until,
        )

        return action_create_attributes
