"""Switches traces on: OpenTelemetry's SDK, its exporter (OTLP over HTTP) and its instruments of our libraries.

They come with the extra ``otel``, so they are imported only where ``BRIDGENOTE_TRACING`` is set. Where traces are sent,
and what share of them, say OpenTelemetry's own variables (``OTEL_EXPORTER_OTLP_ENDPOINT``, ``OTEL_TRACES_SAMPLER``, …).
No span has a query string, a path with a token, the path of a webhook or a parameter of a statement.
"""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import flask
import sqlalchemy as sa

_LOCATIONS = ("http.url", "http.target", "url.full", "url.path", "url.query")
"""Attributes that can hold what opens an account, or a receiver's token."""
_UNTRACED = "healthz,readyz,metrics,static/.*"


def is_installed() -> bool:
    """Whether the extra ``otel`` is there."""
    names = ("sdk", "exporter", "instrumentation")
    return all(find_spec(f"opentelemetry.{name}") is not None for name in names)


def begin(engine: sa.Engine, version: str, exporter: Any = None) -> Callable[[], None]:
    """Record this process's statements and calls, and send them; returns what ends it, and sends the last.

    Call it after a fork. ``exporter``: another ``SpanExporter`` than that of OTLP.
    """
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.instrumentation.httpx import HTTPXClientInstrumentor
    from opentelemetry.instrumentation.sqlalchemy import SQLAlchemyInstrumentor
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    class OfTraces(BatchSpanProcessor):
        """Leaves out the statements by which an idle process looks whether anything is to be done."""

        def on_end(self, span: ReadableSpan) -> None:
            if span.parent is not None or span.kind is not trace.SpanKind.CLIENT:
                super().on_end(span)

    provider = TracerProvider(
        resource=Resource.create({"service.name": "bridgenote", "service.version": version})
    )
    provider.add_span_processor(OfTraces(exporter or OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    # Its list of versions ends before ours; tests hold it.
    SQLAlchemyInstrumentor().instrument(engine=engine, tracer_provider=provider, skip_dep_check=True)
    HTTPXClientInstrumentor().instrument(tracer_provider=provider, request_hook=_hide_address)

    def end() -> None:
        HTTPXClientInstrumentor().uninstrument()
        SQLAlchemyInstrumentor().uninstrument()
        provider.shutdown()

    return end


def follow(app: flask.Flask) -> None:
    """Record the requests of this application, each as a part of its caller's trace, or as a trace of its own."""
    from opentelemetry.instrumentation.flask import FlaskInstrumentor

    FlaskInstrumentor().instrument_app(app, excluded_urls=_UNTRACED, enable_commenter=False)  # type: ignore[no-untyped-call]
    # Not by its hook, after which it writes the path again.
    app.before_request(_hide_path)


def _hide_path() -> None:
    from opentelemetry import trace

    span, rule = trace.get_current_span(), flask.request.url_rule
    _overwrite(span, rule.rule if rule is not None else "…")
    if rule is None:
        span.update_name(f"{flask.request.method} …")


def _hide_address(span: Any, request: Any) -> None:
    _overwrite(span, f"{request.url.scheme}://{request.url.host}")


def _overwrite(span: Any, location: str) -> None:
    if span.is_recording():
        for name in _LOCATIONS:
            if name in span.attributes:
                span.set_attribute(name, location)
