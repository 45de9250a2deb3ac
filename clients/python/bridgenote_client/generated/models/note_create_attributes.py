from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.classification import Classification
from ..types import UNSET, Unset

T = TypeVar("T", bound="NoteCreateAttributes")


@_attrs_define
class NoteCreateAttributes:
    """A note. `community_server_id` and `request_id` can each be our UUID or the integration's own id.

    Attributes:
        summary (str): The text of the note, at most 5,000 characters; not blank.
        classification (Classification): What a note says of its post.
        community_server_id (str): The community, by our UUID or by the platform's id of it.
        author_id (None | str | Unset): Who writes the note. Profile UUID, or the platform's user id; default: the
            acting user. A user id is one of the platform in X-Adapter-Platform, else of the community's own platform.
        request_id (None | str | Unset): The request that the note is about, by our UUID or by the integration's own id.
        channel_id (None | str | Unset): The platform's id of the channel that the note belongs to.
    """

    summary: str
    classification: Classification
    community_server_id: str
    author_id: None | str | Unset = UNSET
    request_id: None | str | Unset = UNSET
    channel_id: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        summary = self.summary

        classification = self.classification.value

        community_server_id = self.community_server_id

        author_id: None | str | Unset
        if isinstance(self.author_id, Unset):
            author_id = UNSET
        else:
            author_id = self.author_id

        request_id: None | str | Unset
        if isinstance(self.request_id, Unset):
            request_id = UNSET
        else:
            request_id = self.request_id

        channel_id: None | str | Unset
        if isinstance(self.channel_id, Unset):
            channel_id = UNSET
        else:
            channel_id = self.channel_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "summary": summary,
                "classification": classification,
                "community_server_id": community_server_id,
            }
        )
        if author_id is not UNSET:
            field_dict["author_id"] = author_id
        if request_id is not UNSET:
            field_dict["request_id"] = request_id
        if channel_id is not UNSET:
            field_dict["channel_id"] = channel_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        summary = d.pop("summary")

        classification = Classification(d.pop("classification"))

        community_server_id = d.pop("community_server_id")

        def _parse_author_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        author_id = _parse_author_id(d.pop("author_id", UNSET))

        def _parse_request_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        request_id = _parse_request_id(d.pop("request_id", UNSET))

        def _parse_channel_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        channel_id = _parse_channel_id(d.pop("channel_id", UNSET))

        note_create_attributes = cls(
            summary=summary,
            classification=classification,
            community_server_id=community_server_id,
            author_id=author_id,
            request_id=request_id,
            channel_id=channel_id,
        )

        return note_create_attributes
