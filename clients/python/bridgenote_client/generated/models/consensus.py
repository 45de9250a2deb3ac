from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="Consensus")


@_attrs_define
class Consensus:
    """How reviews end, and how much raters agree.

    Attributes:
        in_review (int): How many actions are under review now.
        second_look (int): How many actions get a second look now.
        decided_in_review (int): How many requests people decided (Tier 2).
        decided_to_act (int): How many of them ended with an action.
        decided_not_to_act (int): How many of them ended without one.
        notes_needing_ratings (int): How many notes are `NEEDS_MORE_RATINGS`.
        notes_helpful (int): How many notes are `CURRENTLY_RATED_HELPFUL`.
        notes_not_helpful (int): How many notes are `CURRENTLY_RATED_NOT_HELPFUL`.
        agreement (float | None): Share of ratings that match the note's status, from 0 to 1; null while unknown.
    """

    in_review: int
    second_look: int
    decided_in_review: int
    decided_to_act: int
    decided_not_to_act: int
    notes_needing_ratings: int
    notes_helpful: int
    notes_not_helpful: int
    agreement: float | None

    def to_dict(self) -> dict[str, Any]:
        in_review = self.in_review

        second_look = self.second_look

        decided_in_review = self.decided_in_review

        decided_to_act = self.decided_to_act

        decided_not_to_act = self.decided_not_to_act

        notes_needing_ratings = self.notes_needing_ratings

        notes_helpful = self.notes_helpful

        notes_not_helpful = self.notes_not_helpful

        agreement: float | None
        agreement = self.agreement

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "in_review": in_review,
                "second_look": second_look,
                "decided_in_review": decided_in_review,
                "decided_to_act": decided_to_act,
                "decided_not_to_act": decided_not_to_act,
                "notes_needing_ratings": notes_needing_ratings,
                "notes_helpful": notes_helpful,
                "notes_not_helpful": notes_not_helpful,
                "agreement": agreement,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        in_review = d.pop("in_review")

        second_look = d.pop("second_look")

        decided_in_review = d.pop("decided_in_review")

        decided_to_act = d.pop("decided_to_act")

        decided_not_to_act = d.pop("decided_not_to_act")

        notes_needing_ratings = d.pop("notes_needing_ratings")

        notes_helpful = d.pop("notes_helpful")

        notes_not_helpful = d.pop("notes_not_helpful")

        def _parse_agreement(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        agreement = _parse_agreement(d.pop("agreement"))

        consensus = cls(
            in_review=in_review,
            second_look=second_look,
            decided_in_review=decided_in_review,
            decided_to_act=decided_to_act,
            decided_not_to_act=decided_not_to_act,
            notes_needing_ratings=notes_needing_ratings,
            notes_helpful=notes_helpful,
            notes_not_helpful=notes_not_helpful,
            agreement=agreement,
        )

        return consensus
