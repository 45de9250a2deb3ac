"""Figures for monitoring in Prometheus' text formats. Needs a Metrics key (docs/integrate/api.md).

Figures of posts and their decisions are read from the database, so a restart resets nothing, and every server answers
the same; totals are counted at most once a minute in each process. A key for some communities gets the figures of only
those.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

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
from app.process.observing import Answers, Installation
from app.wiring import wired

metrics = guarded("metrics", Scope.METRICS, enable_openapi=False)


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
        # These are of the whole service and of all callers, which a key of one community must not see.
        registry.register(Answers())
        registry.register(Installation(wiring))
    encode, content_type = choose_encoder(flask.request.headers.get("Accept", ""))
    return Response(encode(registry), content_type=content_type)


class Figures(Collector):
    """Current totals and recent durations as metric families."""

    def __init__(self, totals: monitoring.Totals, speed: monitoring.Figures) -> None:
        self._totals = totals
        self._speed = speed

    def collect(self) -> Iterator[GaugeMetricFamily]:
        now, speed = self._totals, self._speed
        yield GaugeMetricFamily(
            "bridgenote_oldest_due_delivery_age_seconds",
            "How long the oldest webhook delivery that could be sent has been waiting.",
            value=speed.oldest_due,
        )
        yield GaugeMetricFamily(
            "bridgenote_oldest_waiting_post_age_seconds",
            "How long the oldest post that is not scored yet has been waiting.",
            value=speed.oldest_waiting,
        )
        yield GaugeMetricFamily(
            "bridgenote_oldest_waiting_attachment_age_seconds",
            "How long the oldest attachment that could be fetched has been waiting.",
            value=speed.oldest_attachment,
        )
        yield GaugeMetricFamily(
            "bridgenote_failing_services",
            "Connected services of whose calls today more than half failed.",
            value=speed.failing_services,
        )
        yield _family(
            "decisions",
            "Decisions, by tier and by whether something is done.",
            ("tier", "kind"),
            now.decisions,
        )
        counts: tuple[tuple[str, str, str, Mapping[Any, int]], ...] = (
            ("requests", "Requests by status.", "status", now.requests),
            ("moderation_actions", "Moderation actions by state.", "state", now.actions),
            ("notes", "Notes by status.", "status", now.notes),
            ("deliveries", "Webhook deliveries by state.", "state", now.deliveries),
            ("review_queue_length", "Reviews that wait, by group.", "group", now.review_queue),
            ("attention", "Conditions that operators have a notice about.", "reason", speed.attention),
            (
                "delivery_attempts_recent",
                "Webhook attempts of the last 15 minutes, by outcome.",
                "outcome",
                speed.attempts,
            ),
        )
        for name, help_text, label, by_word in counts:
            yield _family(name, help_text, (label,), {(str(word),): count for word, count in by_word.items()})
        for name, help_text, spread in (
            ("scoring", "From submission to scores", speed.scoring),
            ("decision", "From submission to decision", speed.deciding),
            ("delivery_first_attempt", "From commit to the first webhook attempt", speed.first_attempt),
            ("delivery_answer", "A receiver's answer", speed.answer),
        ):
            quantiles = {(f"{share:g}",): seconds for share, seconds in spread.items()}
            yield _family(
                f"{name}_recent_seconds", f"{help_text}, in the last 15 minutes.", ("quantile",), quantiles
            )


def _family(
    name: str, help_text: str, labels: Sequence[str], values: Mapping[Any, float]
) -> GaugeMetricFamily:
    """Create a family; ``values`` are by the values of its labels, a tuple of texts."""
    family = GaugeMetricFamily(f"bridgenote_{name}", help_text, labels=labels)
    for words, value in values.items():
        family.add_metric(words, value)
    return family
