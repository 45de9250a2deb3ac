"""Perspective's ``comments:analyze`` and ``comments:suggestscore``, answered with our scores (docs/doors.md)."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import flask
from apiflask import APIBlueprint
from flask import Response
from pydantic import Field
from werkzeug.exceptions import NotFound

from app.api import doors
from app.api.blueprints import check_query_names
from app.api.documents.discovery import VERSION, discovery_document
from app.api.field_clients import answer
from app.api.schemas.scores import Language
from app.api.shapes import STORABLE
from app.core import limits
from app.core.classify import Context
from app.core.classify.language import language_of
from app.core.classify.vendor_names import PERSPECTIVE
from app.core.requests.text_scores import TextScores
from app.wiring import base_url

ANALYZE_ERROR = "type.googleapis.com/google.commentanalyzer.v1alpha1.Error"
PROBABILITY = "PROBABILITY"

discovery = APIBlueprint("discovery", __name__, enable_openapi=False)
discovery.before_request(check_query_names)


class _Comment(doors.Lenient):
    text: Annotated[str, STORABLE] = ""


class _Attribute(doors.Lenient):
    scoreType: str = PROBABILITY
    scoreThreshold: float = 0.0


class _Suggest(doors.Lenient):
    comment: _Comment = _Comment()
    languages: list[Language] = Field([], max_length=10)
    clientToken: Annotated[str, STORABLE] | None = None


class _Analyze(_Suggest):
    requestedAttributes: dict[str, _Attribute] = Field({}, max_length=100)
    spanAnnotations: bool = False


@doors.doors.post(f"{doors.PERSPECTIVE_PREFIX}/comments:analyze")
def analyze_comment() -> Response:
    """Score one comment in the attributes that the body asks for. Nothing is stored, whatever ``doNotStore`` says."""
    body = doors.read_body(_Analyze)
    text, asked = body.comment.text, body.requestedAttributes
    if not text.strip():
        return _google_refusal("Comment must be non-empty.", {"errorType": "COMMENT_EMPTY"})
    if len(text) > limits.CONTENT_MAX:
        return _google_refusal("Comment text too long.", {"errorType": "COMMENT_TOO_LONG"})
    if not asked:
        return _google_refusal("Missing requested_attributes", {"errorType": "NO_REQUESTED_ATTRIBUTES"})
    for name, attribute in asked.items():
        why = ""
        if name not in PERSPECTIVE:
            why = f"Unknown requested attribute: {name[:100]}"
        elif attribute.scoreType not in (PROBABILITY, "SCORE_TYPE_UNSPECIFIED"):
            kind = attribute.scoreType[:100]
            why = f"Requested score type {kind} is not supported by attribute {name}"
        if why:
            return _google_refusal(why, {"errorType": "INVALID_REQUEST"})
    detected = language_of(text)
    languages = body.languages or ([detected] if detected is not None else [])
    scorers, community_id = doors.scorers()
    context = Context(community_id, languages[0] if languages else None)
    (result,) = doors.score_all(scorers, [text], context, [PERSPECTIVE[name] for name in asked])
    scores = {name: result.score_of(PERSPECTIVE[name].category) for name in asked}
    if missing := [name for name, value in scores.items() if value is None]:
        return _google_refusal(
            f"Attribute {missing[0]} does not support request languages: {', '.join(languages)}",
            *(_unsupported(name, languages, is_asked=bool(body.languages)) for name in missing),
        )
    shown = {
        name: _attribute_score(result, name, value, len(text), has_spans=body.spanAnnotations)
        for name, value in scores.items()
        if value is not None and value >= asked[name].scoreThreshold
    }
    return answer(
        ({"attributeScores": shown} if shown else {})
        | {"languages": languages, "detectedLanguages": [detected] if detected is not None else []}
        | _token(body)
    )


def _unsupported(name: str, languages: Sequence[str], *, is_asked: bool) -> dict[str, Any]:
    which = "requestedLanguages" if is_asked else "detectedLanguages"
    return {
        "errorType": "LANGUAGE_NOT_SUPPORTED_BY_ATTRIBUTE",
        "languageNotSupportedByAttributeError": {which: list(languages), "attribute": name},
    }


def _attribute_score(
    result: TextScores, name: str, value: float, length: int, *, has_spans: bool
) -> dict[str, Any]:
    """Return an attribute's score: of the whole comment, and with ``has_spans`` of the passages that rules matched."""
    category = PERSPECTIVE[name].category
    passages = next(one.passages for one in result.scores if one.category == category) if has_spans else ()
    number = {"value": value, "type": PROBABILITY}
    spans = [{"begin": begin, "end": end, "score": number} for begin, end in passages or [(0, length)]]
    return {"spanScores": spans, "summaryScore": number}


@doors.doors.post(f"{doors.PERSPECTIVE_PREFIX}/comments:suggestscore")
def suggest_score() -> Response:
    """Answer a suggested score, and drop it: people teach here by their decisions."""
    body = doors.read_body(_Suggest)
    return answer({"requestedLanguages": body.languages} | _token(body))


def _token(body: _Suggest) -> dict[str, Any]:
    return {"clientToken": body.clientToken} if body.clientToken is not None else {}


def _google_refusal(message: str, *details: Mapping[str, Any]) -> Response:
    """Return Perspective's 400 for a comment."""
    body = doors.google_error(400, message)
    body["error"]["details"] = [{"@type": ANALYZE_ERROR, **detail} for detail in details]
    return answer(body, 400)


@discovery.get("/$discovery/rest")
def read_discovery() -> Response:
    """Return the document that Google's clients build these calls from. No key is needed."""
    if flask.request.args.get("version", VERSION) != VERSION:
        raise NotFound(f"The version is {VERSION}")
    return answer(discovery_document(base_url()))
