"""All that scores a community's posts, as rows: built-ins, rules and connected services, with their figures."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.core.classify import Classifier
from app.core.models import ConnectedService
from app.core.permissions import Actor
from app.core.review.conditions import fails_mostly
from app.core.services import calls, figures, reading
from app.core.services.calls import Period
from app.core.services.figures import Record
from app.core.services.pool import in_use
from app.core.services.settings import ServiceSettings
from app.core.vocabulary import ServiceMode
from app.web.categories import category_name
from app.web.services.service_page import MONTH, name_of
from app.web.services.service_words import words_of
from app.wiring import wired

BUILT_IN = "this service"


@dataclass(frozen=True)
class ScorerRow:
    """One scorer. ``service_id`` leads to a connected service's page, None for what runs in this service.

    ``p50`` and ``p95`` are milliseconds as text. ``upheld`` says how many of the decided actions it led to people
    upheld, empty when none was decided. ``about`` names the kind of service, or where it runs.
    """

    name: str
    version: str
    model: str
    about: str
    state: str
    categories: Sequence[str]
    p50: str
    p95: str
    calls: str
    errors: str
    cost: str
    upheld: str
    service_id: uuid.UUID | None = None
    is_failing: bool = False


def scorer_rows(
    session: Session, actor: Actor, community_id: uuid.UUID, in_force: Sequence[Classifier]
) -> list[ScorerRow]:
    """The rows: first what runs in this service, then the connected services, also those that do not count."""
    records = figures.records(session, actor, community_id)
    rows = [
        _built_in(classifier, records.get(classifier.name, Record()))
        for classifier in in_force
        if classifier.local
    ]
    services = {service.id: service for service in reading.in_community(session, actor, community_id)}
    settings = {
        service.id: ServiceSettings.from_json(version.settings)
        for service, version in in_use(session, community_id)
    }
    periods = calls.period(session, list(services), MONTH)
    return rows + [
        _service(service, settings[service_id], periods[service_id], records)
        for service_id, service in services.items()
    ]


def _built_in(classifier: Classifier, record: Record) -> ScorerRow:
    return ScorerRow(
        name=classifier.name,
        version=classifier.version,
        model="",
        about=BUILT_IN,
        state=words_of(None).tags[ServiceMode.IN_FORCE],
        categories=_names(classifier.categories),
        p50=_ms(record.p50),
        p95=_ms(record.p95),
        calls="",
        errors="",
        cost="",
        upheld=upheld_words(record),
    )


def _service(
    service: ConnectedService, settings: ServiceSettings, period: Period, records: Mapping[str, Record]
) -> ScorerRow:
    kind = wired().services.kinds.get(service.kind)
    return ScorerRow(
        name=name_of(service),
        version=str(service.version),
        model=service.model_seen or settings.model,
        about=kind.title if kind is not None else f"{service.kind}, not installed",
        state=words_of(kind).tags[service.mode],
        categories=["finds fact-checks"] if kind is not None and kind.embeds else _names(settings.routed),
        p50=_ms(period.p50),
        p95=_ms(period.p95),
        calls=f"{period.requests:,}",
        errors=f"{period.errors:,}",
        cost=f"{period.cost:,.2f}" if period.cost else "",
        upheld=upheld_words(records.get(name_of(service), Record())),
        service_id=service.id,
        is_failing=service.mode is not ServiceMode.OFF and fails_mostly(period),
    )


def upheld_words(record: Record) -> str:
    """How many of the decided actions people upheld, "8 of 10"; empty when none was decided."""
    return f"{record.upheld:,} of {record.decided:,}" if record.decided else ""


def _names(categories: frozenset[str]) -> list[str]:
    return [category_name(name) for name in sorted(categories)]


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}"
