"""Scores how much of a post is written in capitals. It runs in the service's process and sends nothing."""

from collections.abc import Mapping, Sequence

from app.core.services.kinds import Answer, Connection, Kind, Option


class Shouting:
    def __init__(self, connection: Connection) -> None:
        self._least = int(connection.options.get("least") or 10)

    def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
        return [Answer({"capitals": self._share(text)}, "capitals-1", calibrated=False) for text in texts]

    def _share(self, text: str) -> float:
        letters = [letter for letter in text if letter.isalpha()]
        capitals = sum(letter.isupper() for letter in letters)
        return capitals / len(letters) if len(letters) >= self._least else 0.0


def category_map(_options: Mapping[str, str]) -> Mapping[str, str | None]:
    return {"capitals": "toxicity"}


KIND = Kind(
    name="shouting",
    title="Shouting",
    about="How much of a post is in capitals. An example of an installed package.",
    connect=Shouting,
    category_map=category_map,
    calls_out=False,
    has_model=False,
    batch=16,
    options=(Option("least", "Letters a post must have", hint="Shorter posts score 0.", default="10"),),
)
