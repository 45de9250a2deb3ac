from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.flat_attachment_kind import FlatAttachmentKind
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attachment_create import AttachmentCreate
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="ReportCreateAttributes")


@_attrs_define
class ReportCreateAttributes:
    """A report of a post. With a text and the other attributes of a submission, an unknown post is submitted too.

    Attributes:
        community_server_id (str): Our UUID, or the platform's id of the community. An unknown id opens a community if
            the key may, X-Adapter-Platform is there, and X-Adapter-Scope names no other.
        report_id (str): The integration's own id of the report; the key of idempotency within the community.
        request_id (None | str | Unset): The post, by our UUID or by the integration's own id. Of an unknown post that
            is submitted: its id, by default `report:` and the `report_id`.
        requested_by (None | str | Unset): Of an unknown post: who asks for moderation, by default the reporter.
        original_message_content (None | str | Unset): The post's text, at most 50,000 characters, so that an unknown
            one is submitted.
        platform_message_id (None | str | Unset): The post's id on its platform, exactly as sent. It finds the post if
            `request_id` does not, which can then be left out.
        platform_channel_id (None | str | Unset): The platform's id of the channel or thread that the post stands in.
        platform_author_id (None | str | Unset): The platform's id of the user who wrote the post.
        platform_timestamp (datetime.datetime | None | Unset): When the post was written.
        metadata (JsonObject | None | Unset): What else the platform knows of the post, at most 64 KB of JSON. `title`,
            `url` and `thread` are shown to people; `reports` and `views` bring the post forward in the queue.
        similarity_score (float | None | Unset): How close the post is to the fact-check in `dataset_item_id`, from 0 to
            1 (the same).
        dataset_name (None | str | Unset): The dataset of the fact-check that the post matches.
        dataset_item_id (None | str | Unset): The id of that fact-check in its dataset.
        attachments (list[AttachmentCreate] | None | Unset): Pictures, videos, sounds, files and links of the post in
            its order, at most 10.
        attachment_url (None | str | Unset): The https address of one attachment more, after those of `attachments`.
        attachment_type (FlatAttachmentKind | None | Unset): The kind of `attachment_url`; `file` if it is not given.
        attachment_metadata (JsonObject | None | Unset): `filename`, `alt`, `width`, `height` and `size` of
            `attachment_url`; the rest is ignored.
        embedded_image_url (None | str | Unset): The https address of one attachment more, of the kind `image`.
        reporter_id (None | str | Unset): Who reports the post. Profile UUID, or the platform's user id; default: the
            acting user. A user id is one of the platform in X-Adapter-Platform, else of the community's own platform.
        category (None | str | Unset): What is wrong with the post: a category of the community, or `other`, the
            default.
        text (None | str | Unset): The reporter's words, at most 2,000 characters; for moderators alone.
        reported_at (datetime.datetime | None | Unset): When the post was reported; default: now.
    """

    community_server_id: str
    report_id: str
    request_id: None | str | Unset = UNSET
    requested_by: None | str | Unset = UNSET
    original_message_content: None | str | Unset = UNSET
    platform_message_id: None | str | Unset = UNSET
    platform_channel_id: None | str | Unset = UNSET
    platform_author_id: None | str | Unset = UNSET
    platform_timestamp: datetime.datetime | None | Unset = UNSET
    metadata: JsonObject | None | Unset = UNSET
    similarity_score: float | None | Unset = UNSET
    dataset_name: None | str | Unset = UNSET
    dataset_item_id: None | str | Unset = UNSET
    attachments: list[AttachmentCreate] | None | Unset = UNSET
    attachment_url: None | str | Unset = UNSET
    attachment_type: FlatAttachmentKind | None | Unset = UNSET
    attachment_metadata: JsonObject | None | Unset = UNSET
    embedded_image_url: None | str | Unset = UNSET
    reporter_id: None | str | Unset = UNSET
    category: None | str | Unset = UNSET
    text: None | str | Unset = UNSET
    reported_at: datetime.datetime | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.json_object import JsonObject

        community_server_id = self.community_server_id

        report_id = self.report_id

        request_id: None | str | Unset
        if isinstance(self.request_id, Unset):
            request_id = UNSET
        else:
            request_id = self.request_id

        requested_by: None | str | Unset
        if isinstance(self.requested_by, Unset):
            requested_by = UNSET
        else:
            requested_by = self.requested_by

        original_message_content: None | str | Unset
        if isinstance(self.original_message_content, Unset):
            original_message_content = UNSET
        else:
            original_message_content = self.original_message_content

        platform_message_id: None | str | Unset
        if isinstance(self.platform_message_id, Unset):
            platform_message_id = UNSET
        else:
            platform_message_id = self.platform_message_id

        platform_channel_id: None | str | Unset
        if isinstance(self.platform_channel_id, Unset):
            platform_channel_id = UNSET
        else:
            platform_channel_id = self.platform_channel_id

        platform_author_id: None | str | Unset
        if isinstance(self.platform_author_id, Unset):
            platform_author_id = UNSET
        else:
            platform_author_id = self.platform_author_id

        platform_timestamp: None | str | Unset
        if isinstance(self.platform_timestamp, Unset):
            platform_timestamp = UNSET
        elif isinstance(self.platform_timestamp, datetime.datetime):
            platform_timestamp = self.platform_timestamp.isoformat()
        else:
            platform_timestamp = self.platform_timestamp

        metadata: dict[str, Any] | None | Unset
        if isinstance(self.metadata, Unset):
            metadata = UNSET
        elif isinstance(self.metadata, JsonObject):
            metadata = self.metadata.to_dict()
        else:
            metadata = self.metadata

        similarity_score: float | None | Unset
        if isinstance(self.similarity_score, Unset):
            similarity_score = UNSET
        else:
            similarity_score = self.similarity_score

        dataset_name: None | str | Unset
        if isinstance(self.dataset_name, Unset):
            dataset_name = UNSET
        else:
            dataset_name = self.dataset_name

        dataset_item_id: None | str | Unset
        if isinstance(self.dataset_item_id, Unset):
            dataset_item_id = UNSET
        else:
            dataset_item_id = self.dataset_item_id

        attachments: list[dict[str, Any]] | None | Unset
        if isinstance(self.attachments, Unset):
            attachments = UNSET
        elif isinstance(self.attachments, list):
            attachments = []
            for attachments_type_0_item_data in self.attachments:
                attachments_type_0_item = attachments_type_0_item_data.to_dict()
                attachments.append(attachments_type_0_item)

        else:
            attachments = self.attachments

        attachment_url: None | str | Unset
        if isinstance(self.attachment_url, Unset):
            attachment_url = UNSET
        else:
            attachment_url = self.attachment_url

        attachment_type: None | str | Unset
        if isinstance(self.attachment_type, Unset):
            attachment_type = UNSET
        elif isinstance(self.attachment_type, FlatAttachmentKind):
            attachment_type = self.attachment_type.value
        else:
            attachment_type = self.attachment_type

        attachment_metadata: dict[str, Any] | None | Unset
        if isinstance(self.attachment_metadata, Unset):
            attachment_metadata = UNSET
        elif isinstance(self.attachment_metadata, JsonObject):
            attachment_metadata = self.attachment_metadata.to_dict()
        else:
            attachment_metadata = self.attachment_metadata

        embedded_image_url: None | str | Unset
        if isinstance(self.embedded_image_url, Unset):
            embedded_image_url = UNSET
        else:
            embedded_image_url = self.embedded_image_url

        reporter_id: None | str | Unset
        if isinstance(self.reporter_id, Unset):
            reporter_id = UNSET
        else:
            reporter_id = self.reporter_id

        category: None | str | Unset
        if isinstance(self.category, Unset):
            category = UNSET
        else:
            category = self.category

        text: None | str | Unset
        if isinstance(self.text, Unset):
            text = UNSET
        else:
            text = self.text

        reported_at: None | str | Unset
        if isinstance(self.reported_at, Unset):
            reported_at = UNSET
        elif isinstance(self.reported_at, datetime.datetime):
            reported_at = self.reported_at.isoformat()
        else:
            reported_at = self.reported_at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "community_server_id": community_server_id,
                "report_id": report_id,
            }
        )
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if requested_by is not UNSET:
            field_dict["requested_by"] = requested_by
        if original_message_content is not UNSET:
            field_dict["original_message_content"] = original_message_content
        if platform_message_id is not UNSET:
            field_dict["platform_message_id"] = platform_message_id
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
        if attachments is not UNSET:
            field_dict["attachments"] = attachments
        if attachment_url is not UNSET:
            field_dict["attachment_url"] = attachment_url
        if attachment_type is not UNSET:
            field_dict["attachment_type"] = attachment_type
        if attachment_metadata is not UNSET:
            field_dict["attachment_metadata"] = attachment_metadata
        if embedded_image_url is not UNSET:
            field_dict["embedded_image_url"] = embedded_image_url
        if reporter_id is not UNSET:
            field_dict["reporter_id"] = reporter_id
        if category is not UNSET:
            field_dict["category"] = category
        if text is not UNSET:
            field_dict["text"] = text
        if reported_at is not UNSET:
            field_dict["reported_at"] = reported_at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attachment_create import AttachmentCreate
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        community_server_id = d.pop("community_server_id")

        report_id = d.pop("report_id")

        def _parse_request_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        request_id = _parse_request_id(d.pop("request_id", UNSET))

        def _parse_requested_by(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        requested_by = _parse_requested_by(d.pop("requested_by", UNSET))

        def _parse_original_message_content(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        original_message_content = _parse_original_message_content(
            d.pop("original_message_content", UNSET)
        )

        def _parse_platform_message_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        platform_message_id = _parse_platform_message_id(
            d.pop("platform_message_id", UNSET)
        )

        def _parse_platform_channel_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        platform_channel_id = _parse_platform_channel_id(
            d.pop("platform_channel_id", UNSET)
        )

        def _parse_platform_author_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        platform_author_id = _parse_platform_author_id(
            d.pop("platform_author_id", UNSET)
        )

        def _parse_platform_timestamp(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                platform_timestamp_type_0 = datetime.datetime.fromisoformat(data)

                return platform_timestamp_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        platform_timestamp = _parse_platform_timestamp(
            d.pop("platform_timestamp", UNSET)
        )

        def _parse_metadata(data: object) -> JsonObject | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metadata_type_0 = JsonObject.from_dict(data)

                return metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JsonObject | None | Unset, data)

        metadata = _parse_metadata(d.pop("metadata", UNSET))

        def _parse_similarity_score(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        similarity_score = _parse_similarity_score(d.pop("similarity_score", UNSET))

        def _parse_dataset_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        dataset_name = _parse_dataset_name(d.pop("dataset_name", UNSET))

        def _parse_dataset_item_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        dataset_item_id = _parse_dataset_item_id(d.pop("dataset_item_id", UNSET))

        def _parse_attachments(data: object) -> list[AttachmentCreate] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                attachments_type_0 = []
                _attachments_type_0 = data
                for attachments_type_0_item_data in _attachments_type_0:
                    attachments_type_0_item = AttachmentCreate.from_dict(
                        attachments_type_0_item_data
                    )

                    attachments_type_0.append(attachments_type_0_item)

                return attachments_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[AttachmentCreate] | None | Unset, data)

        attachments = _parse_attachments(d.pop("attachments", UNSET))

        def _parse_attachment_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        attachment_url = _parse_attachment_url(d.pop("attachment_url", UNSET))

        def _parse_attachment_type(data: object) -> FlatAttachmentKind | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                attachment_type_type_0 = FlatAttachmentKind(data)

                return attachment_type_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FlatAttachmentKind | None | Unset, data)

        attachment_type = _parse_attachment_type(d.pop("attachment_type", UNSET))

        def _parse_attachment_metadata(data: object) -> JsonObject | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                attachment_metadata_type_0 = JsonObject.from_dict(data)

                return attachment_metadata_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(JsonObject | None | Unset, data)

        attachment_metadata = _parse_attachment_metadata(
            d.pop("attachment_metadata", UNSET)
        )

        def _parse_embedded_image_url(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        embedded_image_url = _parse_embedded_image_url(
            d.pop("embedded_image_url", UNSET)
        )

        def _parse_reporter_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reporter_id = _parse_reporter_id(d.pop("reporter_id", UNSET))

        def _parse_category(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        category = _parse_category(d.pop("category", UNSET))

        def _parse_text(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        text = _parse_text(d.pop("text", UNSET))

        def _parse_reported_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                reported_at_type_0 = datetime.datetime.fromisoformat(data)

                return reported_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        reported_at = _parse_reported_at(d.pop("reported_at", UNSET))

        report_create_attributes = cls(
            community_server_id=community_server_id,
            report_id=report_id,
            request_id=request_id,
            requested_by=requested_by,
            original_message_content=original_message_content,
            platform_message_id=platform_message_id,
            platform_channel_id=platform_channel_id,
            platform_author_id=platform_author_id,
            platform_timestamp=platform_timestamp,
            metadata=metadata,
            similarity_score=similarity_score,
            dataset_name=dataset_name,
            dataset_item_id=dataset_item_id,
            attachments=attachments,
            attachment_url=attachment_url,
            attachment_type=attachment_type,
            attachment_metadata=attachment_metadata,
            embedded_image_url=embedded_image_url,
            reporter_id=reporter_id,
            category=category,
            text=text,
            reported_at=reported_at,
        )

        return report_create_attributes
