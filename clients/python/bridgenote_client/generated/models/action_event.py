from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_event_event import ActionEventEvent
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.action_event_subject import ActionEventSubject
    from ..models.classifier_evidence import ClassifierEvidence


T = TypeVar("T", bound="ActionEvent")


@_attrs_define
class ActionEvent:
    """Shape A: a moderation action. `data.request_id` is our UUID. On Discourse `moderation_action.created` is sent as
    `moderation_action.proposed`, unless a webhook subscribes to the former name and not to the latter. Other members
    may be there; leave what you do not know alone.

        Attributes:
            event (ActionEventEvent): What happened, by the event's name.
            community_server_id (UUID): The community, by our UUID.
            data (ActionEventSubject): The member `data` of the body `ActionEvent`.
            event_id (UUID): The same for every attempt, webhook and replay: deduplicate on it.
            field_webhook_timestamp (int): Unix time of this attempt, seconds.
            field_webhook_signature (str): HMAC-SHA256, hex, of the timestamp, a colon, and the canonical JSON (RFC 8785) of
                the payload without `_webhook_timestamp` and `_webhook_signature`.
            event_type (str | Unset): Only in communities whose platform is `discourse`, for its plugin: the same as
                `event`.
            request_id (None | str | Unset): Only in communities whose platform is `discourse`, for its plugin: the post, by
                our UUID.
            action_id (None | str | Unset): Only in communities whose platform is `discourse`, for its plugin: the action,
                by our UUID.
            action_type (None | str | Unset): Only in communities whose platform is `discourse`, for its plugin: its
                operation on the platform, such as `hide_post`.
            recommended_action (None | str | Unset): Only in communities whose platform is `discourse`, for its plugin: as
                `action_type`; null once the action ended without being carried out.
            review_group (None | str | Unset): Only in communities whose platform is `discourse`, for its plugin: who
                reviews the action.
            status (str | Unset): Only in communities whose platform is `discourse`, for its plugin: the state of the
                action.
            classifier_evidence (ClassifierEvidence | None | Unset): Only in communities whose platform is `discourse`, for
                its plugin: the highest score that a classifier gave the post.
    """

    event: ActionEventEvent
    community_server_id: UUID
    data: ActionEventSubject
    event_id: UUID
    field_webhook_timestamp: int
    field_webhook_signature: str
    event_type: str | Unset = UNSET
    request_id: None | str | Unset = UNSET
    action_id: None | str | Unset = UNSET
    action_type: None | str | Unset = UNSET
    recommended_action: None | str | Unset = UNSET
    review_group: None | str | Unset = UNSET
    status: str | Unset = UNSET
    classifier_evidence: ClassifierEvidence | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.classifier_evidence import ClassifierEvidence

        event = self.event.value

        community_server_id = str(self.community_server_id)

        data = self.data.to_dict()

        event_id = str(self.event_id)

        field_webhook_timestamp = self.field_webhook_timestamp

        field_webhook_signature = self.field_webhook_signature

        event_type = self.event_type

        request_id: None | str | Unset
        if isinstance(self.request_id, Unset):
            request_id = UNSET
        else:
            request_id = self.request_id

        action_id: None | str | Unset
        if isinstance(self.action_id, Unset):
            action_id = UNSET
        else:
            action_id = self.action_id

        action_type: None | str | Unset
        if isinstance(self.action_type, Unset):
            action_type = UNSET
        else:
            action_type = self.action_type

        recommended_action: None | str | Unset
        if isinstance(self.recommended_action, Unset):
            recommended_action = UNSET
        else:
            recommended_action = self.recommended_action

        review_group: None | str | Unset
        if isinstance(self.review_group, Unset):
            review_group = UNSET
        else:
            review_group = self.review_group

        status = self.status

        classifier_evidence: dict[str, Any] | None | Unset
        if isinstance(self.classifier_evidence, Unset):
            classifier_evidence = UNSET
        elif isinstance(self.classifier_evidence, ClassifierEvidence):
            classifier_evidence = self.classifier_evidence.to_dict()
        else:
            classifier_evidence = self.classifier_evidence

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "event": event,
                "community_server_id": community_server_id,
                "data": data,
                "event_id": event_id,
                "_webhook_timestamp": field_webhook_timestamp,
                "_webhook_signature": field_webhook_signature,
            }
        )
        if event_type is not UNSET:
            field_dict["event_type"] = event_type
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if action_id is not UNSET:
            field_dict["action_id"] = action_id
        if action_type is not UNSET:
            field_dict["action_type"] = action_type
        if recommended_action is not UNSET:
            field_dict["recommended_action"] = recommended_action
        if review_group is not UNSET:
            field_dict["review_group"] = review_group
        if status is not UNSET:
            field_dict["status"] = status
        if classifier_evidence is not UNSET:
            field_dict["classifier_evidence"] = classifier_evidence

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.action_event_subject import ActionEventSubject
        from ..models.classifier_evidence import ClassifierEvidence

        d = dict(src_dict)
        event = ActionEventEvent(d.pop("event"))

        community_server_id = UUID(d.pop("community_server_id"))

        data = ActionEventSubject.from_dict(d.pop("data"))

        event_id = UUID(d.pop("event_id"))

        field_webhook_timestamp = d.pop("_webhook_timestamp")

        field_webhook_signature = d.pop("_webhook_signature")

        event_type = d.pop("event_type", UNSET)

        def _parse_request_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        request_id = _parse_request_id(d.pop("request_id", UNSET))

        def _parse_action_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        action_id = _parse_action_id(d.pop("action_id", UNSET))

        def _parse_action_type(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        action_type = _parse_action_type(d.pop("action_type", UNSET))

        def _parse_recommended_action(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        recommended_action = _parse_recommended_action(
            d.pop("recommended_action", UNSET)
        )

        def _parse_review_group(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        review_group = _parse_review_group(d.pop("review_group", UNSET))

        status = d.pop("status", UNSET)

        def _parse_classifier_evidence(
            data: object,
        ) -> ClassifierEvidence | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                classifier_evidence_type_0 = ClassifierEvidence.from_dict(data)

                return classifier_evidence_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ClassifierEvidence | None | Unset, data)

        classifier_evidence = _parse_classifier_evidence(
            d.pop("classifier_evidence", UNSET)
        )

        action_event = cls(
            event=event,
            community_server_id=community_server_id,
            data=data,
            event_id=event_id,
            field_webhook_timestamp=field_webhook_timestamp,
            field_webhook_signature=field_webhook_signature,
            event_type=event_type,
            request_id=request_id,
            action_id=action_id,
            action_type=action_type,
            recommended_action=recommended_action,
            review_group=review_group,
            status=status,
            classifier_evidence=classifier_evidence,
        )

        action_event.additional_properties = d
        return action_event

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
