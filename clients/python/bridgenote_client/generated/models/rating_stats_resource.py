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
from uuid import UUID

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.stats_attributes import StatsAttributes


T = TypeVar("T", bound="RatingStatsResource")


@_attrs_define
class RatingStatsResource:
    """A resource object of JSON:API, of the type `rating-stats`.

    Attributes:
        type_ (Literal['rating-stats']): The type of the resource, always `rating-stats`.
        id (UUID): Our UUID of the resource.
        attributes (StatsAttributes): Counts for the note's current text.
    """

    type_: Literal["rating-stats"]
    id: UUID
    attributes: StatsAttributes

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        id = str(self.id)

        attributes = self.attributes.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "id": id,
                "attributes": attributes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.stats_attributes import StatsAttributes

        d = dict(src_dict)
        type_ = cast(Literal["rating-stats"], d.pop("type"))
        if type_ != "rating-stats":
            raise ValueError(f"type must match const 'rating-stats', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = StatsAttributes.from_dict(d.pop("attributes"))

        rating_stats_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return rating_stats_resource
