"""Fixtures for tests of the API: a client that checks every response, submissions, a counter of queries."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
import sqlalchemy as sa
from flask import Flask
from sqlalchemy import event
from werkzeug.test import TestResponse

from app.api.blueprints import PREFIX
from app.core.people import keys
from app.core.permissions import SYSTEM
from app.core.requests import submitting
from app.core.vocabulary import KeyTemplate
from app.wiring import Wiring
from tests.api.checker import CheckedClient
from tests.cast import Cast
from tests.inline_engine import InlineEngine

HARMLESS = "The harbour is quiet this morning"
INSULT = "You are an idiot and everybody here knows it"
SPAM = "Casino bonus! Buy 10,000 followers now, click here https://bit.ly/win limited offer"


@dataclass
class Api:
    """API client of one integration: adds the prefix and the key to every call, and checks every response."""

    client: CheckedClient
    headers: dict[str, str]
    prefix: str = PREFIX

    def call(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        instead: dict[str, str] | None = None,
        **options: Any,
    ) -> TestResponse:
        """Make a call. ``headers`` are added to the key's; ``instead`` replaces all. ``/api…`` paths get no prefix."""
        whole = path if path.startswith(("/api", "/webhooks", "http")) else self.prefix + path
        sent = dict(instead) if instead is not None else self.headers | (headers or {})
        return self.client.open(whole, method=method, headers=sent, **options)

    def with_key(
        self, wiring: Wiring, communities: Sequence[uuid.UUID] | None = None, **rights: bool
    ) -> "Api":
        """Return a client with a new adapter key of these communities, or of all."""
        with wiring.database.writing() as session:
            key = keys.mint(session, SYSTEM, "Another adapter", KeyTemplate.ADAPTER, communities, **rights)
        return Api(self.client, {"Authorization": f"Bearer {key.text}"})

    def get(self, path: str, **options: Any) -> TestResponse:
        return self.call("GET", path, **options)

    def post(self, path: str, **options: Any) -> TestResponse:
        return self.call("POST", path, **options)

    def put(self, path: str, **options: Any) -> TestResponse:
        return self.call("PUT", path, **options)

    def patch(self, path: str, **options: Any) -> TestResponse:
        return self.call("PATCH", path, **options)

    def delete(self, path: str, **options: Any) -> TestResponse:
        return self.call("DELETE", path, **options)

    def submit(self, request_id: str, content: str = HARMLESS, **attributes: Any) -> TestResponse:
        """Submit content to the integration's own community."""
        return self.post("/requests", json=submission(request_id, content, **attributes))


def submission(request_id: str, content: str = HARMLESS, **attributes: Any) -> dict[str, Any]:
    """Return the body of a submission."""
    given = {
        "request_id": request_id,
        "requested_by": "user-1",
        "community_server_id": "forum-1",
        "original_message_content": content,
        "platform_message_id": f"message-of-{request_id}"[:255],
    }
    return {"data": {"type": "requests", "attributes": given | attributes}}


def problem_of(answer: TestResponse) -> Any:
    """Return the first problem of a 422."""
    assert answer.status_code == 422, answer.text
    return answer.json["detail"][0]


def acting(user_id: str, **said: str) -> dict[str, str]:
    """Return the X-Adapter headers of a user on Discourse: ``acting("7", Moderator="true")``."""
    named = {f"X-Adapter-{name.replace('_', '-')}": value for name, value in said.items()}
    return {"X-Adapter-Platform": "discourse", "X-Adapter-User-Id": user_id} | named


@pytest.fixture
def api(app: Flask, cast: Cast) -> Api:
    """API client of the home community's integration."""
    app.test_client_class = CheckedClient
    client = app.test_client()
    assert isinstance(client, CheckedClient)
    return Api(client, cast.headers)


@pytest.fixture
def foreign_api(api: Api, cast: Cast) -> Api:
    """API client of the other community's integration."""
    return Api(api.client, cast.foreign_headers)


@pytest.fixture
def wide(api: Api, wiring: Wiring) -> Api:
    """API client of an integration that serves every community with one key."""
    return api.with_key(wiring)


@pytest.fixture
def fill(wiring: Wiring, cast: Cast) -> Callable[..., None]:
    """Create requests in the home community without scoring them: ``fill(100)``."""

    def put(count: int, prefix: str = "row", content: str = HARMLESS) -> None:
        with wiring.database.writing() as session:
            for number in range(count):
                submitted = submitting.Submission(f"{prefix}-{number}", f"user-{number % 3}", content)
                submitting.submit(session, SYSTEM, cast.community_id, submitted)
            session.info.pop("jobs", None)

    return put


@pytest.fixture
def decide(api: Api, jobs: InlineEngine) -> Callable[..., None]:
    """Submit spam, which Tier 1 decides at once: ``decide("a", "b")``."""

    def submit_and_score(*request_ids: str) -> None:
        for number, request_id in enumerate(request_ids):
            assert api.submit(request_id, f"{SPAM} {number}").status_code == 201
            jobs.run_all()

    return submit_and_score


@dataclass
class QueryCounter:
    """The executed statements, except those that begin and end transactions."""

    statements: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.statements)


@pytest.fixture
def counting(wiring: Wiring) -> Callable[[], Any]:
    """Counts queries: ``with counting() as queries: …`` then ``queries.count``."""

    @contextmanager
    def watch() -> Iterator[QueryCounter]:
        counter = QueryCounter()

        def note(_c: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
            if not statement.startswith(("BEGIN", "SAVEPOINT", "RELEASE", "PRAGMA")):
                counter.statements.append(statement)

        engine: sa.Engine = wiring.database.engine
        event.listen(engine, "before_cursor_execute", note)
        try:
            yield counter
        finally:
            event.remove(engine, "before_cursor_execute", note)

    return watch
