"""A stub service, connections to it, and the home community with services that reach it."""

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import sqlalchemy as sa

from app.adapters.services.kinds import SHIPPED
from app.core.models import Request
from app.core.outbound import AllowList
from app.core.permissions import SYSTEM
from app.core.services import services
from app.core.services.kinds import Adapter, Connection
from app.core.services.services import Registry
from app.core.services.settings import ServiceSettings
from app.core.thresholds import threshold_sets
from app.core.vocabulary import RequestStatus, ServiceMode
from app.wiring import Wiring
from tests.cast import Cast
from tests.factories import submit
from tests.inline_engine import InlineEngine
from tests.stub_services import WORD, Stub, serving

CATEGORIES = {"toxicity": "toxicity", "sarcasm": None}
QUIET = f"A post about a {WORD}"
KINDS = {kind.name: kind for kind in SHIPPED}
PATHS = {
    "openai_moderation": "/v1",
    "azure_content_safety": "",
    "perspective": "/v1alpha1",
    "chat_guard": "/v1",
    "http": "/score",
}
Connect = Callable[..., Adapter]


@pytest.fixture
def stub() -> Iterator[Stub]:
    with serving() as started:
        yield started


@pytest.fixture
def connect(stub: Stub) -> Connect:
    """``connect(kind, **options)``: an adapter that reaches the stub."""

    def connected(kind: str, deadline: float = 5.0, **options: str) -> Adapter:
        given: dict[str, Any] = {
            "url": stub.url(PATHS[kind]),
            "model": "model-1",
            "key": "sk-secret",
            "options": options,
            "categories": tuple(KINDS[kind].category_map(options)),
            "deadline": deadline,
            "allow": AllowList.parse("127.0.0.1"),
        }
        return KINDS[kind].connect(Connection(**given))

    return connected


@dataclass
class Stage:
    """The home community with services that reach the stub."""

    wiring: Wiring
    jobs: InlineEngine
    cast: Cast
    stub: Stub

    def add(self, name: str = "own", mode: ServiceMode = ServiceMode.IN_FORCE, **settings: Any) -> uuid.UUID:
        given = {"url": self.stub.url("/score"), "categories": CATEGORIES, "deadline": 1.0} | settings
        registry = Registry(self.wiring.services.kinds, self.wiring.sealer, self.wiring.services.allow)
        with self.wiring.database.writing() as session:
            service = services.add(
                session,
                SYSTEM,
                self.cast.community_id,
                registry,
                "http",
                name,
                ServiceSettings(**given),
                "Try it",
                consent=True,
            )
            if mode is not ServiceMode.OBSERVE:
                services.set_mode(session, SYSTEM, service.id, mode, "It agrees")
            return service.id

    def require(self, on_error: str | None, name: str = "own") -> None:
        with self.wiring.database.writing() as session:
            threshold_sets.require_classifier(
                session, SYSTEM, self.cast.community_id, f"service.{name}", {"toxicity": on_error}, "Needed"
            )

    def submit(self, text: str = QUIET, number: int = 1) -> uuid.UUID:
        return submit(self.wiring, self.cast, text, f"post-{number}")

    def score(self, text: str = QUIET, number: int = 1) -> uuid.UUID:
        request_id = self.submit(text, number)
        self.jobs.run_all()
        return request_id

    def rows(self, kind: Any) -> list[Any]:
        with self.wiring.database.reading() as session:
            return list(session.scalars(sa.select(kind)))

    def status(self, request_id: uuid.UUID) -> RequestStatus:
        with self.wiring.database.reading() as session:
            return session.get_one(Request, request_id).status


@pytest.fixture
def stage(wiring: Wiring, jobs: InlineEngine, cast: Cast) -> Iterator[Stage]:
    wiring.services.allow = AllowList.parse("127.0.0.1")
    # Otherwise a failing service would be waited for between its attempts.
    with pytest.MonkeyPatch.context() as patch, serving() as stub:
        patch.setattr("app.core.services.calls.FIRST_DELAY", 0.01)
        yield Stage(wiring, jobs, cast, stub)
