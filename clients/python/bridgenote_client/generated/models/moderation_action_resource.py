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
    from ..models.action_attributes import ActionAttributes


T = TypeVar("T", bound="ModerationActionResource")


@_attrs_define
class ModerationActionResource:
    """A resource object of JSON:API, of the type `moderation-actions`.

    Attributes:
        type_ (Literal['moderation-actions']): The type of the resource, always `moderation-actions`.
        id (UUID): Our UUID of the resource.
        attributes (ActionAttributes): Every member is always present, null while unknown. `request_id` is the
            integration's own string.
    """

    type_: Literal["moderation-actions"]
    id: UUID
    attributes: ActionAttributes

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
        from ..models.action_attributes import ActionAttributes

        d = dict(src_dict)
        type_ = cast(Literal["moderation-actions"], d.pop("type"))
        if type_ != "moderation-actions":
            raise ValueError(
                f"type must match const 'moderation-actions', got '{type_}'"
            )

        id = UUID(d.pop("id"))

        attributes = ActionAttributes.from_dict(d.pop("attributes"))

        moderation_action_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return moderation_action_resource
