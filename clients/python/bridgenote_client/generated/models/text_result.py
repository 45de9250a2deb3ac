from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.text_category_score import TextCategoryScore


T = TypeVar("T", bound="TextResult")


@_attrs_define
class TextResult:
    """What one text came to.

    Attributes:
        scores (list[TextCategoryScore]): What the text was scored, a category each, the highest first.
        not_scored (list[str]): The categories without a score, and those in which a scorer that must be heard did not
            answer. That is not 0.
    """

    scores: list[TextCategoryScore]
    not_scored: list[str]

    def to_dict(self) -> dict[str, Any]:
        scores = []
        for scores_item_data in self.scores:
            scores_item = scores_item_data.to_dict()
            scores.append(scores_item)

        not_scored = self.not_scored

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "scores": scores,
                "not_scored": not_scored,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.text_category_score import TextCategoryScore

        d = dict(src_dict)
        scores = []
        _scores = d.pop("scores")
        for scores_item_data in _scores:
            scores_item = TextCategoryScore.from_dict(scores_item_data)

            scores.append(scores_item)

        not_scored = cast(list[str], d.pop("not_scored"))

        text_result = cls(
            scores=scores,
            not_scored=not_scored,
        )

        return text_result
