from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    Self,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define

T = TypeVar("T", bound="ReportPatchAttributes")


@_attrs_define
class ReportPatchAttributes:
    """Takes a report back. Only its reporter may, and the integration where no user acts.

    Attributes:
        state (Literal['withdrawn']): Only `withdrawn`, while the report is `open`.
    """

    state: Literal["withdrawn"]

    def to_dict(self) -> dict[str, Any]:
        state = self.state

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "state": state,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        state = cast(Literal["withdrawn"], d.pop("state"))
        if state != "withdrawn":
            raise ValueError(f"state must match const 'withdrawn', got '{state}'")

        report_patch_attributes = cls(
            state=state,
        )

        return report_patch_attributes
