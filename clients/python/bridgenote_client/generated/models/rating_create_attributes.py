from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast
from uuid import UUID

from attrs import define as _attrs_define

from ..models.helpfulness_level import HelpfulnessLevel
from ..types import UNSET, Unset

T = TypeVar("T", bound="RatingCreateAttributes")


@_attrs_define
class RatingCreateAttributes:
    """One rating per note and rater; rating again changes it.

    Attributes:
        note_id (UUID): The note that is rated, by our UUID.
        helpfulness_level (HelpfulnessLevel): What a rater answers about a note.
        rater_id (None | str | Unset): Who rates the note. Profile UUID, or the platform's user id; default: the acting
            user. A user id is one of the platform in X-Adapter-Platform, else of the community's own platform.
    """

    note_id: UUID
    helpfulness_level: HelpfulnessLevel
    rater_id: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        note_id = str(self.note_id)

        helpfulness_level = self.helpfulness_level.value

        rater_id: None | str | Unset
        if isinstance(self.rater_id, Unset):
            rater_id = UNSET
        else:
            rater_id = self.rater_id

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "note_id": note_id,
                "helpfulness_level": helpfulness_level,
            }
        )
        if rater_id is not UNSET:
            field_dict["rater_id"] = rater_id

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        note_id = UUID(d.pop("note_id"))

        helpfulness_level = HelpfulnessLevel(d.pop("helpfulness_level"))

        def _parse_rater_id(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        rater_id = _parse_rater_id(d.pop("rater_id", UNSET))

        rating_create_attributes = cls(
            note_id=note_id,
            helpfulness_level=helpfulness_level,
            rater_id=rater_id,
        )

        return rating_create_attributes
