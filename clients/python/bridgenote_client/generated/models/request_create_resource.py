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
    from ..models.request_create_attributes import RequestCreateAttributes


T = TypeVar("T", bound="RequestCreateResource")


@_attrs_define
class RequestCreateResource:
    """A resource object of JSON:API, of the type `requests`.

    Attributes:
        type_ (Literal['requests']): The type of the resource, always `requests`.
        attributes (RequestCreateAttributes): A submission (docs/integrate/api.md). Ids and content are stored exactly
            as sent.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["requests"]
    attributes: RequestCreateAttributes
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
        from ..models.request_create_attributes import RequestCreateAttributes

        d = dict(src_dict)
        type_ = cast(Literal["requests"], d.pop("type"))
        if type_ != "requests":
            raise ValueError(f"type must match const 'requests', got '{type_}'")

        attributes = RequestCreateAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        request_create_resource = cls(
            type_=type_,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return request_create_resource
