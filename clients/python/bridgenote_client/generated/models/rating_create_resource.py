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
    from ..models.rating_create_attributes import RatingCreateAttributes


T = TypeVar("T", bound="RatingCreateResource")


@_attrs_define
class RatingCreateResource:
    """A resource object of JSON:API, of the type `ratings`.

    Attributes:
        type_ (Literal['ratings']): The type of the resource, always `ratings`.
        attributes (RatingCreateAttributes): One rating per note and rater; rating again changes it.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["ratings"]
    attributes: RatingCreateAttributes
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
        from ..models.rating_create_attributes import RatingCreateAttributes

        d = dict(src_dict)
        type_ = cast(Literal["ratings"], d.pop("type"))
        if type_ != "ratings":
            raise ValueError(f"type must match const 'ratings', got '{type_}'")

        attributes = RatingCreateAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        rating_create_resource = cls(
            type_=type_,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return rating_create_resource
