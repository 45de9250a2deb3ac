from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="ProfileLinkAttributes")


@_attrs_define
class ProfileLinkAttributes:
    """The code that the dashboard shows the person. Case, spaces and dashes do not matter.

    Attributes:
        code (str): Shown in the dashboard under Settings; works once, for 10 minutes.
    """

    code: str

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "code": code,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        code = d.pop("code")

        profile_link_attributes = cls(
            code=code,
        )

        return profile_link_attributes
