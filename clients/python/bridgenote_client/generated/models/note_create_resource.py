from __future__ import annotations

from collections.abc import Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.note_create_attributes import NoteCreateAttributes


T = TypeVar("T", bound="NoteCreateResource")


@_attrs_define
class NoteCreateResource:
    """A resource object of JSON:API, of the type `notes`.

    Attributes:
        type_ (Literal['notes']): The type of the resource, always `notes`.
        attributes (NoteCreateAttributes): A note. `community_server_id` and `request_id` can each be our UUID or the
            integration's own id.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["notes"]
    attributes: NoteCreateAttributes
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        attributes = self.attributes.to_dict()

        meta = self.meta

        links = self.links

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "attributes": attributes,
            }
        )
        if meta is not UNSET:
            field_dict["meta"] = meta
        if links is not UNSET:
            field_dict["links"] = links

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.note_create_attributes import NoteCreateAttributes

        d = dict(src_dict)
        type_ = cast(Literal["notes"], d.pop("type"))
        if type_ != "notes":
            raise ValueError(f"type must match const 'notes', got '{type_}'")

        attributes = NoteCreateAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        note_create_resource = cls(
            type_=type_,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return note_create_resource
