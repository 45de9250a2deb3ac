from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="Activity")


@_attrs_define
class Activity:
    """Activity totals. Each `…_last_7_days` is part of the total of the same name.

    Attributes:
        requests (int): How many requests were submitted and not withdrawn.
        requests_last_7_days (int): How many of them in the last 7 days.
        actions (int): How many actions scores or people opened.
        notes (int): How many notes there are, deleted ones left out.
        ratings (int): How many ratings the current texts of notes have.
        ratings_last_7_days (int): How many of them are of the last 7 days.
        raters (int): How many people those ratings are from.
    """

    requests: int
    requests_last_7_days: int
    actions: int
    notes: int
    ratings: int
    ratings_last_7_days: int
    raters: int

    def to_dict(self) -> dict[str, Any]:
        requests = self.requests

        requests_last_7_days = self.requests_last_7_days

        actions = self.actions

        notes = self.notes

        ratings = self.ratings

        ratings_last_7_days = self.ratings_last_7_days

        raters = self.raters

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "requests": requests,
                "requests_last_7_days": requests_last_7_days,
                "actions": actions,
                "notes": notes,
                "ratings": ratings,
                "ratings_last_7_days": ratings_last_7_days,
                "raters": raters,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        requests = d.pop("requests")

        requests_last_7_days = d.pop("requests_last_7_days")

        actions = d.pop("actions")

        notes = d.pop("notes")

        ratings = d.pop("ratings")

        ratings_last_7_days = d.pop("ratings_last_7_days")

        raters = d.pop("raters")

        activity = cls(
            requests=requests,
            requests_last_7_days=requests_last_7_days,
            actions=actions,
            notes=notes,
            ratings=ratings,
            ratings_last_7_days=ratings_last_7_days,
            raters=raters,
        )

        return activity
