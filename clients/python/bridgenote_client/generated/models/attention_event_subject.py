from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.attention_event_subject_reason import AttentionEventSubjectReason

T = TypeVar("T", bound="AttentionEventSubject")


@_attrs_define
class AttentionEventSubject:
    """The member `data` of the body `AttentionEvent`.

    Attributes:
        reason (AttentionEventSubjectReason): `backlog`: many reviews wait. `overdue`: reviews wait far beyond their
            target time. `webhook_failing`: nothing arrives at a webhook. `paused`: automatic actions have been paused for
            long.
        since (datetime.datetime): When the reason for it began.
        count (int | None): How many reviews wait or are that late, or how many attempts failed; null for `paused`.
    """

    reason: AttentionEventSubjectReason
    since: datetime.datetime
    count: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason.value

        since = self.since.isoformat()

        count: int | None
        count = self.count

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "reason": reason,
                "since": since,
                "count": count,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        reason = AttentionEventSubjectReason(d.pop("reason"))

        since = datetime.datetime.fromisoformat(d.pop("since"))

        def _parse_count(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        count = _parse_count(d.pop("count"))

        attention_event_subject = cls(
            reason=reason,
            since=since,
            count=count,
        )

        attention_event_subject.additional_properties = d
        return attention_event_subject

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
