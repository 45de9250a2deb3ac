"""Azure AI Content Safety: severities 0 to 7 in four categories, one text a request."""

from collections.abc import Sequence

from app.adapters.services.http import member, post_json
from app.core.services.kinds import Answer, CategoryMap, Connection, Failure, Kind
from app.core.texts import lazy_gettext

API_VERSION = "2024-09-01"
SEVEREST = 7
CATEGORY_MAP: CategoryMap = {
    "Hate": "hate",
    "SelfHarm": "self_harm",
    "Sexual": "sexual",
    "Violence": "threat",
}


class AzureContentSafety:
    """A severity counts as a seventh: 7 is the score 1.0. Severities are no probabilities, so they are uncalibrated."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._url = f"{connection.url.rstrip('/')}/contentsafety/text:analyze?api-version={API_VERSION}"

    def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
        if len(texts) != 1 or images:
            raise Failure("it takes one text a request", retry=False)
        body = {
            "text": texts[0],
            "categories": list(CATEGORY_MAP),
            "outputType": "EightSeverityLevels",
        }
        headers = {"Ocp-Apim-Subscription-Key": self._connection.key}
        answer = post_json(self._connection, self._url, body, headers)
        scores: dict[str, float] = {}
        for item in member(answer, "categoriesAnalysis", list):
            name, severity = member(item, "category", str), member(item, "severity", int)
            if isinstance(severity, bool) or not 0 <= severity <= SEVEREST:
                raise Failure("broken answer: a severity outside 0 to 7")
            scores[name] = round(severity / SEVEREST, 4)
        # The answer names no model; the API version is what can be pinned.
        return [Answer(scores, f"api {API_VERSION}", calibrated=False)]


KIND = Kind(
    name="azure_content_safety",
    title="Azure AI Content Safety",
    about=lazy_gettext(
        "Microsoft's text analysis with severities from 0 to 7. They are no probabilities, so "
        "they never act alone."
    ),
    connect=AzureContentSafety,
    category_map=lambda _options: CATEGORY_MAP,
    url_hint=lazy_gettext(
        "The endpoint of your resource, such as https://example.cognitiveservices.azure.com"
    ),
    has_model=False,
    needs_key=True,
    max_chars=10_000,
)
