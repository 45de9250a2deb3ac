from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define

T = TypeVar("T", bound="ShownStrike")


@_attrs_define
class ShownStrike:
    """A strike that counts now.

    Attributes:
        points (int): How many points it has.
        category (None | str): The category that gave it; null if a moderator named none.
        action_id (None | UUID): The action that gave it, by our UUID; null if a moderator added it.
        expires_at (datetime.datetime): Until when it counts.
    """

    points: int
    category: None | str
    action_id: None | UUID
    expires_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        points = self.points

        category: None | str
        category = self.category

        action_id: None | str
        if isinstance(self.action_id, UUID):
            action_id = str(self.action_id)
        else:
            action_id = self.action_id

        expires_at = self.expires_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "points": points,
                "category": category,
                "action_id": action_id,
                "expires_at": expires_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        points = d.pop("points")

        def _parse_category(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        category = _parse_category(d.pop("category"))

        def _parse_action_id(data: object) -> None | UUID:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                action_id_type_0 = UUID(data)

                return action_id_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | UUID, data)

        action_id = _parse_action_id(d.pop("action_id"))

        expires_at = datetime.datetime.fromisoformat(d.pop("expires_at"))

        shown_strike = cls(
            points=points,
            category=category,
            action_id=action_id,
            expires_at=expires_at,
        )

        return shown_strike
