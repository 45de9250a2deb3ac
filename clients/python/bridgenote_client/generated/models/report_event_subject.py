from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.report_event_subject_outcome import ReportEventSubjectOutcome

T = TypeVar("T", bound="ReportEventSubject")


@_attrs_define
class ReportEventSubject:
    """The member `data` of the body `ReportEvent`.

    Attributes:
        id (UUID): The report, by our UUID.
        report_id (str): The report, by your own id.
        reporter_id (str): The reporter, as it was sent.
        request_id (UUID): The post, by our UUID.
        community_server_id (UUID): The same community again, by our UUID.
        outcome (ReportEventSubjectOutcome): `acted`: something was done about the post. `kept`: it stays as it is.
            `none`: there was no decision.
        outcome_text (None | str): What to tell the reporter, in the community's words.
    """

    id: UUID
    report_id: str
    reporter_id: str
    request_id: UUID
    community_server_id: UUID
    outcome: ReportEventSubjectOutcome
    outcome_text: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = str(self.id)

        report_id = self.report_id

        reporter_id = self.reporter_id

        request_id = str(self.request_id)

        community_server_id = str(self.community_server_id)

        outcome = self.outcome.value

        outcome_text: None | str
        outcome_text = self.outcome_text

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "report_id": report_id,
                "reporter_id": reporter_id,
                "request_id": request_id,
                "community_server_id": community_server_id,
                "outcome": outcome,
                "outcome_text": outcome_text,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = UUID(d.pop("id"))

        report_id = d.pop("report_id")

        reporter_id = d.pop("reporter_id")

        request_id = UUID(d.pop("request_id"))

        community_server_id = UUID(d.pop("community_server_id"))

        outcome = ReportEventSubjectOutcome(d.pop("outcome"))

        def _parse_outcome_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        outcome_text = _parse_outcome_text(d.pop("outcome_text"))

        report_event_subject = cls(
            id=id,
            report_id=report_id,
            reporter_id=reporter_id,
            request_id=request_id,
            community_server_id=community_server_id,
            outcome=outcome,
            outcome_text=outcome_text,
        )

        report_event_subject.additional_properties = d
        return report_event_subject

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
