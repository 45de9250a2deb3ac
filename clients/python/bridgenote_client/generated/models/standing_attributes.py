from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

if TYPE_CHECKING:
    from ..models.shown_strike import ShownStrike


T = TypeVar("T", bound="StandingAttributes")


@_attrs_define
class StandingAttributes:
    """The standing of an author in one community.

    Attributes:
        posts (int): Posts by this author, without those that were withdrawn.
        hidden (int): How many of them are hidden now.
        open_ (int): How many wait in the review queue.
        reports (int): Reports of their newest 2,000 posts, without those that were withdrawn.
        strikes (list[ShownStrike]): The strikes that count now, newest first.
        is_silenced (bool): Whether a silence is in force.
        silenced_until (datetime.datetime | None): When the silence in force ends; null if there is none, or it has no
            end.
        created_at (datetime.datetime): When this was stored here.
        updated_at (datetime.datetime): When this last changed here.
    """

    posts: int
    hidden: int
    open_: int
    reports: int
    strikes: list[ShownStrike]
    is_silenced: bool
    silenced_until: datetime.datetime | None
    created_at: datetime.datetime
    updated_at: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        posts = self.posts

        hidden = self.hidden

        open_ = self.open_

        reports = self.reports

        strikes = []
        for strikes_item_data in self.strikes:
            strikes_item = strikes_item_data.to_dict()
            strikes.append(strikes_item)

        is_silenced = self.is_silenced

        silenced_until: None | str
        if isinstance(self.silenced_until, datetime.datetime):
            silenced_until = self.silenced_until.isoformat()
        else:
            silenced_until = self.silenced_until

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "posts": posts,
                "hidden": hidden,
                "open": open_,
                "reports": reports,
                "strikes": strikes,
                "is_silenced": is_silenced,
                "silenced_until": silenced_until,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.shown_strike import ShownStrike

        d = dict(src_dict)
        posts = d.pop("posts")

        hidden = d.pop("hidden")

        open_ = d.pop("open")

        reports = d.pop("reports")

        strikes = []
        _strikes = d.pop("strikes")
        for strikes_item_data in _strikes:
            strikes_item = ShownStrike.from_dict(strikes_item_data)

            strikes.append(strikes_item)

        is_silenced = d.pop("is_silenced")

        def _parse_silenced_until(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                silenced_until_type_0 = datetime.datetime.fromisoformat(data)

                return silenced_until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        silenced_until = _parse_silenced_until(d.pop("silenced_until"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        standing_attributes = cls(
            posts=posts,
            hidden=hidden,
            open_=open_,
            reports=reports,
            strikes=strikes,
            is_silenced=is_silenced,
            silenced_until=silenced_until,
            created_at=created_at,
            updated_at=updated_at,
        )

        return standing_attributes
