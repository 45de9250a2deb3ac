from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.review_group import ReviewGroup

T = TypeVar("T", bound="ReviewEventSubject")


@_attrs_define
class ReviewEventSubject:
    """The member `data` of the body `ReviewEvent`.

    Attributes:
        request_id (UUID): The post, by our UUID.
        action_id (UUID): The action that is under review.
        note_id (None | UUID): The rationale to rate. HELPFUL means yes, act; NOT_HELPFUL means no, keep. Never show its
            text to members.
        community_server_id (UUID): The same community again, by our UUID.
        review_group (None | ReviewGroup): Who reviews it. Where it is `staff`, ask no members.
        question (str): What to ask, such as `Should this post be hidden?`.
        closes_at (datetime.datetime): When the review ends without action unless it is decided before.
    """

    request_id: UUID
    action_id: UUID
    note_id: None | UUID
    community_server_id: UUID
    review_group: None | ReviewGroup
    question: str
    closes_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        request_id = str(self.request_id)

        action_id = str(self.action_id)

        note_id: None | str
        if isinstance(self.note_id, UUID):
            note_id = str(self.note_id)
        else:
            note_id = self.note_id

        community_server_id = str(self.community_server_id)

        review_group: None | str
        if isinstance(self.review_group, ReviewGroup):
            review_group = self.review_group.value
        else:
            review_group = self.review_group

        question = self.question

        closes_at = self.closes_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "request_id": request_id,
                "action_id": action_id,
                "note_id": note_id,
                "community_server_id": community_server_id,
                "review_group": review_group,
                "question": question,
                "closes_at": closes_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        request_id = UUID(d.pop("request_id"))

        action_id = UUID(d.pop("action_id"))

        def _parse_note_id(data: object) -> None | UUID:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                note_id_type_0 = UUID(data)

                return note_id_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UUID, data)

        note_id = _parse_note_id(d.pop("note_id"))

        community_server_id = UUID(d.pop("community_server_id"))

        def _parse_review_group(data: object) -> None | ReviewGroup:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                review_group_type_0 = ReviewGroup(data)

                return review_group_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReviewGroup, data)

        review_group = _parse_review_group(d.pop("review_group"))

        question = d.pop("question")

        closes_at = datetime.datetime.fromisoformat(d.pop("closes_at"))

        review_event_subject = cls(
            request_id=request_id,
            action_id=action_id,
            note_id=note_id,
            community_server_id=community_server_id,
            review_group=review_group,
            question=question,
            closes_at=closes_at,
        )

        review_event_subject.additional_properties = d
        return review_event_subject

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
