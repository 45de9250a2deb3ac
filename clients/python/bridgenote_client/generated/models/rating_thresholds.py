from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="RatingThresholds")


@_attrs_define
class RatingThresholds:
    """A note needs `min_ratings_needed` ratings before it gets a status. A rater has one rating per note.

    Attributes:
        min_ratings_needed (int): How many ratings a note needs before it gets a status.
        min_raters_per_note (int): How many people must have rated it; the same, as each rates a note once.
    """

    min_ratings_needed: int
    min_raters_per_note: int

    def to_dict(self) -> dict[str, Any]:
        min_ratings_needed = self.min_ratings_needed

        min_raters_per_note = self.min_raters_per_note

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "min_ratings_needed": min_ratings_needed,
                "min_raters_per_note": min_raters_per_note,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        min_ratings_needed = d.pop("min_ratings_needed")

        min_raters_per_note = d.pop("min_raters_per_note")

        rating_thresholds = cls(
            min_ratings_needed=min_ratings_needed,
            min_raters_per_note=min_raters_per_note,
        )

        return rating_thresholds
