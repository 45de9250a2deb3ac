from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.json_api_version import JsonApiVersion
    from ..models.page_links import PageLinks
    from ..models.page_meta import PageMeta
    from ..models.report_resource import ReportResource


T = TypeVar("T", bound="ReportList")


@_attrs_define
class ReportList:
    """A document of JSON:API with one page of a list.

    Attributes:
        jsonapi (JsonApiVersion): What the document conforms to.
        data (list[ReportResource]): The resources of this page.
        links (PageLinks): Absolute URLs of a list; null if there is no such page.
        meta (PageMeta): The list has `count` items on `pages` pages of `limit` items.
    """

    jsonapi: JsonApiVersion
    data: list[ReportResource]
    links: PageLinks
    meta: PageMeta

    def to_dict(self) -> dict[str, Any]:
        jsonapi = self.jsonapi.to_dict()

        data = []
        for data_item_data in self.data:
            data_item = data_item_data.to_dict()
            data.append(data_item)

        links = self.links.to_dict()

        meta = self.meta.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "jsonapi": jsonapi,
                "data": data,
                "links": links,
                "meta": meta,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.json_api_version import JsonApiVersion
        from ..models.page_links import PageLinks
        from ..models.page_meta import PageMeta
        from ..models.report_resource import ReportResource

        d = dict(src_dict)
        jsonapi = JsonApiVersion.from_dict(d.pop("jsonapi"))

        data = []
        _data = d.pop("data")
        for data_item_data in _data:
            data_item = ReportResource.from_dict(data_item_data)

            data.append(data_item)

        links = PageLinks.from_dict(d.pop("links"))

        meta = PageMeta.from_dict(d.pop("meta"))

        report_list = cls(
            jsonapi=jsonapi,
            data=data,
            links=links,
            meta=meta,
        )

        return report_list
