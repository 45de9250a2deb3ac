from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.action_patch_attributes_undo_state_type_0 import (
    ActionPatchAttributesUndoStateType0,
)
from ..models.action_state import ActionState
from ..types import UNSET, Unset

T = TypeVar("T", bound="ActionPatchAttributes")


@_attrs_define
class ActionPatchAttributes:
    """A move, the answer about an undo, or another end of a silence; one of `action_state`, `undo_state` and `until` is
    required.

    `platform_action_id` belongs to `applied`; an appeal is `retro_review` with its `reason`.

        Attributes:
            action_state (ActionState | Unset): How far an action is. `proposed`: the integration is to carry it out, and
                answers with `applied`.

                `under_review` and `retro_review` (a second look) ask people. `confirmed`, `overturned`, `dismissed` and
                `scan_exempt` end it.
            undo_state (ActionPatchAttributesUndoStateType0 | None | Unset): Whether the platform has undone an overturned
                action whose `undo` is not null; `reason` may say why it cannot.
            platform_action_id (None | str | Unset): The platform's own id of what it did; set only with `applied`.
            until (datetime.datetime | None | Unset): When a `silence` ends; null: never. With `applied`: when the platform
                ends it. Alone, with a `reason`, from staff: the new end; a moment that has come lifts the silence at once.
            reason (None | str | Unset): Why, in words, at most 2,000 characters; needed for an appeal.
            category (None | str | Unset): The community's category that a decision (`proposed`, `dismissed`, `confirmed`,
                `overturned`) is filed under; the category of the score if not given.
    """

    action_state: ActionState | Unset = UNSET
    undo_state: ActionPatchAttributesUndoStateType0 | None | Unset = UNSET
    platform_action_id: None | str | Unset = UNSET
    until: datetime.datetime | None | Unset = UNSET
    reason: None | str | Unset = UNSET
    category: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        action_state: str | Unset = UNSET
        if not isinstance(self.action_state, Unset):
            action_state = self.action_state.value

        undo_state: None | str | Unset
        if isinstance(self.undo_state, Unset):
            undo_state = UNSET
        elif isinstance(self.undo_state, ActionPatchAttributesUndoStateType0):
            undo_state = self.undo_state.value
        else:
            undo_state = self.undo_state

        platform_action_id: None | str | Unset
        if isinstance(self.platform_action_id, Unset):
            platform_action_id = UNSET
        else:
            platform_action_id = self.platform_action_id

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        elif isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        category: None | str | Unset
        if isinstance(self.category, Unset):
            category = UNSET
        else:
            category = self.category

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if action_state is not UNSET:
            field_dict["action_state"] = action_state
        if undo_state is not UNSET:
            field_dict["undo_state"] = undo_state
        if platform_action_id is not UNSET:
            field_dict["platform_action_id"] = platform_action_id
        if until is not UNSET:
            field_dict["until"] = until
        if reason is not UNSET:
            field_dict["reason"] = reason
        if category is not UNSET:
            field_dict["category"] = category

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        _action_state = d.pop("action_state", UNSET)
        action_state: ActionState | Unset
        if isinstance(_action_state, Unset):
            action_state = UNSET
        else:
            action_state = ActionState(_action_state)

        def _parse_undo_state(
            data: object,
        ) -> ActionPatchAttributesUndoStateType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                undo_state_type_0 = ActionPatchAttributesUndoStateType0(data)

                return undo_state_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ActionPatchAttributesUndoStateType0 | None | Unset, data)

        undo_state = _parse_undo_state(d.pop("undo_state", UNSET))

        def _parse_platform_action_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        platform_action_id = _parse_platform_action_id(
            d.pop("platform_action_id", UNSET)
        )

        def _parse_until(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                until_type_0 = datetime.datetime.fromisoformat(data)

                return until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        until = _parse_until(d.pop("until", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        def _parse_category(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        category = _parse_category(d.pop("category", UNSET))

        action_patch_attributes = cls(
            action_state=action_state,
            undo_state=undo_state,
            platform_action_id=platform_action_id,
            until=until,
            reason=reason,
            category=category,
        )

        return action_patch_attributes
