"""Figures for a monitoring system, in Prometheus' text formats, behind a Metrics key (Contract: section 1, Templates).

Every figure is read from the database at the scrape, so it is the same whichever process answers, and a restart
resets none. A key that acts in some communities counts those alone.
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
from app.core import insights
from app.core.insights import Standing
from app.core.vocabulary import Scope
from app.wiring import wired

Word = TypeVar("Word", bound=StrEnum)

metrics = guarded("metrics", scope=Scope.METRICS, enable_openapi=False)


@metrics.get("/metrics")
def read_metrics() -> Response:
    """All figures, in the format that the caller prefers."""
    with wired().database.reading() as session:
        standing = insights.standing(session, auth.actor())
    registry = CollectorRegistry()
    registry.register(Figures(standing))
    encode, content_type = choose_encoder(flask.request.headers.get("Accept", ""))
    return Response(encode(registry), content_type=content_type)


class Figures(Collector):
    """A standing as metric families."""

    def __init__(self, standing: Standing) -> None:
        self._standing = standing

    def collect(self) -> Iterator[GaugeMetricFamily]:
        now = self._standing
        yield _by("bridgenote_requests", "Requests by status.", "status", now.requests)
        yield _by("bridgenote_moderation_actions", "Moderation actions by state.", "state", now.actions)
        yield _by("bridgenote_notes", "Notes by status.", "status", now.notes)
        yield _by("bridgenote_deliveries", "Webhook deliveries by state.", "state", now.deliveries)
        yield _by("bridgenote_review_queue_length", "Reviews that wait, by group.", "group", now.review_queue)
        yield GaugeMetricFamily(
            "bridgenote_oldest_due_delivery_age_seconds",
            "How long the oldest webhook delivery that could be sent has been waiting.",
            value=now.oldest_due,
        )


def _by(name: str, help_text: str, label: str, counts: Mapping[Word, int]) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, help_text, labels=[label])
    for word, count in counts.items():
        family.add_metric([word.value], count)
    return family
