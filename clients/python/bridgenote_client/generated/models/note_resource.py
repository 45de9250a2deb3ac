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
from uuid import UUID

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.note_attributes import NoteAttributes


T = TypeVar("T", bound="NoteResource")


@_attrs_define
class NoteResource:
    """A resource object of JSON:API, of the type `notes`.

    Attributes:
        type_ (Literal['notes']): The type of the resource, always `notes`.
        id (UUID): Our UUID of the resource.
        attributes (NoteAttributes): Attributes without a value, or without one yet, are left out.
    """

    type_: Literal["notes"]
    id: UUID
    attributes: NoteAttributes

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        id = str(self.id)

        attributes = self.attributes.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "id": id,
                "attributes": attributes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.note_attributes import NoteAttributes

        d = dict(src_dict)
        type_ = cast(Literal["notes"], d.pop("type"))
        if type_ != "notes":
            raise ValueError(f"type must match const 'notes', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = NoteAttributes.from_dict(d.pop("attributes"))

        note_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return note_resource
