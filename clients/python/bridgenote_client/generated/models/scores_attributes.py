from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.text_result import TextResult


T = TypeVar("T", bound="ScoresAttributes")


@_attrs_define
class ScoresAttributes:
    """The results of a call for scores.

    Attributes:
        results (list[TextResult]): One for each text, in the order of the texts.
        created_at (datetime.datetime): When the texts were scored; nothing of them is stored.
        updated_at (datetime.datetime): The same time, because scores are not changed later.
    """

    results: list[TextResult]
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        results = []
        for results_item_data in self.results:
            results_item = results_item_data.to_dict()
            results.append(results_item)

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "results": results,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.text_result import TextResult

        d = dict(src_dict)
        results = []
        _results = d.pop("results")
        for results_item_data in _results:
            results_item = TextResult.from_dict(results_item_data)

            results.append(results_item)

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        scores_attributes = cls(
            results=results,
            created_at=created_at,
            updated_at=updated_at,
        )

        return scores_attributes
