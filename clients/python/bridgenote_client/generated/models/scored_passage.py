from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ScoredPassage")


@_attrs_define
class ScoredPassage:
    """A passage of a text, in code points.

    Attributes:
        start (int): Where it begins, in code points of the text.
        end (int): Where it ends, in code points; this one is no longer part of it.
    """

    start: int
    end: int

    def to_dict(self) -> dict[str, Any]:
        start = self.start

        end = self.end

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "start": start,
                "end": end,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        start = d.pop("start")

        end = d.pop("end")

        scored_passage = cls(
            start=start,
            end=end,
        )

        return scored_passage
