from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define

from ..models.decision_tier import DecisionTier
from ..models.decision_word import DecisionWord
from ..models.lower_status import LowerStatus
from ..models.note_status import NoteStatus
from ..models.open_action import OpenAction
from ..models.request_status import RequestStatus
from ..models.standing import Standing
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attachment_shown import AttachmentShown
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="RequestAttributes")


@_attrs_define
class RequestAttributes:
    """Attributes without a value yet are left out, except `note_id`, which is null.

    `content` is always there. It is null once the community's content retention has removed the text.

        Attributes:
            request_id (str): The integration's own id of the post; the key of idempotency within the community.
            requested_by (str): The platform's id of the user who asked for moderation.
            status (LowerStatus | RequestStatus): How far the request is. Upper case; lower case only in the answer to `POST
                /requests`.
            note_id (None | UUID): The note that is linked to the request, by our UUID; null while there is none.
            community_server_id (UUID): The community, by our UUID.
            requested_at (datetime.datetime): When the request was submitted.
            created_at (datetime.datetime): When this was stored here.
            updated_at (datetime.datetime): When this last changed here.
            content (None | str): The submitted content; null once the community's retention time has removed it.
            standing (Standing): What stands on the platform now, as far as it has reported: of the post, or else of its
                author.
            platform_message_id (str | Unset): The post's id on its platform, exactly as sent.
            edit_of (UUID | Unset): The first request about this message, by our UUID, if this text is another one: less
                than nine tenths alike.
            duplicate_of (UUID | Unset): An earlier request about this message, by our UUID, whose text is the same: at
                least nine tenths alike. The two share one item of review and one decision; each gets its own
                `moderation.decision`.
            platform_channel_id (str | Unset): The platform's id of the channel or thread that the post stands in.
            platform_author_id (str | Unset): The platform's id of the user who wrote the post.
            platform_timestamp (datetime.datetime | Unset): When the post was written.
            metadata (JsonObject | Unset): A JSON object with members of any names and values.
            similarity_score (float | Unset): How close the post is to the fact-check in `dataset_item_id`, from 0 to 1 (the
                same).
            dataset_name (str | Unset): The dataset of the fact-check that the post matches.
            dataset_item_id (str | Unset): The id of that fact-check in its dataset.
            completed_at (datetime.datetime | Unset): When the request was completed; absent while its status is another.
            decided_at (datetime.datetime | Unset): When the decision was made; later decisions of a community have later
                times.
            decision (DecisionWord | Unset): `flag` and `notify` warn the author, `silence` keeps them from posting, `none`
                does nothing.
            tier (DecisionTier | Unset): `1`: a score acted at once. `2`: people were asked first.
            moderation_action (OpenAction | Unset): `immediate_action` is Tier 1, `community_review` is Tier 2.
            recommended_action (str | Unset): The decision as an operation of the platform, such as `hide_post`.
            action_id (UUID | Unset): The moderation action that came of it, by our UUID.
            note_status (NoteStatus | Unset): What ratings of a note came to, or what a moderator decided. Only
                `CURRENTLY_RATED_HELPFUL` is published.
            attachments (list[AttachmentShown] | Unset): What was submitted along with the post, with the state of each.
    """

    request_id: str
    requested_by: str
    status: LowerStatus | RequestStatus
    note_id: None | UUID
    community_server_id: UUID
    requested_at: datetime.datetime
    created_at: datetime.datetime
    updated_at: datetime.datetime
    content: None | str
    standing: Standing
    platform_message_id: str | Unset = UNSET
    edit_of: UUID | Unset = UNSET
    duplicate_of: UUID | Unset = UNSET
    platform_channel_id: str | Unset = UNSET
    platform_author_id: str | Unset = UNSET
    platform_timestamp: datetime.datetime | Unset = UNSET
    metadata: JsonObject | Unset = UNSET
    similarity_score: float | Unset = UNSET
    dataset_name: str | Unset = UNSET
    dataset_item_id: str | Unset = UNSET
    completed_at: datetime.datetime | Unset = UNSET
    decided_at: datetime.datetime | Unset = UNSET
    decision: DecisionWord | Unset = UNSET
    tier: DecisionTier | Unset = UNSET
    moderation_action: OpenAction | Unset = UNSET
    recommended_action: str | Unset = UNSET
    action_id: UUID | Unset = UNSET
    note_status: NoteStatus | Unset = UNSET
    attachments: list[AttachmentShown] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        request_id = self.request_id

        requested_by = self.requested_by

        status: str
        if isinstance(self.status, RequestStatus):
            status = self.status.value
        else:
            status = self.status.value

        note_id: None | str
        if isinstance(self.note_id, UUID):
            note_id = str(self.note_id)
        else:
            note_id = self.note_id

        community_server_id = str(self.community_server_id)

        requested_at = self.requested_at.isoformat()

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        content: None | str
        content = self.content

        standing = self.standing.value

        platform_message_id = self.platform_message_id

        edit_of: str | Unset = UNSET
        if not isinstance(self.edit_of, Unset):
            edit_of = str(self.edit_of)

        duplicate_of: str | Unset = UNSET
        if not isinstance(self.duplicate_of, Unset):
            duplicate_of = str(self.duplicate_of)

        platform_channel_id = self.platform_channel_id

        platform_author_id = self.platform_author_id

        platform_timestamp: str | Unset = UNSET
        if not isinstance(self.platform_timestamp, Unset):
            platform_timestamp = self.platform_timestamp.isoformat()

        metadata: dict[str, Any] | Unset = UNSET
        if not isinstance(self.metadata, Unset):
            metadata = self.metadata.to_dict()

        similarity_score = self.similarity_score

        dataset_name = self.dataset_name

        dataset_item_id = self.dataset_item_id

        completed_at: str | Unset = UNSET
        if not isinstance(self.completed_at, Unset):
            completed_at = self.completed_at.isoformat()

        decided_at: str | Unset = UNSET
        if not isinstance(self.decided_at, Unset):
            decided_at = self.decided_at.isoformat()

        decision: str | Unset = UNSET
        if not isinstance(self.decision, Unset):
            decision = self.decision.value

        tier: int | Unset = UNSET
        if not isinstance(self.tier, Unset):
            tier = self.tier.value

        moderation_action: str | Unset = UNSET
        if not isinstance(self.moderation_action, Unset):
            moderation_action = self.moderation_action.value

        recommended_action = self.recommended_action

        action_id: str | Unset = UNSET
        if not isinstance(self.action_id, Unset):
            action_id = str(self.action_id)

        note_status: str | Unset = UNSET
        if not isinstance(self.note_status, Unset):
            note_status = self.note_status.value

        attachments: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.attachments, Unset):
            attachments = []
            for attachments_item_data in self.attachments:
                attachments_item = attachments_item_data.to_dict()
                attachments.append(attachments_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "request_id": request_id,
                "requested_by": requested_by,
                "status": status,
                "note_id": note_id,
                "community_server_id": community_server_id,
                "requested_at": requested_at,
                "created_at": created_at,
                "updated_at": updated_at,
                "content": content,
                "standing": standing,
            }
        )
        if platform_message_id is not UNSET:
            field_dict["platform_message_id"] = platform_message_id
        if edit_of is not UNSET:
            field_dict["edit_of"] = edit_of
        if duplicate_of is not UNSET:
            field_dict["duplicate_of"] = duplicate_of
        if platform_channel_id is not UNSET:
            field_dict["platform_channel_id"] = platform_channel_id
        if platform_author_id is not UNSET:
            field_dict["platform_author_id"] = platform_author_id
        if platform_timestamp is not UNSET:
            field_dict["platform_timestamp"] = platform_timestamp
        if metadata is not UNSET:
            field_dict["metadata"] = metadata
        if similarity_score is not UNSET:
            field_dict["similarity_score"] = similarity_score
        if dataset_name is not UNSET:
            field_dict["dataset_name"] = dataset_name
        if dataset_item_id is not UNSET:
            field_dict["dataset_item_id"] = dataset_item_id
        if completed_at is not UNSET:
            field_dict["completed_at"] = completed_at
        if decided_at is not UNSET:
            field_dict["decided_at"] = decided_at
        if decision is not UNSET:
            field_dict["decision"] = decision
        if tier is not UNSET:
            field_dict["tier"] = tier
        if moderation_action is not UNSET:
            field_dict["moderation_action"] = moderation_action
        if recommended_action is not UNSET:
            field_dict["recommended_action"] = recommended_action
        if action_id is not UNSET:
            field_dict["action_id"] = action_id
        if note_status is not UNSET:
            field_dict["note_status"] = note_status
        if attachments is not UNSET:
            field_dict["attachments"] = attachments

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attachment_shown import AttachmentShown
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        request_id = d.pop("request_id")

        requested_by = d.pop("requested_by")

        def _parse_status(data: object) -> LowerStatus | RequestStatus:
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_0 = RequestStatus(data)

                return status_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            if not isinstance(data, str):
                raise TypeError()
            status_type_1 = LowerStatus(data)

            return status_type_1

        status = _parse_status(d.pop("status"))

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

        requested_at = datetime.datetime.fromisoformat(d.pop("requested_at"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        def _parse_content(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        content = _parse_content(d.pop("content"))

        standing = Standing(d.pop("standing"))

        platform_message_id = d.pop("platform_message_id", UNSET)

        _edit_of = d.pop("edit_of", UNSET)
        edit_of: UUID | Unset
        if isinstance(_edit_of, Unset):
            edit_of = UNSET
        else:
            edit_of = UUID(_edit_of)

        _duplicate_of = d.pop("duplicate_of", UNSET)
        duplicate_of: UUID | Unset
        if isinstance(_duplicate_of, Unset):
            duplicate_of = UNSET
        else:
            duplicate_of = UUID(_duplicate_of)

        platform_channel_id = d.pop("platform_channel_id", UNSET)

        platform_author_id = d.pop("platform_author_id", UNSET)

        _platform_timestamp = d.pop("platform_timestamp", UNSET)
        platform_timestamp: datetime.datetime | Unset
        if isinstance(_platform_timestamp, Unset):
            platform_timestamp = UNSET
        else:
            platform_timestamp = datetime.datetime.fromisoformat(_platform_timestamp)

        _metadata = d.pop("metadata", UNSET)
        metadata: JsonObject | Unset
        if isinstance(_metadata, Unset):
            metadata = UNSET
        else:
            metadata = JsonObject.from_dict(_metadata)

        similarity_score = d.pop("similarity_score", UNSET)

        dataset_name = d.pop("dataset_name", UNSET)

        dataset_item_id = d.pop("dataset_item_id", UNSET)

        _completed_at = d.pop("completed_at", UNSET)
        completed_at: datetime.datetime | Unset
        if isinstance(_completed_at, Unset):
            completed_at = UNSET
        else:
            completed_at = datetime.datetime.fromisoformat(_completed_at)

        _decided_at = d.pop("decided_at", UNSET)
        decided_at: datetime.datetime | Unset
        if isinstance(_decided_at, Unset):
            decided_at = UNSET
        else:
            decided_at = datetime.datetime.fromisoformat(_decided_at)

        _decision = d.pop("decision", UNSET)
        decision: DecisionWord | Unset
        if isinstance(_decision, Unset):
            decision = UNSET
        else:
            decision = DecisionWord(_decision)

        _tier = d.pop("tier", UNSET)
        tier: DecisionTier | Unset
        if isinstance(_tier, Unset):
            tier = UNSET
        else:
            tier = DecisionTier(_tier)

        _moderation_action = d.pop("moderation_action", UNSET)
        moderation_action: OpenAction | Unset
        if isinstance(_moderation_action, Unset):
            moderation_action = UNSET
        else:
            moderation_action = OpenAction(_moderation_action)

        recommended_action = d.pop("recommended_action", UNSET)

        _action_id = d.pop("action_id", UNSET)
        action_id: UUID | Unset
        if isinstance(_action_id, Unset):
            action_id = UNSET
        else:
            action_id = UUID(_action_id)

        _note_status = d.pop("note_status", UNSET)
        note_status: NoteStatus | Unset
        if isinstance(_note_status, Unset):
            note_status = UNSET
        else:
            note_status = NoteStatus(_note_status)

        _attachments = d.pop("attachments", UNSET)
        attachments: list[AttachmentShown] | Unset = UNSET
        if _attachments is not UNSET:
            attachments = []
            for attachments_item_data in _attachments:
                attachments_item = AttachmentShown.from_dict(attachments_item_data)

                attachments.append(attachments_item)

        request_attributes = cls(
            request_id=request_id,
            requested_by=requested_by,
            status=status,
            note_id=note_id,
            community_server_id=community_server_id,
            requested_at=requested_at,
            created_at=created_at,
            updated_at=updated_at,
            content=content,
            standing=standing,
            platform_message_id=platform_message_id,
            edit_of=edit_of,
            duplicate_of=duplicate_of,
            platform_channel_id=platform_channel_id,
            platform_author_id=platform_author_id,
            platform_timestamp=platform_timestamp,
            metadata=metadata,
            similarity_score=similarity_score,
            dataset_name=dataset_name,
            dataset_item_id=dataset_item_id,
            completed_at=completed_at,
            decided_at=decided_at,
            decision=decision,
            tier=tier,
            moderation_action=moderation_action,
            recommended_action=recommended_action,
            action_id=action_id,
            note_status=note_status,
            attachments=attachments,
        )

        return request_attributes
