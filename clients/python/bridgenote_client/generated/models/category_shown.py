from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.review_group import ReviewGroup
from ..models.verb import Verb

T = TypeVar("T", bound="CategoryShown")


@_attrs_define
class CategoryShown:
    """Current thresholds of one category. Without `tier1_threshold` it never acts by itself.

    Attributes:
        name (str): The category, such as `spam`: lower case, digits and underscores.
        tier2_threshold (float): The score from 0 to 1 from which on people are asked (Tier 2).
        tier2_action (Verb): What a category's tier is configured to do (docs/integrate/api.md).
        tier1_threshold (float | None): The score from 0 to 1 from which on the category acts without asking (Tier 1);
            null: never.
        tier1_action (Verb): What a category's tier is configured to do (docs/integrate/api.md).
        enabled (bool): False: scores of the category lead to nothing.
        review_group (ReviewGroup): Who is asked in a review: all members, trusted ones, or the moderators.
        author_text (None | str): What the author of a post is told with a warning, unless the moderator writes
            something else; null: the shipped text.
        report_threshold (float | None): People are asked about a post if its reports in this category weigh more than
            this; null: never. An ordinary report weighs 0.5.
    """

    name: str
    tier2_threshold: float
    tier2_action: Verb
    tier1_threshold: float | None
    tier1_action: Verb
    enabled: bool
    review_group: ReviewGroup
    author_text: None | str
    report_threshold: float | None

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        tier2_threshold = self.tier2_threshold

        tier2_action = self.tier2_action.value

        tier1_threshold: float | None
        tier1_threshold = self.tier1_threshold

        tier1_action = self.tier1_action.value

        enabled = self.enabled

        review_group = self.review_group.value

        author_text: None | str
        author_text = self.author_text

        report_threshold: float | None
        report_threshold = self.report_threshold

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "tier2_threshold": tier2_threshold,
                "tier2_action": tier2_action,
                "tier1_threshold": tier1_threshold,
                "tier1_action": tier1_action,
                "enabled": enabled,
                "review_group": review_group,
                "author_text": author_text,
                "report_threshold": report_threshold,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        name = d.pop("name")

        tier2_threshold = d.pop("tier2_threshold")

        tier2_action = Verb(d.pop("tier2_action"))

        def _parse_tier1_threshold(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        tier1_threshold = _parse_tier1_threshold(d.pop("tier1_threshold"))

        tier1_action = Verb(d.pop("tier1_action"))

        enabled = d.pop("enabled")

        review_group = ReviewGroup(d.pop("review_group"))

        def _parse_author_text(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        author_text = _parse_author_text(d.pop("author_text"))

        def _parse_report_threshold(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        report_threshold = _parse_report_threshold(d.pop("report_threshold"))

        category_shown = cls(
            name=name,
            tier2_threshold=tier2_threshold,
            tier2_action=tier2_action,
            tier1_threshold=tier1_threshold,
            tier1_action=tier1_action,
            enabled=enabled,
            review_group=review_group,
            author_text=author_text,
            report_threshold=report_threshold,
        )

        return category_shown
