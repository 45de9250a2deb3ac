from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.report_patch_resource import ReportPatchResource


T = TypeVar("T", bound="ReportPatchDocument")


@_attrs_define
class ReportPatchDocument:
    """A document of JSON:API with one resource.

    Attributes:
        data (ReportPatchResource): A resource object of JSON:API, of the type `reports`.
        jsonapi (Any | Unset): The member `jsonapi` of JSON:API: accepted and ignored.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    data: ReportPatchResource
    jsonapi: Any | Unset = UNSET
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        data = self.data.to_dict()

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
        from ..models.report_patch_resource import ReportPatchResource

        d = dict(src_dict)
        data = ReportPatchResource.from_dict(d.pop("data"))

        jsonapi = d.pop("jsonapi", UNSET)

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        report_patch_document = cls(
            data=data,
            jsonapi=jsonapi,
            meta=meta,
            links=links,
        )

        return report_patch_document
