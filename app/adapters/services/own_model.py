"""An operator's own model over HTTP, by the small protocol of docs/run/classifiers.md."""

from collections.abc import Sequence

from app.adapters.services.http import bearer, member, model_of, post_json
from app.core.services.kinds import Answer, CategoryMap, Connection, Failure, Kind
from app.core.texts import lazy_gettext

CATEGORY_MAP: CategoryMap = {
    name: name for name in ("toxicity", "hate", "threat", "sexual", "self_harm", "spam", "pii")
}


class OwnModel:
    """Sends ``{"texts": […], "model": …}``; expects ``{"model": …, "results": [{"scores": {name: 0..1}}]}``.

    A result, or the whole answer, may say ``"calibrated": true``; otherwise its scores never act without review.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
        body = {"texts": list(texts), "images": list(images), "model": self._connection.model}
        answer = post_json(self._connection, self._connection.url, body, bearer(self._connection))
        results = member(answer, "results", list)
        if len(results) != len(texts):
            raise Failure(f"broken answer: {len(results)} results for {len(texts)} texts")
        return [
            Answer(
                {
                    name: value
                    for name, value in member(result, "scores", dict).items()
                    if value is not None  # null: not scored
                },
                model_of(answer),
                calibrated=result.get("calibrated", answer.get("calibrated")) is True,
            )
            for result in results
        ]


KIND = Kind(
    name="http",
    title=lazy_gettext("Your own model over HTTP"),
    about=lazy_gettext(
        "A server of yours that takes texts as JSON and answers with scores (docs/run/classifiers.md)."
    ),
    connect=OwnModel,
    category_map=lambda _options: CATEGORY_MAP,
    url_hint=lazy_gettext(
        "The whole address that texts are posted to, such as https://models.example.org/score"
    ),
    batch=16,
    max_chars=20_000,
    takes_images=True,
)
