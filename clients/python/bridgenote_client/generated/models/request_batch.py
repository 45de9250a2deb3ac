from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.request_create_resource import RequestCreateResource


T = TypeVar("T", bound="RequestBatch")


@_attrs_define
class RequestBatch:
    """Submissions, each a resource as `POST /requests` takes it. They are validated one by one.

    Attributes:
        data (list[RequestCreateResource]): At most 100 submissions, which are answered in this order.
        jsonapi (Any | Unset): The member `jsonapi` of JSON:API: accepted and ignored.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    data: list[RequestCreateResource]
    jsonapi: Any | Unset = UNSET
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        jsonapi = self.jsonapi

        meta = self.meta

        links = self.links

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "data": data,
            }
        )
        if jsonapi is not UNSET:
            field_dict["jsonapi"] = jsonapi
        if meta is not UNSET:
            field_dict["meta"] = meta
        if links is not UNSET:
            field_dict["links"] = links

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.request_create_resource import RequestCreateResource

        d = dict(src_dict)
        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = RequestCreateResource.from_dict(data_item_data)

            data.append(data_item)

        jsonapi = d.pop("jsonapi", UNSET)

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        request_batch = cls(
            data=data,
            jsonapi=jsonapi,
            meta=meta,
            links=links,
        )

        return request_batch
