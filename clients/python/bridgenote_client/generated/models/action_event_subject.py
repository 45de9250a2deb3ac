from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.action_state import ActionState
from ..models.action_tier import ActionTier
from ..models.action_type import ActionType
from ..models.review_group import ReviewGroup
from ..models.undo import Undo
from ..models.undo_state import UndoState
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.classifier_evidence import ClassifierEvidence


T = TypeVar("T", bound="ActionEventSubject")


@_attrs_define
class ActionEventSubject:
    """The member `data` of the body `ActionEvent`.

    Attributes:
        id (UUID): The action, by our UUID.
        request_id (UUID): The post, by our UUID.
        community_server_id (UUID): The same community again, by our UUID.
        action_type (ActionType): What the integration does on its platform.
        action_tier (ActionTier | None): `tier_1_immediate` acted by itself, `tier_2_consensus` asked people; null if
            neither did.
        action_state (ActionState): How far an action is. `proposed`: the integration is to carry it out, and answers
            with `applied`.

            `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`, `dismissed` and
            `scan_exempt` end it.
        review_group (None | ReviewGroup): Who reviews it; null if nobody does.
        classifier_evidence (ClassifierEvidence | None): The highest score that a classifier gave the post.
        note_id (None | UUID): The note that raters rate about it; null if there is none.
        category (None | str): The category that it is filed under; null if it has none.
        author_text (None | str): What to tell the author of the post, with a `warn` or a `silence`; null with others,
            and before the decision.
        until (datetime.datetime | None | Unset): When a `silence` ends; null if it has no end, and with others.
        ended_at (datetime.datetime | Unset): Only in `moderation_action.ended`: when the service ended it, or staff
            lifted it.
        undo (None | Undo | Unset): Only in `moderation_action.overturned`: what to undo on the platform. Null for a
            `hide`, which an `unhide` undoes.
        undo_state (None | UndoState | Unset): Only in `moderation_action.overturned`: `proposed` until you answer
            `done` or `impossible`; null if there is nothing to undo.
    """

    id: UUID
    request_id: UUID
    community_server_id: UUID
    action_type: ActionType
    action_tier: ActionTier | None
    action_state: ActionState
    review_group: None | ReviewGroup
    classifier_evidence: ClassifierEvidence | None
    note_id: None | UUID
    category: None | str
    author_text: None | str
    until: datetime.datetime | None | Unset = UNSET
    ended_at: datetime.datetime | Unset = UNSET
    undo: None | Undo | Unset = UNSET
    undo_state: None | UndoState | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.classifier_evidence import ClassifierEvidence

        id = str(self.id)

        request_id = str(self.request_id)

        community_server_id = str(self.community_server_id)

        action_type = self.action_type.value

        action_tier: None | str
        if isinstance(self.action_tier, ActionTier):
            action_tier = self.action_tier.value
        else:
            action_tier = self.action_tier

        action_state = self.action_state.value

        review_group: None | str
        if isinstance(self.review_group, ReviewGroup):
            review_group = self.review_group.value
        else:
            review_group = self.review_group

        classifier_evidence: dict[str, Any] | None
        if isinstance(self.classifier_evidence, ClassifierEvidence):
            classifier_evidence = self.classifier_evidence.to_dict()
        else:
            classifier_evidence = self.classifier_evidence

        note_id: None | str
        if isinstance(self.note_id, UUID):
            note_id = str(self.note_id)
        else:
            note_id = self.note_id

        category: None | str
        category = self.category

        author_text: None | str
        author_text = self.author_text

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        elif isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        ended_at: str | Unset = UNSET
        if not isinstance(self.ended_at, Unset):
            ended_at = self.ended_at.isoformat()

        undo: None | str | Unset
        if isinstance(self.undo, Unset):
            undo = UNSET
        elif isinstance(self.undo, Undo):
            undo = self.undo.value
        else:
            undo = self.undo

        undo_state: None | str | Unset
        if isinstance(self.undo_state, Unset):
            undo_state = UNSET
        elif isinstance(self.undo_state, UndoState):
            undo_state = self.undo_state.value
        else:
            undo_state = self.undo_state

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "request_id": request_id,
                "community_server_id": community_server_id,
                "action_type": action_type,
                "action_tier": action_tier,
                "action_state": action_state,
                "review_group": review_group,
                "classifier_evidence": classifier_evidence,
                "note_id": note_id,
                "category": category,
                "author_text": author_text,
            }
        )
        if until is not UNSET:
            field_dict["until"] = until
        if ended_at is not UNSET:
            field_dict["ended_at"] = ended_at
        if undo is not UNSET:
            field_dict["undo"] = undo
        if undo_state is not UNSET:
            field_dict["undo_state"] = undo_state

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.classifier_evidence import ClassifierEvidence

        d = dict(src_dict)
        id = UUID(d.pop("id"))

        request_id = UUID(d.pop("request_id"))

        community_server_id = UUID(d.pop("community_server_id"))

        action_type = ActionType(d.pop("action_type"))

        def _parse_action_tier(data: object) -> ActionTier | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                action_tier_type_0 = ActionTier(data)

                return action_tier_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ActionTier | None, data)

        action_tier = _parse_action_tier(d.pop("action_tier"))

        action_state = ActionState(d.pop("action_state"))

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

        def _parse_classifier_evidence(data: object) -> ClassifierEvidence | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                classifier_evidence_type_0 = ClassifierEvidence.from_dict(data)

                return classifier_evidence_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ClassifierEvidence | None, data)

        classifier_evidence = _parse_classifier_evidence(d.pop("classifier_evidence"))

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

        def _parse_category(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        category = _parse_category(d.pop("category"))

        def _parse_author_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        author_text = _parse_author_text(d.pop("author_text"))

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

        _ended_at = d.pop("ended_at", UNSET)
        ended_at: datetime.datetime | Unset
        if isinstance(_ended_at, Unset):
            ended_at = UNSET
        else:
            ended_at = datetime.datetime.fromisoformat(_ended_at)

        def _parse_undo(data: object) -> None | Undo | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                undo_type_0 = Undo(data)

                return undo_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Undo | Unset, data)

        undo = _parse_undo(d.pop("undo", UNSET))

        def _parse_undo_state(data: object) -> None | UndoState | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                undo_state_type_0 = UndoState(data)

                return undo_state_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UndoState | Unset, data)

        undo_state = _parse_undo_state(d.pop("undo_state", UNSET))

        action_event_subject = cls(
            id=id,
            request_id=request_id,
            community_server_id=community_server_id,
            action_type=action_type,
            action_tier=action_tier,
            action_state=action_state,
            review_group=review_group,
            classifier_evidence=classifier_evidence,
            note_id=note_id,
            category=category,
            author_text=author_text,
            until=until,
            ended_at=ended_at,
            undo=undo,
            undo_state=undo_state,
        )

        action_event_subject.additional_properties = d
        return action_event_subject

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
