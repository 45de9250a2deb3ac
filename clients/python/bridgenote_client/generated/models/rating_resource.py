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
    from ..models.rating_attributes import RatingAttributes


T = TypeVar("T", bound="RatingResource")


@_attrs_define
class RatingResource:
    """A resource object of JSON:API, of the type `ratings`.

    Attributes:
        type_ (Literal['ratings']): The type of the resource, always `ratings`.
        id (UUID): Our UUID of the resource.
        attributes (RatingAttributes): What one person answered about one note.
    """

    type_: Literal["ratings"]
    id: UUID
    attributes: RatingAttributes

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
        from ..models.rating_attributes import RatingAttributes

        d = dict(src_dict)
        type_ = cast(Literal["ratings"], d.pop("type"))
        if type_ != "ratings":
            raise ValueError(f"type must match const 'ratings', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = RatingAttributes.from_dict(d.pop("attributes"))

        rating_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return rating_resource
