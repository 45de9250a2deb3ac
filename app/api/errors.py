"""Error bodies: ``{"detail": …}``, a list of problems for a 422, a sentence for everything else."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import flask
from flask import Response
from pydantic import ValidationError

from app.core.errors import Invalid, Problem
from app.errors import Explained

SECRET_WORDS = ("secret", "password", "token", "code", "api_key", "authorization")
"""A member whose name holds one of these may carry a secret, also where its name is not the right one."""
HIDDEN = "[hidden]"
NO_OBJECT = "Input should be an object"
"""JSON's word for it; pydantic speaks of dictionaries."""
LISTED = 20
"""Problems that one answer lists; the last of them says how many more there are."""
LEFT_OUT = "too_many_problems"
"""The type of that last one."""
LONGEST_INPUT = 500
"""Characters of a text that ``input`` repeats."""
INPUT_BUDGET = 2_000
"""Bytes of JSON that one ``input`` takes at most, or a little more: a body must not come back many times as long."""
LONGEST_LOC = 255
"""Characters of an unknown member's name that ``loc`` repeats."""


def render(explained: Explained) -> Response:
    """The response of an error, ``application/json``."""
    detail: Any = explained.detail
    if explained.problems:
        detail = [_item(problem) for problem in shortened(explained.problems)]
    response = Response(json.dumps({"detail": detail}), explained.status, mimetype="application/json")
    response.headers.update(explained.headers)
    return response


def found_by_pydantic(error: ValidationError, prefix: tuple[str, ...]) -> list[Problem]:
    """The problems that pydantic found, their paths starting with ``prefix`` (``body, data, attributes``)."""
    return [
        Problem(
            item["type"],
            (*prefix, *item["loc"]),
            NO_OBJECT if item["type"] == "dict_type" else item["msg"],
            item["input"],
        )
        for item in error.errors(include_url=False, include_context=False)
    ]


def shortened(problems: Sequence[Problem], total: int | None = None) -> Sequence[Problem]:
    """At most ``LISTED`` of ``total`` problems, the last in place of all that are left out."""
    total = len(problems) if total is None else total
    if total <= LISTED:
        return problems
    shown = problems[: LISTED - 1]
    left = f"{total - len(shown):,} more problems are not listed"
    return [*shown, Problem(LEFT_OUT, shown[0].loc, left)]


class Located(Invalid):
    """Invalid with complete paths: each ``loc`` already starts with ``body``, ``query``, ``path`` or ``header``."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*(Problem(p.type, _Complete(p.loc), p.msg, p.input) for p in problems))

    @classmethod
    def at(cls, *loc: str, msg: str, value: Any = None, type: str = "value_error") -> "Located":
        """One problem at a complete path."""
        return cls(Problem(type, loc, msg, value))


class _Complete(tuple[str | int, ...]):
    """A path that needs no prefix."""

    __slots__ = ()


def _item(problem: Problem) -> dict[str, Any]:
    loc = list(problem.loc) if isinstance(problem.loc, _Complete) else [*_prefix(problem), *problem.loc]
    is_secret = any(_is_secret(part) for part in loc)
    shown = HIDDEN if is_secret else _Excerpt(INPUT_BUDGET).of(problem.input)
    if problem.type == LEFT_OUT:
        loc = loc[:1]  # those that are left out have paths of their own
    return {"type": problem.type, "loc": [_cut(part) for part in loc], "msg": problem.msg, "input": shown}


def _cut(part: str | int) -> str | int:
    return part[:LONGEST_LOC] + "…" if isinstance(part, str) and len(part) > LONGEST_LOC else part


def _prefix(problem: Problem) -> tuple[str, ...]:
    """Where the core's bare field name stood in this request: as its body was shaped, or in its query or path."""
    read: tuple[str, ...] | None = flask.g.get("body_loc")
    name = str(problem.loc[0]) if problem.loc else ""
    if name in flask.request.args and name not in flask.g.get("body_members", ()):
        return ("query",)
    if read is not None:
        return read
    return ("path",) if name in (flask.request.view_args or {}) else ("query",)


def _is_secret(member: object) -> bool:
    return any(word in str(member).lower() for word in SECRET_WORDS)


class _Excerpt:
    """Makes a value fit to be repeated: short, without secrets, plain JSON.

    ``left`` is how many bytes of JSON it may still take. Work is bounded by it too.
    """

    def __init__(self, left: int) -> None:
        self._left = left

    def of(self, value: Any, depth: int = 0) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if value is None or isinstance(value, bool | int | float):
            self._left -= len(json.dumps(value)) + 2
            return value
        if depth >= 4:
            return "…"
        self._left -= 4
        if isinstance(value, Mapping):
            members: dict[str, Any] = {}
            for name, member in value.items():
                if self._left <= 0:
                    members["…"] = f"{len(value)} members"
                    break
                hidden = _is_secret(name)
                members[self._text(str(name))] = HIDDEN if hidden else self.of(member, depth + 1)
            return members
        if isinstance(value, list | tuple):
            items: list[Any] = []
            for item in value:
                if self._left <= 0:
                    items.append(f"… {len(value)} items")
                    break
                items.append(self.of(item, depth + 1))
            return items
        return self._text(str(value))

    def _text(self, value: str) -> str:
        text = value[:LONGEST_INPUT]
        if len(json.dumps(text)) > self._left:
            text = text[: max(0, self._left) // 12]  # a character takes up to twelve bytes of JSON
        self._left -= len(json.dumps(text)) + 2
        return text if len(text) == len(value) else text + "…"
