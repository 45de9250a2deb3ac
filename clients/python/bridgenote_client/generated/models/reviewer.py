from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Reviewer")


@_attrs_define
class Reviewer:
    """A person who rated, with how much.

    Attributes:
        username (str): The person's name, or the platform's id of them if no name is known.
        review_count (int): How many ratings of current texts are theirs.
        accuracy (float | None): Share of them that match the note's status, from 0 to 1; null while unknown.
    """

    username: str
    review_count: int
    accuracy: float | None

    def to_dict(self) -> dict[str, Any]:
        username = self.username

        review_count = self.review_count

        accuracy: float | None
        accuracy = self.accuracy

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "username": username,
                "review_count": review_count,
                "accuracy": accuracy,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        username = d.pop("username")

        review_count = d.pop("review_count")

        def _parse_accuracy(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        accuracy = _parse_accuracy(d.pop("accuracy"))

        reviewer = cls(
            username=username,
            review_count=review_count,
            accuracy=accuracy,
        )

        return reviewer
