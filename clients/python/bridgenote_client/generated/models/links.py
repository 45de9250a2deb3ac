from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Links")


@_attrs_define
class Links:
    """Absolute URLs of a document.

    Attributes:
        self_ (str): Absolute URL of this resource, or of this page of the list.
        describedby (str): Absolute URL of the OpenAPI document.
    """

    self_: str
    describedby: str

    def to_dict(self) -> dict[str, Any]:
        self_ = self.self_

        describedby = self.describedby

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "self": self_,
                "describedby": describedby,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        self_ = d.pop("self")

        describedby = d.pop("describedby")

        links = cls(
            self_=self_,
            describedby=describedby,
        )

        return links
