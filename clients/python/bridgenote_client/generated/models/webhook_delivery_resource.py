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
    from ..models.delivery_attributes import DeliveryAttributes


T = TypeVar("T", bound="WebhookDeliveryResource")


@_attrs_define
class WebhookDeliveryResource:
    """A resource object of JSON:API, of the type `webhook-deliveries`.

    Attributes:
        type_ (Literal['webhook-deliveries']): The type of the resource, always `webhook-deliveries`.
        id (UUID): Our UUID of the resource.
        attributes (DeliveryAttributes): One event for one webhook.
    """

    type_: Literal["webhook-deliveries"]
    id: UUID
    attributes: DeliveryAttributes

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
        from ..models.delivery_attributes import DeliveryAttributes

        d = dict(src_dict)
        type_ = cast(Literal["webhook-deliveries"], d.pop("type"))
        if type_ != "webhook-deliveries":
            raise ValueError(
                f"type must match const 'webhook-deliveries', got '{type_}'"
            )

        id = UUID(d.pop("id"))

        attributes = DeliveryAttributes.from_dict(d.pop("attributes"))

        webhook_delivery_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return webhook_delivery_resource
