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
    from ..models.community_attributes import CommunityAttributes


T = TypeVar("T", bound="CommunityServerResource")


@_attrs_define
class CommunityServerResource:
    """A resource object of JSON:API, of the type `community-servers`.

    Attributes:
        type_ (Literal['community-servers']): The type of the resource, always `community-servers`.
        id (UUID): Our UUID of the resource.
        attributes (CommunityAttributes): A community with its current category configuration.
    """

    type_: Literal["community-servers"]
    id: UUID
    attributes: CommunityAttributes

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
        from ..models.community_attributes import CommunityAttributes

        d = dict(src_dict)
        type_ = cast(Literal["community-servers"], d.pop("type"))
        if type_ != "community-servers":
            raise ValueError(
                f"type must match const 'community-servers', got '{type_}'"
            )

        id = UUID(d.pop("id"))

        attributes = CommunityAttributes.from_dict(d.pop("attributes"))

        community_server_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return community_server_resource
