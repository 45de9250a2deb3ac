from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

T = TypeVar("T", bound="ValidationProblem")


@_attrs_define
class ValidationProblem:
    """One thing that is wrong with a call.

    Attributes:
        type_ (str): What kind of problem, such as `missing`.
        loc (list[int | str]): Where: starts with `body`, `query`, `path` or `header`.
        msg (str): The problem in words.
        input_ (Any): What stood there, shortened; secrets are hidden.
    """

    type_: str
    loc: list[int | str]
    msg: str
    input_: Any

    def to_dict(self) -> dict[str, Any]:
        type_ = self.type_

        loc = []
        for loc_item_data in self.loc:
            loc_item: int | str
            loc_item = loc_item_data
            loc.append(loc_item)

        msg = self.msg

        input_ = self.input_

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "type": type_,
                "loc": loc,
                "msg": msg,
                "input": input_,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        type_ = d.pop("type")

        loc = []
        _loc = d.pop("loc")
        for loc_item_data in _loc:

            def _parse_loc_item(data: object) -> int | str:
                return cast(int | str, data)

            loc_item = _parse_loc_item(loc_item_data)

            loc.append(loc_item)

        msg = d.pop("msg")

        input_ = d.pop("input")

        validation_problem = cls(
            type_=type_,
            loc=loc,
            msg=msg,
            input_=input_,
        )

        return validation_problem
