"""OpenAI's moderation endpoint, and servers that speak the same protocol."""

from collections.abc import Mapping, Sequence
from typing import Any

from app.adapters.services.http import bearer, member, model_of, post_json
from app.core.classify.vendor_names import OPENAI
from app.core.services.kinds import Answer, CategoryMap, Connection, Failure, Kind
from app.core.texts import lazy_gettext

CATEGORY_MAP: CategoryMap = {name: ours.category for name, ours in OPENAI.items()}
BATCH = 16


class OpenAiModeration:
    """Sends texts as an array of strings, which gives one result for each.

    An array of typed parts is one item with one result, whatever the number of parts: only images are sent like
    that, each with the text beside it.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._url = connection.url.rstrip("/") + "/moderations"

    def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
        if not images:
            return self._results(list(texts), len(texts))
        if len(texts) != 1:
            raise Failure("images belong to one text", retry=False)
        answers = [self._results(_parts(texts[0], image), 1)[0] for image in images]
        scores: dict[str, float] = {}
        for answer in answers:
            for name, value in answer.scores.items():
                scores[name] = max(value, scores.get(name, 0.0))
        return [Answer(scores, answers[0].model)]

    def _results(self, given: Any, count: int) -> list[Answer]:
        body = {"model": self._connection.model, "input": given}
        answer = post_json(self._connection, self._url, body, bearer(self._connection))
        results = member(answer, "results", list)
        if len(results) != count:
            raise Failure(f"broken answer: {len(results)} results for {count} texts")
        has_images = any(isinstance(part, dict) and part["type"] == "image_url" for part in given)
        return [Answer(_scores(result, has_images), model_of(answer)) for result in results]


def _parts(text: str, image: str) -> list[dict[str, Any]]:
    said = [{"type": "text", "text": text}] if text.strip() else []
    return [*said, {"type": "image_url", "image_url": {"url": image}}]


def _scores(result: Any, has_images: bool) -> dict[str, float]:
    """The scores of the categories that the model applied to this input.

    A category that it did not apply has the score 0, which says nothing; null and missing scores say nothing either.
    """
    scores: Mapping[str, Any] = member(result, "category_scores", dict)
    applied = result.get("category_applied_input_types")
    kinds = {"text", "image"} if has_images else {"text"}
    return {
        name: value
        for name, value in scores.items()
        if value is not None and (not isinstance(applied, dict) or kinds & set(applied.get(name) or ()))
    }


KIND = Kind(
    name="openai_moderation",
    title=lazy_gettext("OpenAI moderation"),
    about=lazy_gettext("OpenAI's moderation model, or a server that speaks its protocol."),
    connect=OpenAiModeration,
    category_map=lambda _options: CATEGORY_MAP,
    url="https://api.openai.com/v1",
    model="omni-moderation-2024-09-26",
    needs_model=True,
    needs_key=True,
    takes_images=True,
    batch=BATCH,
    max_chars=20_000,
)
