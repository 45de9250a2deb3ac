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
    from ..models.scores_attributes import ScoresAttributes


T = TypeVar("T", bound="ScoresResource")


@_attrs_define
class ScoresResource:
    """A resource object of JSON:API, of the type `scores`.

    Attributes:
        type_ (Literal['scores']): The type of the resource, always `scores`.
        id (UUID): Our UUID of the resource.
        attributes (ScoresAttributes): The results of a call for scores.
    """

    type_: Literal["scores"]
    id: UUID
    attributes: ScoresAttributes

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
        from ..models.scores_attributes import ScoresAttributes

        d = dict(src_dict)
        type_ = cast(Literal["scores"], d.pop("type"))
        if type_ != "scores":
            raise ValueError(f"type must match const 'scores', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = ScoresAttributes.from_dict(d.pop("attributes"))

        scores_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return scores_resource
