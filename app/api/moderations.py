"""OpenAI's ``/v1/moderations``, answered with our scores (docs/doors.md)."""

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

import flask
from flask import Response

from app.api import doors
from app.api.field_clients import answer
from app.core import limits
from app.core.classify import Context
from app.core.classify.vendor_names import OPENAI
from app.core.errors import Malformed
from app.core.requests.text_scores import TextScores


class _Moderate(doors.Lenient):
    input: str | list[Any]
    model: str = ""


@doors.doors.post("/v1/moderations")
def create_moderation() -> Response:
    """Score texts in OpenAI's categories. ``model`` may be any name; the answer names what scored."""
    body = doors.read_body(_Moderate, limits.SCORES_BODY_MAX_BYTES)
    texts = _inputs(body.input)
    if any(len(text) > limits.CONTENT_MAX for text in texts):
        raise Malformed(f"Invalid value at input: at most {limits.CONTENT_MAX:,} characters each")
    scorers, community_id = doors.scorers()
    results = doors.score_all(scorers, texts, Context(community_id), OPENAI.values())
    raised_above = {rule.name: rule.tier2 for rule in scorers.rules if rule.enabled}
    return answer(
        {
            "id": f"modr-{uuid.uuid4().hex}",
            "model": f"bridgenote-{flask.current_app.config['VERSION']}",
            "results": [_moderation(result, raised_above) for result in results],
        }
    )


def _inputs(given: str | list[Any]) -> list[str]:
    """Return the texts to score: strings are one result each, typed parts are one result together.

    Raises:
        Malformed: neither, too many, or nothing but images, which are not looked at.
    """
    items = [given] if isinstance(given, str) else given
    if not 1 <= len(items) <= limits.SCORED_TEXTS.number:
        raise Malformed(f"Invalid value at input: 1 to {limits.SCORED_TEXTS.number} items")
    if not all(isinstance(item, str) for item in items):
        items = _of_parts(items)
    return [limits.storable(item, "input") for item in items]


def _of_parts(parts: Sequence[Any]) -> list[str]:
    texts = []
    for place, part in enumerate(parts):
        kind = part.get("type") if isinstance(part, dict) else None
        text = part.get("text") if kind == "text" else None
        if kind not in ("text", "image_url") or (kind == "text" and not isinstance(text, str)):
            raise Malformed(
                f"Invalid value at input.{place}: strings, or parts of the type text or image_url"
            )
        if text is not None:
            texts.append(text)
    if not texts:
        raise Malformed(
            "Invalid value at input: images are not scored here, and there is no text beside them"
        )
    return ["\n".join(texts)]


def _moderation(result: TextScores, raised_above: Mapping[str, float]) -> dict[str, Any]:
    """Return a result. A category that was not scored is false and 0, and has no input type."""
    scores = {name: result.score_of(ours.category) for name, ours in OPENAI.items()}
    raised = {
        name: value is not None and value > raised_above.get(str(OPENAI[name].category), 1.0)
        for name, value in scores.items()
    }
    return {
        "flagged": any(raised.values()),
        "categories": raised,
        "category_scores": {name: value or 0.0 for name, value in scores.items()},
        "category_applied_input_types": {
            name: [] if value is None else ["text"] for name, value in scores.items()
        },
    }
