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
    from ..models.rating_edit_attributes import RatingEditAttributes


T = TypeVar("T", bound="RatingEditResource")


@_attrs_define
class RatingEditResource:
    """A resource object of JSON:API, of the type `ratings`.

    Attributes:
        type_ (Literal['ratings']): The type of the resource, always `ratings`.
        id (str): The id in the path of the call.
        attributes (RatingEditAttributes): A new level for a rating; only its rater may change it.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["ratings"]
    id: str
    attributes: RatingEditAttributes
    meta: Any | Unset = UNSET
    links: Any | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        id = self.id

        attributes = self.attributes.to_dict()

        meta = self.meta

        links = self.links

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "id": id,
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
        from ..models.rating_edit_attributes import RatingEditAttributes

        d = dict(src_dict)
        type_ = cast(Literal["ratings"], d.pop("type"))
        if type_ != "ratings":
            raise ValueError(f"type must match const 'ratings', got '{type_}'")

        id = d.pop("id")

        attributes = RatingEditAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        rating_edit_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return rating_edit_resource
