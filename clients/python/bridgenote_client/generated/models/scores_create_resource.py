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
    from ..models.scores_create_attributes import ScoresCreateAttributes


T = TypeVar("T", bound="ScoresCreateResource")


@_attrs_define
class ScoresCreateResource:
    """A resource object of JSON:API, of the type `scores`.

    Attributes:
        type_ (Literal['scores']): The type of the resource, always `scores`.
        attributes (ScoresCreateAttributes): Texts to score at once. Nothing of them is stored.
        meta (Any | Unset): The member `meta` of JSON:API: accepted and ignored.
        links (Any | Unset): The member `links` of JSON:API: accepted and ignored.
    """

    type_: Literal["scores"]
    attributes: ScoresCreateAttributes
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
        from ..models.scores_create_attributes import ScoresCreateAttributes

        d = dict(src_dict)
        type_ = cast(Literal["scores"], d.pop("type"))
        if type_ != "scores":
            raise ValueError(f"type must match const 'scores', got '{type_}'")

        attributes = ScoresCreateAttributes.from_dict(d.pop("attributes"))

        meta = d.pop("meta", UNSET)

        links = d.pop("links", UNSET)

        scores_create_resource = cls(
            type_=type_,
            attributes=attributes,
            meta=meta,
            links=links,
        )

        return scores_create_resource
