"""The SCIM server as a client for conformance finds it: ``scim2-tester`` over HTTP."""

import threading
from collections.abc import Iterator

import httpx2
import pytest
from flask import Flask
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server
from werkzeug.serving import make_server

from app.wiring import Wiring
from tests.api.scim import add_provider
from tests.cast import Cast


@pytest.fixture
def url(app: Flask) -> Iterator[str]:
    """The service on a port of its own."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()


def test_every_check_of_the_tester_passes(url: str, app: Flask, wiring: Wiring, cast: Cast) -> None:
    scim = add_provider(app, wiring)
    headers = {"Authorization": f"Bearer {scim.key}"}
    with httpx2.Client(base_url=f"{url}/scim/v2", headers=headers) as http:
        results = check_server(SyncSCIMClient(http))
    failed = [
        f"{result.resource_type} {result.title}: {result.status.name} {result.reason} {result.data}"
        for result in results
        if result.status not in (Status.SUCCESS, Status.COMPLIANT, Status.ACCEPTABLE, Status.SKIPPED)
    ]
    assert failed == []
    passed = {result.title for result in results if result.status is Status.SUCCESS}
    assert {"object_creation", "object_replacement", "object_deletion", "check_add_attribute"} <= passed
