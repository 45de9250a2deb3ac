"""OpenAI's embeddings endpoint, and the many servers that speak its protocol (vLLM, Ollama, LM Studio, llama.cpp …)."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.adapters.services.http import bearer, member, model_of, post_json
from app.core import texts
from app.core.errors import Invalid
from app.core.services.kinds import Connection, Embeddings, Failure, Kind, Option, scores_nothing
from app.core.texts import gettext as _
from app.core.texts import lazy_gettext

ANSWER_BYTES = 8 * 1024 * 1024
"""A vector of 3,072 numbers takes up to 70 KB as JSON, and a call asks for 32."""
DIMENSIONS_MAX = 4_096
PREFIX_MAX = 200


class OpenAiEmbeddings:
    """Sends texts as an array of strings. The vectors come as plain numbers, which every such server can send."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._url = connection.url.rstrip("/") + "/embeddings"

    def embed(self, texts: Sequence[str]) -> Embeddings:
        body: dict[str, Any] = {"model": self._connection.model, "input": list(texts)}
        if self._connection.options.get("dimensions"):
            body["dimensions"] = int(self._connection.options["dimensions"])
        answer = post_json(self._connection, self._url, body, bearer(self._connection), ANSWER_BYTES)
        found: dict[Any, Sequence[float]] = {}
        for place, row in enumerate(member(answer, "data", list)):
            vector = member(row, "embedding", list)
            # The protocol numbers its answers, and does not promise their order.
            found[row.get("index", place)] = vector
        if found.keys() != set(range(len(texts))):
            raise Failure(f"broken answer: {len(found)} vectors for {len(texts)} texts")
        vectors = [found[place] for place in range(len(texts))]
        return Embeddings(vectors, model_of(answer))


def _check(options: Mapping[str, str]) -> None:
    written = options.get("dimensions", "")
    if written and not (re.fullmatch(r"[0-9]{1,4}", written) and 1 <= int(written) <= DIMENSIONS_MAX):
        raise Invalid.field(
            "dimensions", _("must be a whole number from 1 to %(most)s", most=texts.number(DIMENSIONS_MAX))
        )
    for name in ("post_prefix", "item_prefix"):
        if len(options.get(name, "")) > PREFIX_MAX:
            raise Invalid.field(name, _("must be at most %(most)s characters", most=PREFIX_MAX))


KIND = Kind(
    name="embeddings",
    title=lazy_gettext("Embeddings"),
    about=(
        lazy_gettext(
            "OpenAI's embeddings, or any server that speaks its protocol (vLLM, Ollama, LM Studio). "
            "It scores nothing: it helps to find the fact-checks that say what a post says in other "
            "words."
        )
    ),
    connect=scores_nothing,
    embed=OpenAiEmbeddings,
    check=_check,
    url="https://api.openai.com/v1",
    url_hint=lazy_gettext(
        "Up to the version, such as https://api.openai.com/v1. https only, but for hosts of your "
        "own that the settings of this installation allow."
    ),
    model="text-embedding-3-small",
    needs_model=True,
    batch=32,
    max_chars=2_000,
    options=(
        Option(
            "dimensions",
            lazy_gettext("Numbers in a vector"),
            lazy_gettext(
                "Empty: as many as the model gives. Fewer need less memory; not every model can shorten "
                "its vectors."
            ),
        ),
        Option(
            "post_prefix",
            lazy_gettext("Written before a post"),
            lazy_gettext("Some models want one, such as “query:”. A space follows it."),
        ),
        Option(
            "item_prefix",
            lazy_gettext("Written before a fact-check"),
            lazy_gettext("Some models want one, such as “passage:”."),
        ),
    ),
)
