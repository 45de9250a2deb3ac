from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.note_kind import NoteKind
from ..models.note_status import NoteStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="NoteEventSubject")


@_attrs_define
class NoteEventSubject:
    """The member `data` of the body `NoteEvent`.

    Attributes:
        id (UUID): The note, by our UUID.
        request_id (None | UUID): The post, by our UUID; null if the note is about none.
        community_server_id (UUID): The same community again, by our UUID.
        status (NoteStatus): What ratings of a note came to, or what a moderator decided. Only `CURRENTLY_RATED_HELPFUL`
            is published.
        helpfulness_score (int): From 0 to 100.
        kind (NoteKind | Unset): A note that a person or a model wrote, or the service's rationale for an action.
        force_published (bool | Unset): Whether a moderator published it.
        ratings_count (int | Unset): How many people rated it.
    """

    id: UUID
    request_id: None | UUID
    community_server_id: UUID
    status: NoteStatus
    helpfulness_score: int
    kind: NoteKind | Unset = UNSET
    force_published: bool | Unset = UNSET
    ratings_count: int | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = str(self.id)

        request_id: None | str
        if isinstance(self.request_id, UUID):
            request_id = str(self.request_id)
        else:
            request_id = self.request_id

        community_server_id = str(self.community_server_id)

        status = self.status.value

        helpfulness_score = self.helpfulness_score

        kind: str | Unset = UNSET
        if not isinstance(self.kind, Unset):
            kind = self.kind.value

        force_published = self.force_published

        ratings_count = self.ratings_count

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "request_id": request_id,
                "community_server_id": community_server_id,
                "status": status,
                "helpfulness_score": helpfulness_score,
            }
        )
        if kind is not UNSET:
            field_dict["kind"] = kind
        if force_published is not UNSET:
            field_dict["force_published"] = force_published
        if ratings_count is not UNSET:
            field_dict["ratings_count"] = ratings_count

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        id = UUID(d.pop("id"))

        def _parse_request_id(data: object) -> None | UUID:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                request_id_type_0 = UUID(data)

                return request_id_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UUID, data)

        request_id = _parse_request_id(d.pop("request_id"))

        community_server_id = UUID(d.pop("community_server_id"))

        status = NoteStatus(d.pop("status"))

        helpfulness_score = d.pop("helpfulness_score")

        _kind = d.pop("kind", UNSET)
        kind: NoteKind | Unset
        if isinstance(_kind, Unset):
            kind = UNSET
        else:
            kind = NoteKind(_kind)

        force_published = d.pop("force_published", UNSET)

        ratings_count = d.pop("ratings_count", UNSET)

        note_event_subject = cls(
            id=id,
            request_id=request_id,
            community_server_id=community_server_id,
            status=status,
            helpfulness_score=helpfulness_score,
            kind=kind,
            force_published=force_published,
            ratings_count=ratings_count,
        )

        note_event_subject.additional_properties = d
        return note_event_subject

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
