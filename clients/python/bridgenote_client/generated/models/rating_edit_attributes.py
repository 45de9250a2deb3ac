from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

from ..models.helpfulness_level import HelpfulnessLevel

T = TypeVar("T", bound="RatingEditAttributes")


@_attrs_define
class RatingEditAttributes:
    """A new level for a rating; only its rater may change it.

    Attributes:
        helpfulness_level (HelpfulnessLevel): What a rater answers about a note.
    """

    helpfulness_level: HelpfulnessLevel

    def to_dict(self) -> dict[str, Any]:
        helpfulness_level = self.helpfulness_level.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "helpfulness_level": helpfulness_level,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        helpfulness_level = HelpfulnessLevel(d.pop("helpfulness_level"))

        rating_edit_attributes = cls(
            helpfulness_level=helpfulness_level,
        )

        return rating_edit_attributes
