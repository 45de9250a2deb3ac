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
    from ..models.profile_attributes import ProfileAttributes


T = TypeVar("T", bound="UserProfileResource")


@_attrs_define
class UserProfileResource:
    """A resource object of JSON:API, of the type `user-profiles`.

    Attributes:
        type_ (Literal['user-profiles']): The type of the resource, always `user-profiles`.
        id (UUID): Our UUID of the resource.
        attributes (ProfileAttributes): A person on a platform. `is_linked`: whether the profile is linked to an account
            of the dashboard.
    """

    type_: Literal["user-profiles"]
    id: UUID
    attributes: ProfileAttributes

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
        from ..models.profile_attributes import ProfileAttributes

        d = dict(src_dict)
        type_ = cast(Literal["user-profiles"], d.pop("type"))
        if type_ != "user-profiles":
            raise ValueError(f"type must match const 'user-profiles', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = ProfileAttributes.from_dict(d.pop("attributes"))

        user_profile_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return user_profile_resource
