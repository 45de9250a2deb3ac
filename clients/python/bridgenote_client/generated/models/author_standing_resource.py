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
    from ..models.standing_attributes import StandingAttributes


T = TypeVar("T", bound="AuthorStandingResource")


@_attrs_define
class AuthorStandingResource:
    """A resource object of JSON:API, of the type `author-standings`.

    Attributes:
        type_ (Literal['author-standings']): The type of the resource, always `author-standings`.
        id (UUID): Our UUID of the resource.
        attributes (StandingAttributes): The standing of an author in one community.
    """

    type_: Literal["author-standings"]
    id: UUID
    attributes: StandingAttributes

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
        from ..models.standing_attributes import StandingAttributes

        d = dict(src_dict)
        type_ = cast(Literal["author-standings"], d.pop("type"))
        if type_ != "author-standings":
            raise ValueError(f"type must match const 'author-standings', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = StandingAttributes.from_dict(d.pop("attributes"))

        author_standing_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return author_standing_resource
