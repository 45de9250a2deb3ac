from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.replay_attributes_states_item import ReplayAttributesStatesItem

T = TypeVar("T", bound="ReplayAttributes")


@_attrs_define
class ReplayAttributes:
    """A range of deliveries that is sent again, 500 at a time.

    Attributes:
        since (datetime.datetime | None): The start of the range; null: from the first delivery on.
        until (datetime.datetime): The end of the range, at the latest when the replay began.
        states (list[ReplayAttributesStatesItem]): The states that the deliveries had.
        total (int): How many deliveries are sent again.
        sent (int): How many of them are in the queue again by now.
        finished_at (datetime.datetime | None): When the last of them was put into the queue; null while the rest
            follows in the background.
        created_at (datetime.datetime): When the replay began.
        updated_at (datetime.datetime): When `sent` last changed.
    """

    since: datetime.datetime | None
    until: datetime.datetime
    states: list[ReplayAttributesStatesItem]
    total: int
    sent: int
    finished_at: datetime.datetime | None
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        since: None | str
        if isinstance(self.since, datetime.datetime):
            since = self.since.isoformat()
        else:
            since = self.since

        until = self.until.isoformat()

        states = []
        for states_item_data in self.states:
            states_item = states_item_data.value
            states.append(states_item)

        total = self.total

        sent = self.sent

        finished_at: None | str
        if isinstance(self.finished_at, datetime.datetime):
            finished_at = self.finished_at.isoformat()
        else:
            finished_at = self.finished_at

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "since": since,
                "until": until,
                "states": states,
                "total": total,
                "sent": sent,
                "finished_at": finished_at,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_since(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                since_type_0 = datetime.datetime.fromisoformat(data)

                return since_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        since = _parse_since(d.pop("since"))

        until = datetime.datetime.fromisoformat(d.pop("until"))

        states = []
        _states = d.pop("states")
        for states_item_data in _states:
            states_item = ReplayAttributesStatesItem(states_item_data)

            states.append(states_item)

        total = d.pop("total")

        sent = d.pop("sent")

        def _parse_finished_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                finished_at_type_0 = datetime.datetime.fromisoformat(data)

                return finished_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        replay_attributes = cls(
            since=since,
            until=until,
            states=states,
            total=total,
            sent=sent,
            finished_at=finished_at,
            created_at=created_at,
            updated_at=updated_at,
        )

        return replay_attributes
