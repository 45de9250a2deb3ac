from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.evidence_scores import EvidenceScores
    from ..models.json_object import JsonObject


T = TypeVar("T", bound="Evidence")


@_attrs_define
class Evidence:
    """The scores that an action was opened for.

    Attributes:
        score (float): The score that led to the action, from 0 to 1.
        category (str): The category of that score, such as `spam`; `escalated` if somebody sent it to the moderators.
        labels (list[str]): The categories whose score is notable.
        scores (EvidenceScores): The highest score of each category, from 0 to 1.
        details (JsonObject): A JSON object with members of any names and values.
    """

    score: float
    category: str
    labels: list[str]
    scores: EvidenceScores
    details: JsonObject

    def to_dict(self) -> dict[str, Any]:
        score = self.score

        category = self.category

        labels = self.labels

        scores = self.scores.to_dict()

        details = self.details.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "score": score,
                "category": category,
                "labels": labels,
                "scores": scores,
                "details": details,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.evidence_scores import EvidenceScores
        from ..models.json_object import JsonObject

        d = dict(src_dict)
        score = d.pop("score")

        category = d.pop("category")

        labels = cast(list[str], d.pop("labels"))

        scores = EvidenceScores.from_dict(d.pop("scores"))

        details = JsonObject.from_dict(d.pop("details"))

        evidence = cls(
            score=score,
            category=category,
            labels=labels,
            scores=scores,
            details=details,
        )

        return evidence
