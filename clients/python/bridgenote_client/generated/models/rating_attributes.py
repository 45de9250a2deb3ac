from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self, TypeVar
from uuid import UUID

from attrs import define as _attrs_define

from ..models.helpfulness_level import HelpfulnessLevel
from ..types import UNSET, Unset

T = TypeVar("T", bound="RatingAttributes")


@_attrs_define
class RatingAttributes:
    """What one person answered about one note.

    Attributes:
        note_id (UUID): The note that is rated, by our UUID.
        rater_id (str): Who rated, as it was sent: our UUID, or the platform's user id.
        helpfulness_level (HelpfulnessLevel): What a rater answers about a note.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
        counts (bool | Unset): False if the rating does not count; absent if it does. Only in the answer to the call
            that gives or changes it.
        why (str | Unset): Beside `counts`: why it does not count, as a sentence.
    """

    note_id: UUID
    rater_id: str
    helpfulness_level: HelpfulnessLevel
    created_at: datetime.datetime
    updated_at: datetime.datetime
    counts: bool | Unset = UNSET
    why: str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        note_id = str(self.note_id)

        rater_id = self.rater_id

        helpfulness_level = self.helpfulness_level.value

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        counts = self.counts

        why = self.why

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "note_id": note_id,
                "rater_id": rater_id,
                "helpfulness_level": helpfulness_level,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )
        if counts is not UNSET:
            field_dict["counts"] = counts
        if why is not UNSET:
            field_dict["why"] = why

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        note_id = UUID(d.pop("note_id"))

        rater_id = d.pop("rater_id")

        helpfulness_level = HelpfulnessLevel(d.pop("helpfulness_level"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        counts = d.pop("counts", UNSET)

        why = d.pop("why", UNSET)

        rating_attributes = cls(
            note_id=note_id,
            rater_id=rater_id,
            helpfulness_level=helpfulness_level,
            created_at=created_at,
            updated_at=updated_at,
            counts=counts,
            why=why,
        )

        return rating_attributes
