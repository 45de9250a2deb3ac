"""Query parameters: refuse unknown ones and parse the others (docs/integrate/api.md)."""

from dataclasses import replace
from typing import TypeVar
from urllib.parse import unquote, unquote_to_bytes

from flask import Request
from pydantic import BaseModel, ValidationError

from app.api.errors import Located, pydantic_problems
from app.core.errors import Malformed, Problem

_FAMILIES = ("filter", "page", "field", "sort", "include")

Model = TypeVar("Model", bound=BaseModel)


def names(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of the parameters that a query model reads."""
    return frozenset(field.alias or name for name, field in model.model_fields.items())


def check(request: Request, allowed: frozenset[str]) -> None:
    """Refuse (400) repeated parameters, and unknown ones that may mean a filter, a page, fields, an order, an include.

    Those are in every spelling: ``Filter[…]``, ``filters.…``, encoded twice. Passed over, one would give the caller
    everything instead of the part that was asked for.
    """
    try:
        unquote_to_bytes(request.query_string).decode("utf-8")
    except UnicodeDecodeError as error:
        raise Malformed("The query is not UTF-8") from error
    for name, values in request.args.lists():
        if len(values) > 1:
            raise Malformed(f"Query parameter {name[:100]} is repeated")
        if name not in allowed and _decoded(name).startswith(_FAMILIES):
            known = ", ".join(sorted(allowed)) or "none"
            raise Malformed(f"Unknown query parameter {name[:100]}; this call reads: {known}")


def _decoded(name: str) -> str:
    """The name in lower case without what encoding it once more, or several times, put into it."""
    while (decoded := unquote(name)) != name:
        name = decoded
    return name.strip().lower()


def read(request: Request, model: type[Model]) -> Model:
    """Parse the query as ``model``. A bad value is 422, with ``loc`` such as ``query, page[size]``."""
    try:
        return model.model_validate(request.args.to_dict())
    except ValidationError as error:
        problems = pydantic_problems(error, ("query",))
        raise Located(*(_as_sent(problem, request) for problem in problems)) from error


def _as_sent(problem: Problem, request: Request) -> Problem:
    """The problem with the parameter's text as ``input``; pydantic may report what that text was converted to."""
    return replace(problem, input=request.args.get(str(problem.loc[1]), problem.input))
