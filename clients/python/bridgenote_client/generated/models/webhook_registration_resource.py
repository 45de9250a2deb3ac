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
    from ..models.webhook_registration_attributes import WebhookRegistrationAttributes


T = TypeVar("T", bound="WebhookRegistrationResource")


@_attrs_define
class WebhookRegistrationResource:
    """A resource object of JSON:API, of the type `webhooks`.

    Attributes:
        type_ (Literal['webhooks']): The type of the resource, always `webhooks`.
        attributes (WebhookRegistrationAttributes): Where to send a community's events. Registering the same community
            and URL again replaces secret and events.

            A new secret starts a rotation of 24 hours, in which the replaced one signs too.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["webhooks"]
    attributes: WebhookRegistrationAttributes
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        attributes = self.attributes.to_dict()

        meta = self.meta

        links = self.links

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
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
        from ..models.webhook_registration_attributes import (
            WebhookRegistrationAttributes,
        )

        d = dict(src_dict)
        type_ = cast(Literal["webhooks"], d.pop("type"))
        if type_ != "webhooks":
            raise ValueError(f"type must match const 'webhooks', got '{type_}'")

        attributes = WebhookRegistrationAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        webhook_registration_resource = cls(
            type_=type_,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return webhook_registration_resource
