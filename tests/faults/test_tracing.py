"""Traces: one leads from a submission to its deliveries, through whichever process; and none holds a secret."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from app.application import create_app
from app.core import tracing as core_tracing
from app.process import tracing
from app.settings import Settings
from app.wiring import wire
from tests.factories import SPAM
from tests.faults.test_outages import Place
from tests.faults.waiting import eventually

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
"""The context of the integration's own trace (W3C Trace Context)."""


class Taker:
    """Takes what is posted to it: traces by OTLP, and webhooks."""

    def __init__(self) -> None:
        self.posted: list[tuple[str, dict[str, str], bytes]] = []
        taker = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                taker.posted.append((self.path, headers, body))
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def spans(self) -> list[Span]:
        found = []
        for path, headers, body in list(self.posted):
            if path == "/v1/traces":
                sent = gzip.decompress(body) if headers.get("content-encoding") == "gzip" else body
                for resource in ExportTraceServiceRequest.FromString(sent).resource_spans:
                    for scope in resource.scope_spans:
                        found += scope.spans
        return found

    def webhooks(self) -> list[dict[str, str]]:
        return [headers for path, headers, _ in list(self.posted) if path.startswith("/hook")]

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def taker() -> Iterator[Taker]:
    with closing(Taker()) as taker:
        yield taker


@pytest.mark.both_databases
def test_one_trace_leads_from_the_submission_to_the_delivery(
    database_url: str, tmp_path: Path, taker: Taker
) -> None:
    with closing(Place(database_url, tmp_path)) as place:
        place.service.environment = {
            "BRIDGENOTE_TRACING": "true",
            "OTEL_EXPORTER_OTLP_ENDPOINT": taker.url,
            "OTEL_BSP_SCHEDULE_DELAY": "200",
        }
        place.service.start()
        url = f"{taker.url}/hook?token=of-the-receiver"
        body = {"url": url, "secret": "a secret of mine", "platform_community_server_id": "sea"}
        assert place.ask("POST", "/webhooks/register", body)[0] == 201
        other = body | {"url": f"{taker.url}/hook-of-another"}
        assert place.ask("POST", "/webhooks/register", other)[0] == 201
        attributes = {
            "request_id": "post",
            "requested_by": "ann",
            "community_server_id": str(place.community_id),
            "original_message_content": SPAM,
        }
        sent = {"data": {"type": "requests", "attributes": attributes}}
        assert place.ask("POST", "/api/public/v1/requests", sent, {"traceparent": CALLER})[0] == 201
        eventually(lambda: len(taker.webhooks()) >= 4, "the decision and its action arrive at both")
        trace_id = CALLER.split("-")[1]

        def own() -> dict[str, Span]:
            return {span.name: span for span in taker.spans() if span.trace_id.hex() == trace_id}

        eventually(
            lambda: {"POST /api/public/v1/requests", "score", "deliver", "POST"} <= set(own()), "all spans"
        )
        assert any(name.startswith("INSERT") for name in own()), "statements are part of it"
        for headers in taker.webhooks():
            assert headers["traceparent"].split("-")[1] == trace_id, "the receiver can go on"
        everything = b"".join(span.SerializeToString() for span in taker.spans())
        assert b"of-the-receiver" not in everything
        assert SPAM.encode() not in everything
        assert place.key.encode() not in everything
        # Looking for what is due twice a second is no trace.
        roots = {span.name for span in taker.spans() if not span.parent_span_id}
        assert not {name for name in roots if name.split()[0] in {"SELECT", "UPDATE"}}


def test_a_span_has_the_route_and_neither_the_path_nor_the_query(tmp_path: Path) -> None:
    exporter = InMemorySpanExporter()
    wiring = wire(Settings(_env_file=None, environment="test", data_dir=tmp_path).ready())
    end = tracing.begin(wiring.database.engine, "1", exporter)
    try:
        app = create_app(wiring, "1")
        tracing.follow(app)
        app.test_client().get("/reset/a-token-of-hers?key=a-key-of-mine")
        app.test_client().get("/nowhere/a-token-of-hers")
        app.test_client().get("/healthz")
        with core_tracing.span("score", None, request_id="1"):
            inner = core_tracing.current()
    finally:
        end()
        wiring.database.dispose()
    assert core_tracing.current() is None
    spans = exporter.get_finished_spans()
    assert inner is not None
    assert {"GET /reset/<token>", "score"} <= {span.name for span in spans}
    assert not [span.name for span in spans if "healthz" in span.name]
    said = "".join(span.to_json() for span in spans)
    assert "of-hers" not in said
    assert "of-mine" not in said
