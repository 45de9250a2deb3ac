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
    from ..models.report_attributes import ReportAttributes


T = TypeVar("T", bound="ReportResource")


@_attrs_define
class ReportResource:
    """A resource object of JSON:API, of the type `reports`.

    Attributes:
        type_ (Literal['reports']): The type of the resource, always `reports`.
        id (UUID): Our UUID of the resource.
        attributes (ReportAttributes): Attributes without a value, or without one yet, are left out.
    """

    type_: Literal["reports"]
    id: UUID
    attributes: ReportAttributes

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
        from ..models.report_attributes import ReportAttributes

        d = dict(src_dict)
        type_ = cast(Literal["reports"], d.pop("type"))
        if type_ != "reports":
            raise ValueError(f"type must match const 'reports', got '{type_}'")

        id = UUID(d.pop("id"))

        attributes = ReportAttributes.from_dict(d.pop("attributes"))

        report_resource = cls(
            type_=type_,
            id=id,
            attributes=attributes,
        )

        return report_resource
