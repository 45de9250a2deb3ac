from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.scored_passage import ScoredPassage


T = TypeVar("T", bound="TextCategoryScore")


@_attrs_define
class TextCategoryScore:
    """The score of a text in one category.

    Attributes:
        category (str): What the text was scored for, such as `spam`.
        score (float): The score, from 0 to 1: the highest of all scorers.
        scorer (str): Who gave it, such as `builtin.rules`, `builtin.seed` or a connected service.
        version (str): Its version, which changes whenever its scores could.
        passages (list[ScoredPassage]): The passages that rules matched, in order.
    """

    category: str
    score: float
    scorer: str
    version: str
    passages: list[ScoredPassage]

    def to_dict(self) -> dict[str, Any]:
        category = self.category

        score = self.score

        scorer = self.scorer

        version = self.version

        passages = []
        for passages_item_data in self.passages:
            passages_item = passages_item_data.to_dict()
            passages.append(passages_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "category": category,
                "score": score,
                "scorer": scorer,
                "version": version,
                "passages": passages,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.scored_passage import ScoredPassage

        d = dict(src_dict)
        category = d.pop("category")

        score = d.pop("score")

        scorer = d.pop("scorer")

        version = d.pop("version")

        passages = []
        _passages = d.pop("passages")
        for passages_item_data in _passages:
            passages_item = ScoredPassage.from_dict(passages_item_data)

            passages.append(passages_item)

        text_category_score = cls(
            category=category,
            score=score,
            scorer=scorer,
            version=version,
            passages=passages,
        )

        return text_category_score
