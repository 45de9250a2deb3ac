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
    from ..models.request_attributes import RequestAttributes


T = TypeVar("T", bound="RequestResource")


@_attrs_define
class RequestResource:
    """A resource object of JSON:API, of the type `requests`.

    Attributes:
        type_ (Literal['requests']): The type of the resource, always `requests`.
        id (UUID): Our UUID of the resource.
        attributes (RequestAttributes): Attributes without a value yet are left out, except `note_id`, which is null.

            `content` is always there. It is null once the community's content retention has removed the text.
    """

    type_: Literal["requests"]
    id: UUID
    attributes: RequestAttributes

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
        from ..models.request_attributes import RequestAttributes

        d = dict(src_dict)
        type_ = cast(Literal["requests"], d.pop("type"))
        if type_ != "requests":
            raise ValueError(f"type must match const 'requests', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = RequestAttributes.from_dict(d.pop("attributes"))

        request_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return request_resource
