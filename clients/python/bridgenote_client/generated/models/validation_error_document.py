from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.validation_problem import ValidationProblem


T = TypeVar("T", bound="ValidationErrorDocument")


@_attrs_define
class ValidationErrorDocument:
    """The body of a 422: one item per problem. Of more than 20, the last item, `too_many_problems`, says how many are not
    listed.

        Attributes:
            detail (list[ValidationProblem]): What is wrong, one item per problem.
    """

    detail: list[ValidationProblem]

    def to_dict(self) -> dict[str, Any]:
        detail = []
        for detail_item_data in self.detail:
            detail_item = detail_item_data.to_dict()
            detail.append(detail_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "detail": detail,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.validation_problem import ValidationProblem

        d = dict(src_dict)
        detail = []
        _detail = d.pop("detail")
        for detail_item_data in _detail:
            detail_item = ValidationProblem.from_dict(detail_item_data)

            detail.append(detail_item)

        validation_error_document = cls(
            detail=detail,
        )

        return validation_error_document
