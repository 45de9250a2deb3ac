from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_api_version import JsonApiVersion
    from ..models.json_object import JsonObject
    from ..models.links import Links
    from ..models.webhook_resource import WebhookResource


T = TypeVar("T", bound="WebhookDocument")


@_attrs_define
class WebhookDocument:
    """A document of JSON:API with the webhook's `id` also at the top, where plain JSON clients look for it.

    Attributes:
        jsonapi (JsonApiVersion): What the document conforms to.
        data (WebhookResource): A resource object of JSON:API, of the type `webhooks`.
        id (UUID): Our UUID of the webhook, the same as `data.id`.
        links (Links | Unset): Absolute URLs of a document.
        meta (JsonObject | Unset): A JSON object with members of any names and values.
    """

    jsonapi: JsonApiVersion
    data: WebhookResource
    id: UUID
    links: Links | Unset = UNSET
    meta: JsonObject | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        jsonapi = self.jsonapi.to_dict()

        data = self.data.to_dict()

        id = str(self.id)

        links: dict[str, Any] | Unset = UNSET
        if not isinstance(self.links, Unset):
            links = self.links.to_dict()

        meta: dict[str, Any] | Unset = UNSET
        if not isinstance(self.meta, Unset):
            meta = self.meta.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "jsonapi": jsonapi,
                "data": data,
                "id": id,
            }
        )
        if links is not UNSET:
            field_dict["links"] = links
        if meta is not UNSET:
            field_dict["meta"] = meta

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_api_version import JsonApiVersion
        from ..models.json_object import JsonObject
        from ..models.links import Links
        from ..models.webhook_resource import WebhookResource

        d = dict(src_dict)
        jsonapi = JsonApiVersion.from_dict(d.pop("jsonapi"))

        data = WebhookResource.from_dict(d.pop("data"))

        id = UUID(d.pop("id"))

        _links = d.pop("links", UNSET)
        links: Links | Unset
        if isinstance(_links, Unset):
            links = UNSET
        else:
            links = Links.from_dict(_links)

        _meta = d.pop("meta", UNSET)
        meta: JsonObject | Unset
        if isinstance(_meta, Unset):
            meta = UNSET
        else:
            meta = JsonObject.from_dict(_meta)

        webhook_document = cls(
            jsonapi=jsonapi,
            data=data,
            id=id,
            links=links,
            meta=meta,
        )

        return webhook_document
