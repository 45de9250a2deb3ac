from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.webhook_replay_attributes_states_item import (
    WebhookReplayAttributesStatesItem,
)
from ..types import UNSET, Unset

T = TypeVar("T", bound="WebhookReplayAttributes")


@_attrs_define
class WebhookReplayAttributes:
    """Which of a webhook's deliveries to send again, with the same event ids. Without members: all that failed.

    Attributes:
        since (datetime.datetime | None | Unset): Put into the queue at this time or later; null: from the first one on.
        until (datetime.datetime | None | Unset): Put into the queue before this time; null: until now.
        states (list[WebhookReplayAttributesStatesItem] | Unset): The states of the deliveries to send again.
            `delivered` ones arrived before.
    """

    since: datetime.datetime | None | Unset = UNSET
    until: datetime.datetime | None | Unset = UNSET
    states: list[WebhookReplayAttributesStatesItem] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        since: None | str | Unset
        if isinstance(self.since, Unset):
            since = UNSET
        elif isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        elif isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        states: list[str] | Unset = UNSET
        if not isinstance(self.states, Unset):
            states = []
            for states_item_data in self.states:
                states_item = states_item_data.value
                states.append(states_item)

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if since is not UNSET:
            field_dict["since"] = since
        if until is not UNSET:
            field_dict["until"] = until
        if states is not UNSET:
            field_dict["states"] = states

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_since(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                since_type_0 = datetime.datetime.fromisoformat(data)

                return since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        since = _parse_since(d.pop("since", UNSET))

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

        _states = d.pop("states", UNSET)
        states: list[WebhookReplayAttributesStatesItem] | Unset = UNSET
        if _states is not UNSET:
            states = []
            for states_item_data in _states:
                states_item = WebhookReplayAttributesStatesItem(states_item_data)

                states.append(states_item)

        webhook_replay_attributes = cls(
            since=since,
            until=until,
            states=states,
        )

        return webhook_replay_attributes
