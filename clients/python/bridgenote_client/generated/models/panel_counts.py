from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="PanelCounts")


@_attrs_define
class PanelCounts:
    """The drawn panel that decided (docs/moderate/panels.md).

    Attributes:
        seats (int): How many people were drawn.
        answered (int): How many of them answered in time.
    """

    seats: int
    answered: int

    def to_dict(self) -> dict[str, Any]:
        seats = self.seats

        answered = self.answered

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "seats": seats,
                "answered": answered,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        seats = d.pop("seats")

        answered = d.pop("answered")

        panel_counts = cls(
            seats=seats,
            answered=answered,
        )

        return panel_counts
