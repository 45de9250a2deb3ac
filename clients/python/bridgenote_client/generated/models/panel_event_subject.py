from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PanelEventSubject")


@_attrs_define
class PanelEventSubject:
    """The member `data` of the body `PanelEvent`.

    Attributes:
        request_id (UUID): The post, by our UUID.
        note_id (UUID): The note to rate, by our UUID.
        community_server_id (UUID): The same community again, by our UUID.
        rater_ids (list[str]): Who was drawn, by the platform's user ids: ask them.
        expires_at (datetime.datetime): Until when they can answer.
    """

    request_id: UUID
    note_id: UUID
    community_server_id: UUID
    rater_ids: list[str]
    expires_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        request_id = str(self.request_id)

        note_id = str(self.note_id)

        community_server_id = str(self.community_server_id)

        rater_ids = self.rater_ids

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "request_id": request_id,
                "note_id": note_id,
                "community_server_id": community_server_id,
                "rater_ids": rater_ids,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        request_id = UUID(d.pop("request_id"))

        note_id = UUID(d.pop("note_id"))

        community_server_id = UUID(d.pop("community_server_id"))

        rater_ids = cast(list[str], d.pop("rater_ids"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        panel_event_subject = cls(
            request_id=request_id,
            note_id=note_id,
            community_server_id=community_server_id,
            rater_ids=rater_ids,
            expires_at=expires_at,
        )

        panel_event_subject.additional_properties = d
        return panel_event_subject

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
