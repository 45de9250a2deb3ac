"""Figures for monitoring in Prometheus' text formats. Needs a Metrics key (docs/integrate/api.md).

All figures are read from the database, so a restart resets nothing; totals are counted at most once a minute in each
process. A key for some communities gets the figures of only those.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import TypeVar

import flask
from flask import Response
from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from app.api import auth
from app.api.blueprints import guarded
from app.core.insights import monitoring
from app.core.vocabulary import Scope
from app.process.observing import Answers
from app.wiring import wired

Word = TypeVar("Word", bound=StrEnum)

metrics = guarded("metrics", scope=Scope.METRICS, enable_openapi=False)


@metrics.get("/metrics")
def read_metrics() -> Response:
    """Return all figures, in the format that the Accept header prefers."""
    actor = auth.actor()
    wiring = wired()
    with wiring.database.reading() as session:
        totals, speed = wiring.last_totals.read(session, actor), monitoring.read(session, actor)
    registry = CollectorRegistry()
    registry.register(Figures(totals, speed))
    if actor.communities is None:
        # These count the HTTP requests of all callers, which a key of one community must not see.
        registry.register(Answers())
    encode, content_type = choose_encoder(flask.request.headers.get("Accept", ""))
    return Response(encode(registry), content_type=content_type)


class Figures(Collector):
    """Current totals and recent durations as metric families."""

    def __init__(self, totals: monitoring.Totals, speed: monitoring.Figures) -> None:
        self._totals = totals
        self._speed = speed

    def collect(self) -> Iterator[GaugeMetricFamily]:
        now = self._totals
        yield _family("bridgenote_requests", "Requests by status.", "status", now.requests)
        yield _family("bridgenote_moderation_actions", "Moderation actions by state.", "state", now.actions)
        yield _family("bridgenote_notes", "Notes by status.", "status", now.notes)
        yield _family("bridgenote_deliveries", "Webhook deliveries by state.", "state", now.deliveries)
        yield _family(
            "bridgenote_review_queue_length", "Reviews that wait, by group.", "group", now.review_queue
        )
        yield GaugeMetricFamily(
            "bridgenote_oldest_due_delivery_age_seconds",
            "How long the oldest webhook delivery that could be sent has been waiting.",
            value=self._speed.oldest_due,
        )
        yield from self._collect_speed()

    def _collect_speed(self) -> Iterator[GaugeMetricFamily]:
        speed = self._speed
        decisions = GaugeMetricFamily(
            "bridgenote_decisions",
            "Decisions, by tier and by whether something is done.",
            labels=["tier", "kind"],
        )
        for labels, count in self._totals.decisions.items():
            decisions.add_metric(labels, count)
        yield decisions
        attempts = GaugeMetricFamily(
            "bridgenote_delivery_attempts_recent",
            "Webhook attempts of the last 15 minutes, by outcome.",
            labels=["outcome"],
        )
        for outcome, count in speed.attempts.items():
            attempts.add_metric([outcome], count)
        yield attempts
        for name, help_text, spread in (
            ("scoring", "From submission to scores", speed.scoring),
            ("decision", "From submission to decision", speed.deciding),
            ("delivery_first_attempt", "From commit to the first webhook attempt", speed.first_attempt),
            ("delivery_answer", "A receiver's answer", speed.answer),
        ):
            family = GaugeMetricFamily(
                f"bridgenote_{name}_recent_seconds",
                f"{help_text}, in the last 15 minutes.",
                labels=["quantile"],
            )
            for share, seconds in spread.items():
                family.add_metric([f"{share:g}"], seconds)
            yield family


def _family(name: str, help_text: str, label: str, counts: Mapping[Word, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, help_text, labels=[label])
    for word, count in counts.items():
        family.add_metric([word.value], count)
    return family
