"""Traces of OpenTelemetry: what happens to a post is one trace, from its submission to its deliveries.

Only the interface of OpenTelemetry is used here; it records nothing until ``app.process.tracing`` switches it on. A
request keeps the context of its submission (W3C Trace Context, ``traceparent``), in which it is scored and its events
are delivered, by whichever process.
"""

from contextlib import AbstractContextManager

from opentelemetry import trace
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

_tracer = trace.get_tracer("bridgenote")
_propagator = TraceContextTextMapPropagator()


def current() -> str | None:
    """The ``traceparent`` of what is being recorded now; None while nothing is."""
    if not trace.get_current_span().is_recording():
        return None
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier.get("traceparent")


def span(name: str, traceparent: str | None, **attributes: str) -> AbstractContextManager[trace.Span]:
    """Record what happens within it, as a part of the trace that ``traceparent`` names, else as a trace of its own."""
    context = _propagator.extract({"traceparent": traceparent}) if traceparent else None
    return _tracer.start_as_current_span(
        name, context=context, attributes={f"bridgenote.{key}": value for key, value in attributes.items()}
    )
