"""Reads connected services and their versions, and measures them.

Measured is how good a service is on an operator's own examples: texts, each with the categories that apply to it. The
result is kept in the history, without the texts. A model that runs in this process counts only after it.
"""

import json
import time
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.orm import Session

from app.core import limits
from app.core.classify import Classifier, Context, Permanent, Retryable
from app.core.classify.language import language_of
from app.core.db import serialise
from app.core.errors import Conflict, Invalid, NotFound
from app.core.history import chain as history
from app.core.history.settings import last_changed_by
from app.core.history.why import Why
from app.core.models import Account, ConnectedService, HistoryEntry, ServiceVersion
from app.core.permissions import Actor, Permission, require
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ServiceMode

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
        raise Invalid.field("examples", f"must be at most {FILE_MAX // 1024:,} KB")
    lines = content.decode("utf-8-sig", "replace").split("\n")
    examples = [_example(line, number) for number, line in enumerate(lines, start=1) if line.strip()]
    least, most = EXAMPLES
    if not least <= len(examples) <= most:
        raise Invalid.field("examples", f"must be {least} to {most} texts")
    return examples


def _example(line: str, number: int) -> Example:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise Invalid.field("examples", f"must have JSON in line {number}") from None
    text, names = (found.get("text"), found.get("categories")) if isinstance(found, dict) else (None, None)
    if not isinstance(text, str) or not 1 <= len(text) <= limits.CONTENT_MAX:
        raise Invalid.field(
            "examples", f"must have a text of 1 to {limits.CONTENT_MAX:,} characters in line {number}"
        )
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Invalid.field("examples", f"must have a list of categories in line {number}")
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
            raise Invalid.field("examples", f"could not all be scored: {result.error.reason}")
        if time.monotonic() > end:
            raise Invalid.field(
                "examples", f"took too long: {len(scored):,} of {len(examples):,} in {seconds:g} seconds"
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
        raise Invalid.field("examples", "must have texts with and without a category that it scores")
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
    service = locked(session, actor, service_id, None)
    limits.text(reason, "reason", limits.REASON_MAX)
    numbered(session, service, number)
    after = {"name": service.name, "settings_version": number, "model": measured.model}
    after |= {"examples": measured.examples, "results": dict(measured.results)}
    history.record(
        session, actor, service.community_id, MEASURED, "service", service.id, after=after, why=Why(reason)
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
    settings = ServiceSettings.from_json(numbered(session, service, number).settings)
    if settings.must_be_measured and number not in by_version(session, service):
        raise Invalid.field(
            "version", f"{number} must be measured on your own examples before its scores count"
        )


MODE_EVENTS = {
    ServiceMode.OBSERVE: "service.observed",
    ServiceMode.IN_FORCE: "service.counted",
    ServiceMode.OFF: "service.switched_off",
}
"""What history calls each change of a service's mode."""


_EVENTS = (
    "service.added",
    "service.changed",
    "service.version_put_in_force",
    "service.key_replaced",
    *MODE_EVENTS.values(),
)


def find(session: Session, actor: Actor, service_id: uuid.UUID) -> ConnectedService:
    """A service that is not removed. Raises NotFound: unknown, removed or in another community."""
    service = session.get(ConnectedService, service_id, populate_existing=True)
    if service is None or service.removed_at is not None:
        raise NotFound("service")
    require(actor, Permission.REVISE_POLICY, service.community_id, "service")
    return service


def in_community(session: Session, actor: Actor, community_id: uuid.UUID) -> Sequence[ConnectedService]:
    """The community's services that are not removed, by name."""
    require(actor, Permission.REVISE_POLICY, community_id)
    return session.scalars(
        sa.select(ConnectedService)
        .where(ConnectedService.community_id == community_id, ConnectedService.removed_at.is_(None))
        .order_by(ConnectedService.name)
    ).all()


def versions(
    session: Session, service: ConnectedService, most: int = 20
) -> Sequence[tuple[ServiceVersion, str]]:
    """The newest versions, newest first, each with the name of who made it, "Bridgenote" without an account."""
    rows = session.execute(
        sa.select(ServiceVersion, Account.display_name)
        .outerjoin(Account, Account.id == ServiceVersion.made_by_id)
        .where(ServiceVersion.service_id == service.id)
        .order_by(ServiceVersion.version.desc())
        .limit(most)
    )
    return [(version, name or "Bridgenote") for version, name in rows]


def newest(session: Session, service: ConnectedService) -> ServiceVersion:
    """The newest version, in use or waiting."""
    return session.scalars(
        sa.select(ServiceVersion)
        .where(ServiceVersion.service_id == service.id)
        .order_by(ServiceVersion.version.desc())
        .limit(1)
    ).one()


def numbered(session: Session, service: ConnectedService, number: int) -> ServiceVersion:
    """One version. Raises NotFound."""
    version = session.scalars(
        sa.select(ServiceVersion).where(
            ServiceVersion.service_id == service.id, ServiceVersion.version == number
        )
    ).first()
    if version is None:
        raise NotFound("version")
    return version


def locked(session: Session, actor: Actor, service_id: uuid.UUID, etag: int | None) -> ConnectedService:
    """Lock the community and return the service, to change it.

    Raises:
        NotFound: as ``find``.
        Conflict: ``etag`` is no longer the service's.
    """
    service = find(session, actor, service_id)
    serialise(session, service.community_id)
    session.refresh(service)
    if service.removed_at is not None:
        raise NotFound("service")
    if etag is not None and etag != service.etag:
        who = last_changed_by(session, "service", service.id, *_EVENTS)
        raise Conflict(f"This service was changed in the meantime{who}", service.id)
    return service
