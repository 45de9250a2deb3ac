from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.json_api_version import JsonApiVersion
    from ..models.json_object import JsonObject
    from ..models.links import Links
    from ..models.report_resource import ReportResource


T = TypeVar("T", bound="ReportDocument")


@_attrs_define
class ReportDocument:
    """A document of JSON:API with one resource.

    Attributes:
        jsonapi (JsonApiVersion): What the document conforms to.
        data (ReportResource): A resource object of JSON:API, of the type `reports`.
        links (Links | Unset): Absolute URLs of a document.
        meta (JsonObject | Unset): A JSON object with members of any names and values.
    """

    jsonapi: JsonApiVersion
    data: ReportResource
    links: Links | Unset = UNSET
    meta: JsonObject | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        jsonapi = self.jsonapi.to_dict()

        data = self.data.to_dict()

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
        from ..models.report_resource import ReportResource

        d = dict(src_dict)
        jsonapi = JsonApiVersion.from_dict(d.pop("jsonapi"))

        data = ReportResource.from_dict(d.pop("data"))

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

        report_document = cls(
            jsonapi=jsonapi,
            data=data,
            links=links,
            meta=meta,
        )

        return report_document
