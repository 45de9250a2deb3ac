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
    from ..models.note_edit_attributes import NoteEditAttributes


T = TypeVar("T", bound="NoteEditResource")


@_attrs_define
class NoteEditResource:
    """A resource object of JSON:API, of the type `notes`.

    Attributes:
        type_ (Literal['notes']): The type of the resource, always `notes`.
        id (str): The id in the path of the call.
        attributes (NoteEditAttributes): New text of a rated note starts a new version: earlier ratings no longer count.
            Null keeps the classification.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["notes"]
    id: str
    attributes: NoteEditAttributes
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        id = self.id

        attributes = self.attributes.to_dict()

        meta = self.meta

        links = self.links

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "id": id,
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
        from ..models.note_edit_attributes import NoteEditAttributes

        d = dict(src_dict)
        type_ = cast(Literal["notes"], d.pop("type"))
        if type_ != "notes":
            raise ValueError(f"type must match const 'notes', got '{type_}'")

        id = d.pop("id")

        attributes = NoteEditAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        note_edit_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return note_edit_resource
