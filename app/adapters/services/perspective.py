"""Servers that speak Perspective's ``comments:analyze``: one text a request, a probability for each attribute."""

import math
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from app.adapters.services.http import Refusal, member, post_json, read_object
from app.core.classify.language import language_of
from app.core.classify.vendor_names import PERSPECTIVE
from app.core.services.kinds import ASK_WHEN, Answer, CategoryMap, Connection, Failure, Kind
from app.core.texts import lazy_gettext

CATEGORY_MAP: CategoryMap = {name: ours.category for name, ours in PERSPECTIVE.items()}
_UNSUPPORTED_KEPT = 1_000
_unsupported: dict[tuple[str, str], frozenset[str]] = {}
"""By address and language, the attributes that a server refused. It forgets all when it is full."""


class Perspective:
    """Asks for the mapped attributes. One that does not support the text's language is left out: not scored."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        key = f"?key={quote(connection.key, safe='')}" if connection.key else ""
        self._url = f"{connection.url.rstrip('/')}/comments:analyze{key}"

    def ask(self, texts: Sequence[str], images: Sequence[str] = ()) -> Sequence[Answer]:
        if len(texts) != 1 or images:
            raise Failure("it takes one text a request", retry=False)
        language = language_of(texts[0])
        place = (self._connection.url, language or "")
        end = time.monotonic() + self._connection.deadline
        refused = _unsupported.get(place, frozenset())
        while attributes := [name for name in self._connection.categories if name not in refused]:
            # The deadline is for the whole call, however many requests it takes.
            connection = replace(self._connection, deadline=max(0.001, end - time.monotonic()))
            body = _body(texts[0], attributes, language)
            try:
                return [_scores(post_json(connection, self._url, body, {}, reads_refusal=True), attributes)]
            except Refusal as refusal:
                refused |= _unsupported_in(refusal, attributes)
            if language is not None:
                # Without a language the server guesses one for each text, which says nothing about the next text.
                if len(_unsupported) >= _UNSUPPORTED_KEPT:
                    _unsupported.clear()
                _unsupported[place] = refused
        raise Failure("it scores nothing in the language of this text", retry=False, refused=True)


def _body(text: str, attributes: Sequence[str], language: str | None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "comment": {"text": text},
        "requestedAttributes": {name: {} for name in attributes},
        "doNotStore": True,
    }
    return body if language is None else {**body, "languages": [language]}


def _unsupported_in(refusal: Refusal, attributes: Collection[str]) -> frozenset[str]:
    """The attributes that an error calls unsupported for the language. Raises Refusal: it is about something else."""
    try:
        details = member(member(read_object(refusal.body), "error", dict), "details", list)
        found = [member(detail, "languageNotSupportedByAttributeError", dict) for detail in details]
    except Failure:
        raise refusal from None
    names = frozenset(name for name in attributes if any(about.get("attribute") == name for about in found))
    if not names:
        raise refusal
    return names


def _scores(answer: Mapping[str, Any], attributes: Collection[str]) -> Answer:
    """The scores of the asked attributes; one that the answer leaves out is not scored."""
    scores: dict[str, float] = {}
    is_calibrated = True
    for name, found in member(answer, "attributeScores", dict).items():
        if name in attributes:
            summary = member(found, "summaryScore", dict)
            scores[name] = summary.get("value", math.nan)  # ``calling.checked`` refuses what is no number.
            is_calibrated = is_calibrated and summary.get("type", "PROBABILITY") == "PROBABILITY"
    return Answer(scores, calibrated=is_calibrated)


KIND = Kind(
    name="perspective",
    title="Perspective",
    about=lazy_gettext(
        "Jigsaw's Perspective, or a server that speaks its protocol (comments:analyze). It is "
        "asked not to keep the posts."
    ),
    connect=Perspective,
    category_map=lambda _options: CATEGORY_MAP,
    url="https://commentanalyzer.googleapis.com/v1alpha1",
    url_hint=lazy_gettext(
        "Up to the version, such as https://commentanalyzer.googleapis.com/v1alpha1. https only, "
        "but for hosts of your own that the settings of this installation allow."
    ),
    has_model=False,
    max_chars=5_000,
    options=(ASK_WHEN,),
)
