from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.validation_problem import ValidationProblem


T = TypeVar("T", bound="BatchRefusal")


@_attrs_define
class BatchRefusal:
    """Why one submission of a batch was not stored.

    Attributes:
        status (int): The status that the submission alone would have been answered with.
        detail (list[ValidationProblem] | str): One sentence; of a 422 the problems, whose `loc` begins with `body,
            data, <index>`.
    """

    status: int
    detail: list[ValidationProblem] | str

    def to_dict(self) -> dict[str, Any]:
        status = self.status

        detail: list[dict[str, Any]] | str
        if isinstance(self.detail, list):
            detail = []
            for detail_type_1_item_data in self.detail:
                detail_type_1_item = detail_type_1_item_data.to_dict()
                detail.append(detail_type_1_item)

        else:
            detail = self.detail

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "status": status,
                "detail": detail,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.validation_problem import ValidationProblem

        d = dict(src_dict)
        status = d.pop("status")

        def _parse_detail(data: object) -> list[ValidationProblem] | str:
            try:
                if not isinstance(data, list):
                    raise TypeError()
                detail_type_1 = []
                _detail_type_1 = data
                for detail_type_1_item_data in _detail_type_1:
                    detail_type_1_item = ValidationProblem.from_dict(
                        detail_type_1_item_data
                    )

                    detail_type_1.append(detail_type_1_item)

                return detail_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[ValidationProblem] | str, data)

        detail = _parse_detail(d.pop("detail"))

        batch_refusal = cls(
            status=status,
            detail=detail,
        )

        return batch_refusal
