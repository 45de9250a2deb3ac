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
    from ..models.report_patch_attributes import ReportPatchAttributes


T = TypeVar("T", bound="ReportPatchResource")


@_attrs_define
class ReportPatchResource:
    """A resource object of JSON:API, of the type `reports`.

    Attributes:
        attributes (ReportPatchAttributes): Takes a report back. Only its reporter may, and the integration where no
            user acts.
        type_ (Literal['reports'] | Unset): The type of the resource, always `reports`.
        id (str | Unset): The id in the path of the call.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    attributes: ReportPatchAttributes
    type_: Literal["reports"] | Unset = UNSET
    id: str | Unset = UNSET
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        attributes = self.attributes.to_dict()

        type_ = self.type_

        id = self.id

        meta = self.meta

        links = self.links

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "attributes": attributes,
            }
        )
        if type_ is not UNSET:
            field_dict["type"] = type_
        if id is not UNSET:
            field_dict["id"] = id
        if meta is not UNSET:
            field_dict["meta"] = meta
        if links is not UNSET:
            field_dict["links"] = links

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.report_patch_attributes import ReportPatchAttributes

        d = dict(src_dict)
        attributes = ReportPatchAttributes.from_dict(d.pop("attributes"))

        type_ = cast(Literal["reports"] | Unset, d.pop("type", UNSET))
        if type_ != "reports" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'reports', got '{type_}'")

        id = d.pop("id", UNSET)

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        report_patch_resource = cls(
            attributes=attributes,
            type_=type_,
            id=id,
            meta=meta,
            links=links,
        )

        return report_patch_resource
