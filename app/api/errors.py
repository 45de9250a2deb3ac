"""Error bodies: ``{"detail": …}``, a list of problems for a 422, a sentence for everything else (Spec: Errors)."""

import json
from collections.abc import Mapping
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
LONGEST_INPUT = 500
"""Characters of a text, and members of a container, that ``input`` repeats."""


def render(explained: Explained) -> Response:
    """The response of an error, ``application/json``."""
    detail: Any = explained.detail
    if explained.problems:
        detail = [_item(problem) for problem in explained.problems]
    response = Response(json.dumps({"detail": detail}), explained.status, mimetype="application/json")
    response.headers.update(explained.headers)
    return response


def from_pydantic(error: ValidationError, prefix: tuple[str, ...]) -> Invalid:
    """The problems that pydantic found, their paths starting with ``prefix`` (``body, data, attributes``)."""
    return Located(
        *(
            Problem(
                item["type"],
                (*prefix, *item["loc"]),
                NO_OBJECT if item["type"] == "dict_type" else item["msg"],
                item["input"],
            )
            for item in error.errors(include_url=False, include_context=False)
        )
    )


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
    shown = HIDDEN if any(_is_secret(part) for part in loc) else _shown(problem.input)
    return {"type": problem.type, "loc": loc, "msg": problem.msg, "input": shown}


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


def _shown(value: Any, depth: int = 0) -> Any:
    """A value fit to be repeated: short, without secrets, plain JSON."""
    if isinstance(value, str):
        return value if len(value) <= LONGEST_INPUT else value[:LONGEST_INPUT] + "…"
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth >= 4:
        return "…"
    if isinstance(value, Mapping):
        members = list(value.items())[:50]
        return {
            _shown(str(name)): HIDDEN if _is_secret(name) else _shown(member, depth + 1)
            for name, member in members
        }
    if isinstance(value, list | tuple):
        return [_shown(one, depth + 1) for one in value[:50]]
    return str(value)[:LONGEST_INPUT]
