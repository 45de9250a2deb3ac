from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.completed_event_subject_decision_type_1 import (
    CompletedEventSubjectDecisionType1,
)
from ..models.completed_event_subject_decision_type_2_type_1 import (
    CompletedEventSubjectDecisionType2Type1,
)
from ..models.completed_event_subject_decision_type_3_type_1 import (
    CompletedEventSubjectDecisionType3Type1,
)

T = TypeVar("T", bound="CompletedEventSubject")


@_attrs_define
class CompletedEventSubject:
    """The member `data` of the body `CompletedEvent`.

    Attributes:
        request_id (UUID): The post, by our UUID.
        community_server_id (UUID): The same community again, by our UUID.
        decision (CompletedEventSubjectDecisionType1 | CompletedEventSubjectDecisionType2Type1 |
            CompletedEventSubjectDecisionType3Type1 | None): `none` if a review ended without action, which
            `moderation.decision` says too; null if there was nothing to review.
        completed_at (datetime.datetime): When it ended.
    """

    request_id: UUID
    community_server_id: UUID
    decision: (
        CompletedEventSubjectDecisionType1
        | CompletedEventSubjectDecisionType2Type1
        | CompletedEventSubjectDecisionType3Type1
        | None
    )
    completed_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        request_id = str(self.request_id)

        community_server_id = str(self.community_server_id)

        decision: None | str
        if (
            isinstance(self.decision, CompletedEventSubjectDecisionType1)
            or isinstance(self.decision, CompletedEventSubjectDecisionType2Type1)
            or isinstance(self.decision, CompletedEventSubjectDecisionType3Type1)
        ):
            decision = self.decision.value
        else:
            decision = self.decision

        completed_at = self.completed_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "request_id": request_id,
                "community_server_id": community_server_id,
                "decision": decision,
                "completed_at": completed_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        request_id = UUID(d.pop("request_id"))

        community_server_id = UUID(d.pop("community_server_id"))

        def _parse_decision(
            data: object,
        ) -> (
            CompletedEventSubjectDecisionType1
            | CompletedEventSubjectDecisionType2Type1
            | CompletedEventSubjectDecisionType3Type1
            | None
        ):
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                decision_type_1 = CompletedEventSubjectDecisionType1(data)

                return decision_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                decision_type_2_type_1 = CompletedEventSubjectDecisionType2Type1(data)

                return decision_type_2_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                decision_type_3_type_1 = CompletedEventSubjectDecisionType3Type1(data)

                return decision_type_3_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(
                CompletedEventSubjectDecisionType1
                | CompletedEventSubjectDecisionType2Type1
                | CompletedEventSubjectDecisionType3Type1
                | None,
                data,
            )

        decision = _parse_decision(d.pop("decision"))

        completed_at = datetime.datetime.fromisoformat(d.pop("completed_at"))

        completed_event_subject = cls(
            request_id=request_id,
            community_server_id=community_server_id,
            decision=decision,
            completed_at=completed_at,
        )

        completed_event_subject.additional_properties = d
        return completed_event_subject

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
