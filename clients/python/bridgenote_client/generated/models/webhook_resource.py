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
    from ..models.webhook_attributes import WebhookAttributes


T = TypeVar("T", bound="WebhookResource")


@_attrs_define
class WebhookResource:
    """A resource object of JSON:API, of the type `webhooks`.

    Attributes:
        type_ (Literal['webhooks']): The type of the resource, always `webhooks`.
        id (UUID): Our UUID of the resource.
        attributes (WebhookAttributes): Where a community's events are sent, and how deliveries go.
    """

    type_: Literal["webhooks"]
    id: UUID
    attributes: WebhookAttributes

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
        from ..models.webhook_attributes import WebhookAttributes

        d = dict(src_dict)
        type_ = cast(Literal["webhooks"], d.pop("type"))
        if type_ != "webhooks":
            raise ValueError(f"type must match const 'webhooks', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = WebhookAttributes.from_dict(d.pop("attributes"))

        webhook_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return webhook_resource
