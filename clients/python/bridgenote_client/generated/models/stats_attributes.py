from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.panel_counts import PanelCounts


T = TypeVar("T", bound="StatsAttributes")


@_attrs_define
class StatsAttributes:
    """Counts for the note's current text.

    Attributes:
        total (int): How many ratings there are.
        helpful (int): How many of them are `HELPFUL`.
        somewhat_helpful (int): How many of them are `SOMEWHAT_HELPFUL`.
        not_helpful (int): How many of them are `NOT_HELPFUL`.
        average_score (float): Average level, from 1 (not helpful) to 3 (helpful); 0 without ratings.
        created_at (datetime.datetime): When the first rating was given; without ratings when the note was written.
        updated_at (datetime.datetime): When a rating last changed; without ratings when the note did.
        panel (PanelCounts | Unset): The drawn panel that decided (docs/moderate/panels.md).
    """

    total: int
    helpful: int
    somewhat_helpful: int
    not_helpful: int
    average_score: float
    created_at: datetime.datetime
    updated_at: datetime.datetime
    panel: PanelCounts | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        total = self.total

        helpful = self.helpful

        somewhat_helpful = self.somewhat_helpful

        not_helpful = self.not_helpful

        average_score = self.average_score

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        panel: dict[str, Any] | Unset = UNSET
        if not isinstance(self.panel, Unset):
            panel = self.panel.to_dict()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "total": total,
                "helpful": helpful,
                "somewhat_helpful": somewhat_helpful,
                "not_helpful": not_helpful,
                "average_score": average_score,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )
        if panel is not UNSET:
            field_dict["panel"] = panel

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.panel_counts import PanelCounts

        d = dict(src_dict)
        total = d.pop("total")

        helpful = d.pop("helpful")

        somewhat_helpful = d.pop("somewhat_helpful")

        not_helpful = d.pop("not_helpful")

        average_score = d.pop("average_score")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        _panel = d.pop("panel", UNSET)
        panel: PanelCounts | Unset
        if isinstance(_panel, Unset):
            panel = UNSET
        else:
            panel = PanelCounts.from_dict(_panel)

        stats_attributes = cls(
            total=total,
            helpful=helpful,
            somewhat_helpful=somewhat_helpful,
            not_helpful=not_helpful,
            average_score=average_score,
            created_at=created_at,
            updated_at=updated_at,
            panel=panel,
        )

        return stats_attributes
