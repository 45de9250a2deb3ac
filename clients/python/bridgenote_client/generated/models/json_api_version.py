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

T = TypeVar("T", bound="JsonApiVersion")


@_attrs_define
class JsonApiVersion:
    """What the document conforms to.

    Attributes:
        version (Literal['1.1']): The version of JSON:API: `1.1`.
    """

    version: Literal["1.1"]

    def to_dict(self) -> dict[str, Any]:
        version = self.version

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "version": version,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        version = cast(Literal["1.1"], d.pop("version"))
        if version != "1.1":
            raise ValueError(f"version must match const '1.1', got '{version}'")

        json_api_version = cls(
            version=version,
        )

        return json_api_version
