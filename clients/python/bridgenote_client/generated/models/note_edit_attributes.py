from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.classification import Classification
from ..types import UNSET, Unset

T = TypeVar("T", bound="NoteEditAttributes")


@_attrs_define
class NoteEditAttributes:
    """New text of a rated note starts a new version: earlier ratings no longer count. Null keeps the classification.

    Attributes:
        summary (str): The text of the note, at most 5,000 characters; not blank.
        classification (Classification | None | Unset): What the note says of the post.
    """

    summary: str
    classification: Classification | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        summary = self.summary

        classification: None | str | Unset
        if isinstance(self.classification, Unset):
            classification = UNSET
        elif isinstance(self.classification, Classification):
            classification = self.classification.value
        else:
            classification = self.classification

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "summary": summary,
            }
        )
        if classification is not UNSET:
            field_dict["classification"] = classification

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        summary = d.pop("summary")

        def _parse_classification(data: object) -> Classification | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                classification_type_0 = Classification(data)

                return classification_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Classification | None | Unset, data)

        classification = _parse_classification(d.pop("classification", UNSET))

        note_edit_attributes = cls(
            summary=summary,
            classification=classification,
        )

        return note_edit_attributes
