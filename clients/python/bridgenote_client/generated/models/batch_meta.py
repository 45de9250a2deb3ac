from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="BatchMeta")


@_attrs_define
class BatchMeta:
    """That a submission of a batch was known.

    Attributes:
        duplicate (bool): Its `request_id` was submitted before.
        content_differs (bool): Whether the stored text is another one.
    """

    duplicate: bool
    content_differs: bool

    def to_dict(self) -> dict[str, Any]:
        duplicate = self.duplicate

        content_differs = self.content_differs

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "duplicate": duplicate,
                "content_differs": content_differs,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        duplicate = d.pop("duplicate")

        content_differs = d.pop("content_differs")

        batch_meta = cls(
            duplicate=duplicate,
            content_differs=content_differs,
        )

        return batch_meta
