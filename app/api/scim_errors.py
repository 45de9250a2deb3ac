"""Errors of SCIM calls in the form of RFC 7644, 3.12: the status, a sentence, and a word for what is wrong."""

from flask import Response
from scim2_models import Context, Error

from app.errors import Explained

ROOT = "/scim"
MEDIA_TYPE = "application/scim+json"


def render(explained: Explained) -> Response:
    """Return the response for an error. A value that breaks a rule is a 400 here."""
    if explained.problems:
        problem = explained.problems[0]
        path = ".".join(str(part) for part in problem.loc)
        response = answer(400, f"{path}: {problem.msg}", "invalidValue")
    else:
        status = 400 if explained.status == 422 else explained.status
        response = answer(status, explained.detail, "invalidSyntax" if status == 400 else None)
    response.headers.update(explained.headers)
    return response


def answer(status: int, detail: str, scim_type: str | None = None) -> Response:
    """Return an error; ``scim_type`` is a word of RFC 7644, table 9."""
    error = Error(status=status, detail=detail[:1_000], scim_type=scim_type)
    return Response(error.model_dump_json(scim_ctx=Context.DEFAULT), status, content_type=MEDIA_TYPE)
