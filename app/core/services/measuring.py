"""How good a service is on an operator's own examples: texts, each with the categories that apply to it.

The result is kept in the history, without the texts. A model that runs in this process counts only after it.
"""

import json
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits, texts
from app.core.classify import Classifier, Context, Permanent, Retryable
from app.core.classify.language import language_of
from app.core.errors import Invalid
from app.core.history import chain as history
from app.core.history.reason import Reason
from app.core.models import ConnectedService, HistoryEntry
from app.core.permissions import Actor
from app.core.services import reading
from app.core.services.settings import ServiceSettings
from app.core.texts import gettext as _

MEASURED = "service.measured"
FILE_MAX = 1024 * 1024
EXAMPLES = (10, 500)
SECONDS = 20.0


@dataclass(frozen=True)
class Example:
    """A text, and the categories that apply to it."""

    text: str
    categories: frozenset[str]


@dataclass(frozen=True)
class Measured:
    """The result for one version of a service's settings: a sentence for each category and threshold.

    ``model`` is the title of the model and its name in scores, or the name alone.
    """

    model: str
    examples: int
    results: Mapping[str, str]


def read_examples(content: bytes) -> list[Example]:
    """Read examples: a line of JSON each, ``{"text": "…", "categories": ["toxicity"]}``.

    Raises:
        Invalid: at ``examples``, with the number of the line.
    """
    if len(content) > FILE_MAX:
        raise Invalid.field("examples", _("must be at most %(size)s KB", size=texts.number(FILE_MAX // 1024)))
    lines = content.decode("utf-8-sig", "replace").split("\n")
    examples = [_example(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
    least, most = EXAMPLES
    if not least <= len(examples) <= most:
        raise Invalid.field("examples", _("must be %(least)s to %(most)s texts", least=least, most=most))
    return examples


def _example(line: str, number: int) -> Example:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise Invalid.field("examples", _("must have JSON in line %(line)s", line=number)) from None
    text, names = (found.get("text"), found.get("categories")) if isinstance(found, dict) else (None, None)
    if not isinstance(text, str) or not 1 <= len(text) <= limits.CONTENT_MAX:
        raise Invalid.field(
            "examples",
            _(
                "must have a text of 1 to %(most)s characters in line %(line)s",
                most=texts.number(limits.CONTENT_MAX),
                line=number,
            ),
        )
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Invalid.field("examples", _("must have a list of categories in line %(line)s", line=number))
    return Example(text, frozenset(names))


def measure(
    classifier: Classifier,
    examples: Sequence[Example],
    thresholds: Mapping[str, Mapping[str, float]],
    community_id: uuid.UUID,
    seconds: float = SECONDS,
) -> Measured:
    """Ask a service about every example. Call it outside of any transaction.

    ``thresholds``: by whose they are, the score above which a category counts.

    Raises:
        Invalid: at ``examples``: they could not all be scored, or say nothing about what it scores.
    """
    end = time.monotonic() + seconds
    scored: list[tuple[Example, Mapping[str, float]]] = []
    model = ""
    for example in examples:
        context = Context(community_id=community_id, language=language_of(example.text))
        (result,) = classifier.score([example.text], context)
        if isinstance(result.error, Retryable | Permanent):
            raise Invalid.field(
                "examples", _("could not all be scored: %(reason)s", reason=result.error.reason)
            )
        if time.monotonic() > end:
            raise Invalid.field(
                "examples",
                _(
                    "took too long: %(done)s of %(all)s in %(seconds)s seconds",
                    done=texts.number(len(scored)),
                    all=texts.number(len(examples)),
                    seconds=texts.short(seconds),
                ),
            )
        scored.append((example, result.scores))
        model = result.model
    results = {
        f"{category}, above {whose} {value:g}": _result(scored, category, value)
        for category in sorted(classifier.categories)
        for whose, values in thresholds.items()
        if (value := values.get(category)) is not None and _is_known(examples, category)
    }
    if not results:
        raise Invalid.field("examples", _("must have texts with and without a category that it scores"))
    return Measured(model, len(examples), results)


def _is_known(examples: Collection[Example], category: str) -> bool:
    return len({category in example.categories for example in examples}) == 2


def _result(scored: Sequence[tuple[Example, Mapping[str, float]]], category: str, threshold: float) -> str:
    above = [
        (category in example.categories, scores.get(category, 0.0) > threshold) for example, scores in scored
    ]
    positives = sum(applies for applies, _ in above)
    found = sum(applies and is_above for applies, is_above in above)
    wrong = sum(is_above and not applies for applies, is_above in above)
    return f"{found} of {positives} found, {wrong} of {len(above) - positives} others flagged wrongly"


def record(
    session: Session, actor: Actor, service_id: uuid.UUID, number: int, measured: Measured, reason: str
) -> None:
    """Keep a result for one version of a service's settings in the history.

    Raises:
        NotFound: the service or the version.
        Invalid: the reason is missing or too long.
    """
    service = reading.locked(session, actor, service_id, None, reason)
    reading.numbered(session, service, number)
    after = {"name": service.name, "settings_version": number, "model": measured.model}
    after |= {"examples": measured.examples, "results": dict(measured.results)}
    history.record(
        session,
        actor,
        service.community_id,
        MEASURED,
        "service",
        service.id,
        after=after,
        reason=Reason(reason),
    )


def by_version(session: Session, service: ConnectedService) -> Mapping[int, Measured]:
    """The newest result for each version that was measured."""
    rows: Sequence[dict[str, Any]] = session.scalars(
        sa.select(HistoryEntry.after)
        .where(
            HistoryEntry.object_type == "service",
            HistoryEntry.object_id == service.id,
            HistoryEntry.what == MEASURED,
        )
        .order_by(HistoryEntry.number)
    ).all()
    return {row["settings_version"]: Measured(row["model"], row["examples"], row["results"]) for row in rows}


def require_measured(session: Session, service: ConnectedService, number: int) -> None:
    """Raise Invalid if this version must be measured before its scores count, and was not."""
    settings = ServiceSettings.from_json(reading.numbered(session, service, number).settings)
    if settings.must_be_measured and number not in by_version(session, service):
        raise Invalid.field(
            "version",
            _("%(version)s must be measured on your own examples before its scores count", version=number),
        )
