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
    from ..models.report_create_attributes import ReportCreateAttributes


T = TypeVar("T", bound="ReportCreateResource")


@_attrs_define
class ReportCreateResource:
    """A resource object of JSON:API, of the type `reports`.

    Attributes:
        type_ (Literal['reports']): The type of the resource, always `reports`.
        attributes (ReportCreateAttributes): A report of a post. With a text and the other attributes of a submission,
            an unknown post is submitted too.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["reports"]
    attributes: ReportCreateAttributes
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
        from ..models.report_create_attributes import ReportCreateAttributes

        d = dict(src_dict)
        type_ = cast(Literal["reports"], d.pop("type"))
        if type_ != "reports":
            raise ValueError(f"type must match const 'reports', got '{type_}'")

        attributes = ReportCreateAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        report_create_resource = cls(
            type_=type_,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return report_create_resource
