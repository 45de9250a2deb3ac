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
    from ..models.request_patch_attributes import RequestPatchAttributes


T = TypeVar("T", bound="RequestPatchResource")


@_attrs_define
class RequestPatchResource:
    """A resource object of JSON:API, of the type `requests`.

    Attributes:
        attributes (RequestPatchAttributes): `status` may only go from FAILED to PENDING. `escalated` sends the request
            to staff. Null changes nothing.
        type_ (Literal['requests'] | Unset): The type of the resource, always `requests`.
        id (str | Unset): The id in the path of the call.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    attributes: RequestPatchAttributes
    type_: Literal["requests"] | Unset = UNSET
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
        from ..models.request_patch_attributes import RequestPatchAttributes

        d = dict(src_dict)
        attributes = RequestPatchAttributes.from_dict(d.pop("attributes"))

        type_ = cast(Literal["requests"] | Unset, d.pop("type", UNSET))
        if type_ != "requests" and not isinstance(type_, Unset):
            raise ValueError(f"type must match const 'requests', got '{type_}'")

        id = d.pop("id", UNSET)

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        request_patch_resource = cls(
            attributes=attributes,
            type_=type_,
            id=id,
            meta=meta,
            links=links,
        )

        return request_patch_resource
