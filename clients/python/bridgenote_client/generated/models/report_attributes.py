from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar
from uuid import UUID

from attrs import define as _attrs_define

from ..models.report_origin import ReportOrigin
from ..models.report_outcome import ReportOutcome
from ..models.report_state import ReportState
from ..types import UNSET, Unset

T = TypeVar("T", bound="ReportAttributes")


@_attrs_define
class ReportAttributes:
    """Attributes without a value, or without one yet, are left out.

    Attributes:
        report_id (str): The integration's own id of the report; the key of idempotency within the community.
        reporter_id (str): Who reported the post, as it was sent.
        community_server_id (UUID): The community, by our UUID.
        request_id (str): The post, by the integration's own id: its first request.
        post_id (UUID): The post's first request, by our UUID.
        category (str): What is wrong with the post: a category of the community, or `other`.
        origin (ReportOrigin): Where a report comes from. `elsewhere`: an integration reports for a user of another
            platform than the post's.

            `author`: the post's author reports it, which counts nothing.
        state (ReportState): How far a report is. `upheld`: the platform acted; `rejected`: the post stays; `undecided`:
            no decision.
        reported_at (datetime.datetime): When the post was reported.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
        platform_message_id (str | Unset): The post's id on its platform.
        text (str | Unset): The reporter's words; left out once the community's retention has removed them.
        resolved_at (datetime.datetime | Unset): When the reporter got an outcome.
        outcome (ReportOutcome | Unset): What the reporter hears: never the penalty, nor who decided.
        outcome_text (str | Unset): The same in the community's words.
    """

    report_id: str
    reporter_id: str
    community_server_id: UUID
    request_id: str
    post_id: UUID
    category: str
    origin: ReportOrigin
    state: ReportState
    reported_at: datetime.datetime
    created_at: datetime.datetime
    updated_at: datetime.datetime
    platform_message_id: str | Unset = UNSET
    text: str | Unset = UNSET
    resolved_at: datetime.datetime | Unset = UNSET
    outcome: ReportOutcome | Unset = UNSET
    outcome_text: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        report_id = self.report_id

        reporter_id = self.reporter_id

        community_server_id = str(self.community_server_id)

        request_id = self.request_id

        post_id = str(self.post_id)

        category = self.category

        origin = self.origin.value

        state = self.state.value

        reported_at = self.reported_at.isoformat()

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        platform_message_id = self.platform_message_id

        text = self.text

        resolved_at: str | Unset = UNSET
        if not isinstance(self.resolved_at, Unset):
            resolved_at = self.resolved_at.isoformat()

        outcome: str | Unset = UNSET
        if not isinstance(self.outcome, Unset):
            outcome = self.outcome.value

        outcome_text = self.outcome_text

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "report_id": report_id,
                "reporter_id": reporter_id,
                "community_server_id": community_server_id,
                "request_id": request_id,
                "post_id": post_id,
                "category": category,
                "origin": origin,
                "state": state,
                "reported_at": reported_at,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )
        if platform_message_id is not UNSET:
            field_dict["platform_message_id"] = platform_message_id
        if text is not UNSET:
            field_dict["text"] = text
        if resolved_at is not UNSET:
            field_dict["resolved_at"] = resolved_at
        if outcome is not UNSET:
            field_dict["outcome"] = outcome
        if outcome_text is not UNSET:
            field_dict["outcome_text"] = outcome_text

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        report_id = d.pop("report_id")

        reporter_id = d.pop("reporter_id")

        community_server_id = UUID(d.pop("community_server_id"))

        request_id = d.pop("request_id")

        post_id = UUID(d.pop("post_id"))

        category = d.pop("category")

        origin = ReportOrigin(d.pop("origin"))

        state = ReportState(d.pop("state"))

        reported_at = datetime.datetime.fromisoformat(d.pop("reported_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        platform_message_id = d.pop("platform_message_id", UNSET)

        text = d.pop("text", UNSET)

        _resolved_at = d.pop("resolved_at", UNSET)
        resolved_at: datetime.datetime | Unset
        if isinstance(_resolved_at, Unset):
            resolved_at = UNSET
        else:
            resolved_at = datetime.datetime.fromisoformat(_resolved_at)

        _outcome = d.pop("outcome", UNSET)
        outcome: ReportOutcome | Unset
        if isinstance(_outcome, Unset):
            outcome = UNSET
        else:
            outcome = ReportOutcome(_outcome)

        outcome_text = d.pop("outcome_text", UNSET)

        report_attributes = cls(
            report_id=report_id,
            reporter_id=reporter_id,
            community_server_id=community_server_id,
            request_id=request_id,
            post_id=post_id,
            category=category,
            origin=origin,
            state=state,
            reported_at=reported_at,
            created_at=created_at,
            updated_at=updated_at,
            platform_message_id=platform_message_id,
            text=text,
            resolved_at=resolved_at,
            outcome=outcome,
            outcome_text=outcome_text,
        )

        return report_attributes
