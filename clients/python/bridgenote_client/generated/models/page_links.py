from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="PageLinks")


@_attrs_define
class PageLinks:
    """Absolute URLs of a list; null if there is no such page.

    Attributes:
        self_ (str): Absolute URL of this resource, or of this page of the list.
        describedby (str): Absolute URL of the OpenAPI document.
        first (None | str): Absolute URL of the first page.
        prev (None | str): Absolute URL of the page before; null on the first page.
        next_ (None | str): Absolute URL of the page after; null on the last page.
        last (None | str): Absolute URL of the last page.
    """

    self_: str
    describedby: str
    first: None | str
    prev: None | str
    next_: None | str
    last: None | str

    def to_dict(self) -> dict[str, Any]:
        self_ = self.self_

        describedby = self.describedby

        first: None | str
        first = self.first

        prev: None | str
        prev = self.prev

        next_: None | str
        next_ = self.next_

        last: None | str
        last = self.last

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "self": self_,
                "describedby": describedby,
                "first": first,
                "prev": prev,
                "next": next_,
                "last": last,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        self_ = d.pop("self")

        describedby = d.pop("describedby")

        def _parse_first(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        first = _parse_first(d.pop("first"))

        def _parse_prev(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        prev = _parse_prev(d.pop("prev"))

        def _parse_next_(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_ = _parse_next_(d.pop("next"))

        def _parse_last(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        last = _parse_last(d.pop("last"))

        page_links = cls(
            self_=self_,
            describedby=describedby,
            first=first,
            prev=prev,
            next_=next_,
            last=last,
        )

        return page_links
