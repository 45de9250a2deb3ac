from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.activity import Activity
    from ..models.consensus import Consensus
    from ..models.reviewer import Reviewer
    from ..models.scoring_analysis_classification import ScoringAnalysisClassification


T = TypeVar("T", bound="ScoringAnalysis")


@_attrs_define
class ScoringAnalysis:
    """Figures of one community.

    Attributes:
        activity (Activity): Activity totals. Each `…_last_7_days` is part of the total of the same name.
        classification (ScoringAnalysisClassification): How many actions there are by category, the most frequent first.
        consensus (Consensus): How reviews end, and how much raters agree.
        top_reviewers (list[Reviewer]): The 10 people who rated most, the most active first.
    """

    activity: Activity
    classification: ScoringAnalysisClassification
    consensus: Consensus
    top_reviewers: list[Reviewer]

    def to_dict(self) -> dict[str, Any]:
        activity = self.activity.to_dict()

        classification = self.classification.to_dict()

        consensus = self.consensus.to_dict()

        top_reviewers = []
        for top_reviewers_item_data in self.top_reviewers:
            top_reviewers_item = top_reviewers_item_data.to_dict()
            top_reviewers.append(top_reviewers_item)

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "activity": activity,
                "classification": classification,
                "consensus": consensus,
                "top_reviewers": top_reviewers,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.activity import Activity
        from ..models.consensus import Consensus
        from ..models.reviewer import Reviewer
        from ..models.scoring_analysis_classification import (
            ScoringAnalysisClassification,
        )

        d = dict(src_dict)
        activity = Activity.from_dict(d.pop("activity"))

        classification = ScoringAnalysisClassification.from_dict(
            d.pop("classification")
        )

        consensus = Consensus.from_dict(d.pop("consensus"))

        top_reviewers = []
        _top_reviewers = d.pop("top_reviewers")
        for top_reviewers_item_data in _top_reviewers:
            top_reviewers_item = Reviewer.from_dict(top_reviewers_item_data)

            top_reviewers.append(top_reviewers_item)

        scoring_analysis = cls(
            activity=activity,
            classification=classification,
            consensus=consensus,
            top_reviewers=top_reviewers,
        )

        return scoring_analysis
