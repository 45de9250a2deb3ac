"""Error bodies: ``{"detail": …}`` with a list of problems for a 422 and a sentence for every other status."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import flask
from flask import Response
from pydantic import ValidationError

from app.core.errors import Invalid, Problem
from app.errors import Explained

SECRET_WORDS = ("secret", "password", "token", "code", "api_key", "authorization")
"""A member whose name contains one of these may hold a secret; this also covers misspelt names."""
HIDDEN = "[hidden]"
NO_OBJECT = "Input should be an object"
"""Replaces pydantic's message, which says "dictionary"."""
LISTED = 20
"""How many problems one response lists at most. If there are more, the last item says how many."""
LEFT_OUT = "too_many_problems"
"""The type of that last item."""
LONGEST_INPUT = 500
"""How many characters of a text ``input`` repeats at most."""
INPUT_BUDGET = 2_000
"""Approximate limit, in bytes of JSON, of one ``input``: an error must not be many times longer than the body."""
LONGEST_LOC = 255
"""How many characters of an unknown member's name ``loc`` repeats at most."""


def render(explained: Explained) -> Response:
    """Return the response for an error, ``application/json``."""
    body = json.dumps({"detail": detail_of(explained)})
    response = Response(body, explained.status, mimetype="application/json")
    response.headers.update(explained.headers)
    return response


def detail_of(explained: Explained) -> Any:
    """Return the ``detail`` of an error: a sentence, or the list of problems."""
    if explained.problems:
        return [_item(problem) for problem in limit_problems(explained.problems)]
    return explained.detail


def pydantic_problems(error: ValidationError, prefix: tuple[str | int, ...]) -> list[Problem]:
    """Return pydantic's errors as problems whose paths start with ``prefix`` (``body, data, attributes``)."""
    return [
        Problem(
            item["type"],
            (*prefix, *item["loc"]),
            NO_OBJECT if item["type"] == "dict_type" else item["msg"],
            item["input"],
        )
        for item in error.errors(include_url=False, include_context=False)
    ]


def limit_problems(problems: Sequence[Problem], total: int | None = None) -> Sequence[Problem]:
    """Return at most ``LISTED`` of ``total`` problems. If some are left out, the last item says how many."""
    total = len(problems) if total is None else total
    if total <= LISTED:
        return problems
    listed = problems[: LISTED - 1]
    msg = f"{total - len(listed):,} more problems are not listed"
    return [*listed, Problem(LEFT_OUT, listed[0].loc, msg)]


class Located(Invalid):
    """``Invalid`` with complete paths: each ``loc`` already starts with ``body``, ``query``, ``path`` or ``header``."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*(Problem(p.type, _Complete(p.loc), p.msg, p.input) for p in problems))

    @classmethod
    def at_path(cls, *loc: str, msg: str, value: Any = None, type: str = "value_error") -> "Located":
        """Create the error for one problem at a complete path."""
        return cls(Problem(type, loc, msg, value))


class _Complete(tuple[str | int, ...]):
    """A complete path, which needs no prefix."""

    __slots__ = ()


def _item(problem: Problem) -> dict[str, Any]:
    loc = list(problem.loc) if isinstance(problem.loc, _Complete) else [*_prefix(problem), *problem.loc]
    is_secret = any(_is_secret(part) for part in loc)
    value = _without_userinfo(loc[-1], problem.input) if loc else problem.input
    shown = HIDDEN if is_secret else _Excerpt(INPUT_BUDGET).shorten(value)
    if problem.type == LEFT_OUT:
        loc = loc[:1]  # the problems left out have different paths
    return {"type": problem.type, "loc": [_cut(part) for part in loc], "msg": problem.msg, "input": shown}


def _cut(part: str | int) -> str | int:
    return part[:LONGEST_LOC] + "…" if isinstance(part, str) and len(part) > LONGEST_LOC else part


def _prefix(problem: Problem) -> tuple[str | int, ...]:
    """Return where in this request the core's field came from: body (in its actual form), query or the path."""
    body_loc: tuple[str | int, ...] | None = flask.g.get("body_loc")
    name = str(problem.loc[0]) if problem.loc else ""
    if name in flask.request.args and name not in flask.g.get("body_members", ()):
        return ("query",)
    if body_loc is not None:
        return body_loc
    return ("path",) if name in (flask.request.view_args or {}) else ("query",)


def _is_secret(member: object) -> bool:
    return any(word in str(member).lower() for word in SECRET_WORDS)


_USERINFO = re.compile(r"://.*@", re.DOTALL)
_CUT_USERINFO = re.compile(r"://.*\Z", re.DOTALL)
_PARAMETER = re.compile(rf"([?&;][^=&;#\s]*(?:{'|'.join(SECRET_WORDS)})[^=&;#\s]*=)[^&;#\s]+", re.IGNORECASE)


def hide_secrets(text: str, *, is_cut: bool = False) -> str:
    """Hide what URLs in a text may hold: a user name with a password, and parameters named like a secret.

    ``is_cut``: the text goes on, so a URL at its end may have an ``@`` that was cut off.
    """
    text = _USERINFO.sub(f"://{HIDDEN}@", text)
    if is_cut:
        text = _CUT_USERINFO.sub(f"://{HIDDEN}", text)
    return _PARAMETER.sub(rf"\g<1>{HIDDEN}", text)


def _without_userinfo(member: object, value: Any) -> Any:
    """Hide what stands before the last ``@`` of a URL, with a scheme or without: it may be a password."""
    if isinstance(value, str) and "url" in str(member).lower() and "@" in value:
        return f"{HIDDEN}@{value.rpartition('@')[2]}"
    return value


class _Excerpt:
    """Prepares a value of the request for repetition in an error: short, without secrets, plain JSON.

    ``left`` is how many bytes of JSON may still be used. It also bounds the work.
    """

    def __init__(self, left: int) -> None:
        self._left = left

    def shorten(self, value: Any, depth: int = 0) -> Any:
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
                shown = _without_userinfo(name, member)
                members[self._text(str(name))] = HIDDEN if hidden else self.shorten(shown, depth + 1)
            return members
        if isinstance(value, list | tuple):
            items: list[Any] = []
            for item in value:
                if self._left <= 0:
                    items.append(f"… {len(value)} items")
                    break
                items.append(self.shorten(item, depth + 1))
            return items
        return self._text(str(value))

    def _text(self, value: str) -> str:
        text = hide_secrets(value[:LONGEST_INPUT], is_cut=len(value) > LONGEST_INPUT)
        is_whole = len(value) <= LONGEST_INPUT
        if len(json.dumps(text)) > self._left:
            text = text[: max(0, self._left) // 12]  # a character takes up to twelve bytes of JSON
            is_whole = False
        self._left -= len(json.dumps(text)) + 2
        return text if is_whole else text + "…"
